// A list of images as text (`.lst`): one a line, id TAB label [TAB label ...] TAB path. Spaces
// around a column and a carriage return at the line's end do not count; empty lines are passed
// over. A path may hold spaces; one that is neither absolute nor a URI is relative to a root
// folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"

namespace fuelrail {

struct ListedImage {
  uint64_t id = 0;
  uint64_t line = 0;          // of the list, counted from 1
  std::vector<float> labels;  // at least one
  std::string path;           // with the root in front
};

// A line of a list as it stands there. Lifetime: `path` views the list's text.
struct ListedLine {
  uint64_t id = 0;
  uint64_t line = 0;
  std::vector<float> labels;
  std::string_view path;  // as it is written
};

// The images of a list's text, one by one. Lifetime: the text's.
class ImageListReader {
 public:
  // `uri` names the list in errors.
  ImageListReader(std::string_view text, std::string uri) : rest_(text), uri_(std::move(uri)) {}

  // Returns: false at the end. `out` is reused from line to line. Errors: those of
  // parse_image_list.
  bool next(ListedLine& out);

 private:
  std::string_view rest_;
  std::string uri_;
  uint64_t line_ = 0;
};

// A path of a list, with the root in front unless it is absolute or a URI.
std::string listed_uri(std::string_view path, const std::string& root);

// `root`, or, when that is empty, the list's own folder.
std::string root_of_list(const std::string& uri, const std::string& root);

// The whole text of a list. Errors: NotFoundError, IoError.
std::string read_list_text(const std::string& uri);

// `uri` names the list in errors. Errors: CorruptError with the line's number for a line of fewer
// than three columns, an id that is no whole number, a label that is no finite number, and a whole
// label that float32, which RecordIO stores, would change; where `leave_out` is given and true for
// the error, the line is passed over instead.
std::vector<ListedImage> parse_image_list(
    std::string_view text, const std::string& uri, const std::string& root,
    const std::function<bool(const CorruptError&)>& leave_out = {});

// What to tell the user when ids are there more than once: how many, and the first line. An id is
// the key of its record in the `.idx`, where the last record of a key is the one that readers find.
// Returns: empty when every id is there once.
std::string repeated_ids(const std::vector<ListedImage>& images);

// Reads and parses a whole list, with its root_of_list.
// Errors: NotFoundError, IoError; those of parse_image_list.
std::vector<ListedImage> read_image_list(
    const std::string& uri, const std::string& root,
    const std::function<bool(const CorruptError&)>& leave_out = {});

}  // namespace fuelrail
