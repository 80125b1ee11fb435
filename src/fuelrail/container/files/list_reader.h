// Reads the lines of a list of images one by one. The formats:
//   .lst        id TAB label [TAB label ...] TAB path
//   .csv, .tsv  a first row that names the columns `path` and `label`, then one row per image
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

// One line of a list. Lifetime: the views are valid until the next line is read.
struct ListedLine {
  uint64_t id = 0;                       // of a `.csv` or a `.tsv`: the row's number, from 0
  uint64_t line = 0;                     // of the list, counted from 1
  std::vector<std::string_view> labels;  // at least one, and none is empty
  std::string_view path;                 // as written in the list
};

class ListReader {
 public:
  virtual ~ListReader() = default;
  ListReader& operator=(ListReader&&) = delete;

  // Returns: false at the end. `out` is reused from line to line. Errors: CorruptError, with the
  // line number, for a line that cannot be read; the next call continues after that line.
  virtual bool next(ListedLine& out) = 0;
};

// Creates a reader of `text`, the content of the list `uri`. The extension of `uri`, in upper or
// lower case, selects the format: `.csv` or `.tsv`; any other name selects the format of `.lst`.
// `warn` is called for unused columns. Lifetime: the text outlives the reader. Errors: CorruptError
// for a first row that does not name the columns.
std::unique_ptr<ListReader> make_list_reader(std::string_view text, const std::string& uri,
                                             const Warn& warn = {});

// Whether a file's name has the extension of a list of images.
bool is_list_name(std::string_view name);

// Throws a CorruptError for a line of the list `uri`.
[[noreturn]] void refuse_line(const std::string& uri, uint64_t line, const std::string& failure,
                              ErrorDetail detail = {});

}  // namespace fuelrail
