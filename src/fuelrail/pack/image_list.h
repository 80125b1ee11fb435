// A list of images as text (`.lst`): one a line, id TAB label [TAB label ...] TAB path. Spaces
// around a column and a carriage return at the line's end do not count; empty lines are passed
// over. A path may hold spaces; one that is neither absolute nor a URI is relative to a root
// folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuelrail {

struct ListedImage {
  uint64_t id = 0;
  uint64_t line = 0;          // of the list, counted from 1
  std::vector<float> labels;  // at least one
  std::string path;           // with the root in front
};

// `uri` names the list in errors. Errors: CorruptError with the line's number for a line of fewer
// than three columns, an id that is no whole number, a label that is no finite number, and a whole
// label that float32, which RecordIO stores, would change.
std::vector<ListedImage> parse_image_list(std::string_view text, const std::string& uri,
                                          const std::string& root);

// What to tell the user when ids are there more than once: how many, and the first line. An id is
// the key of its record in the `.idx`, where the last record of a key is the one that readers find.
// Returns: empty when every id is there once.
std::string repeated_ids(const std::vector<ListedImage>& images);

// Reads and parses a whole list. Its root is `root`, or, when that is empty, the list's own folder.
// Errors: NotFoundError, IoError; those of parse_image_list.
std::vector<ListedImage> read_image_list(const std::string& uri, const std::string& root);

}  // namespace fuelrail
