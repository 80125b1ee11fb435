// The lines of a list of images, one by one, as each of its formats has them:
//   .lst        id TAB label [TAB label ...] TAB path
//   .csv, .tsv  a first row that names the columns `path` and `label`, then a row an image
// docs/formats/image_list.md has the rules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/listener.h"

namespace fuelrail {

// A line of a list as it stands there. Lifetime: the views live until the next line is read.
struct ListedLine {
  uint64_t id = 0;                       // of a `.csv` or a `.tsv`: the row's number, from 0
  uint64_t line = 0;                     // of the list, counted from 1
  std::vector<std::string_view> labels;  // at least one, and none is empty
  std::string_view path;                 // as it is written
};

class ListReader {
 public:
  virtual ~ListReader() = default;
  ListReader& operator=(ListReader&&) = delete;

  // Returns: false at the end. `out` is reused from line to line. Errors: CorruptError with the
  // line's number for a line that cannot be read; the next call begins behind it.
  virtual bool next(ListedLine& out) = 0;
};

// The format is that of the name's extension, in either case; any but `.csv` and `.tsv` is
// `.lst`'s. `uri` names the list in errors. `warn` hears of columns that are not used. Lifetime:
// the text's. Errors: CorruptError for a first row that does not name the columns.
std::unique_ptr<ListReader> make_list_reader(std::string_view text, const std::string& uri,
                                             const Warn& warn = {});

// Whether the name of a file ends as those of lists of images do.
bool is_list_name(std::string_view name);

// Throws a CorruptError of a line of the list `uri`.
[[noreturn]] void refuse_line(const std::string& uri, uint64_t line, const std::string& failure,
                              ErrorDetail detail = {});

}  // namespace fuelrail
