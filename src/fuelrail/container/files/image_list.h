// A list of images as text (`.lst`): one a line, id TAB label [TAB label ...] TAB path. Spaces
// around a column and a carriage return at the line's end do not count, nor does a byte order mark
// at the file's beginning; empty lines are passed over. A path may hold spaces; one that is neither
// absolute nor a URI is relative to a root folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/error.h"

namespace fuelrail {

// A line of a list as it stands there. Lifetime: `path` views the list's text.
struct ListedLine {
  uint64_t id = 0;
  uint64_t line = 0;          // of the list, counted from 1
  std::vector<float> labels;  // at least one
  std::string_view path;      // as it is written
};

// The lines of a list, closely packed: their paths, their labels, and 32 bytes each.
class ImageList {
 public:
  // Takes memory for all lines of a text at once: what grows is there twice while it does.
  void reserve(std::string_view text);
  void add(const ListedLine& line);

  uint64_t size() const { return ids_.size(); }
  uint64_t id(uint64_t i) const { return ids_[i]; }
  uint64_t line(uint64_t i) const { return lines_[i]; }
  std::string_view path(uint64_t i) const;  // as it is written
  std::span<const float> labels(uint64_t i) const;

 private:
  std::vector<uint64_t> ids_;
  std::vector<uint64_t> lines_;
  std::string paths_;  // one after the other
  std::vector<uint64_t> path_ends_;
  std::vector<float> labels_;  // one after the other
  std::vector<uint64_t> label_ends_;
};

// Which lines of a list will do.
struct ListRules {
  std::optional<uint64_t> label_width{};  // every line must have so many labels
  // Asked of each line that cannot be used; true passes over it. Default: it is thrown.
  std::function<bool(const CorruptError&)> leave_out{};
};

// The images of a list's text, one by one. Lifetime: the text's.
class ImageListReader {
 public:
  // `uri` names the list in errors.
  ImageListReader(std::string_view text, std::string uri);

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

// The whole text of a list, without a byte order mark. Errors: NotFoundError, IoError.
std::string read_list_text(const std::string& uri);

// `uri` names the list in errors. Errors: CorruptError with the line's number for a line of fewer
// than three columns, an id that is no whole number, a label that is no finite number, a whole
// label that float32, which RecordIO stores, would change, and for what `rules` refuses.
ImageList parse_image_list(std::string_view text, const std::string& uri,
                           const ListRules& rules = {});

// What to tell the user when ids are there more than once: how many, and the first line. An id is
// the key of its record in the `.idx`, where the last record of a key is the one that readers find.
// Returns: empty when every id is there once.
std::string repeated_ids(const ImageList& images);

// Reads and parses a whole list. Errors: NotFoundError, IoError; those of parse_image_list.
ImageList read_image_list(const std::string& uri, const ListRules& rules = {});

}  // namespace fuelrail
