// What an InputSplit's URI says, and which files that names (docs/input_split.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuelrail/storage/file_system.h"

namespace fuelrail {

// list [? key=value & key=value] [# cache]
struct SplitUri {
  std::vector<std::string> items;                              // of the list, in order
  std::vector<std::pair<std::string, std::string>> arguments;  // for parsers of data; not used here
  std::string cache;                                           // empty = none
};

// Errors: InvalidArgumentError for a second '#' or '?', an empty item (one ';' at the end is none),
// an argument without '=', an empty cache name.
SplitUri parse_split_uri(const std::string& uri);

// The files with something in them, in the list's order. An item is a file; a directory, for its
// files, sorted by name; or a path whose last component is a regular expression (ECMAScript) for
// names of files in its directory. fuelrail's own files beside data (.frx, .partial) are none of a
// directory's. Errors: NotFoundError for an item that names nothing, and where no file has anything
// in it; InvalidArgumentError for a pattern that is none and for directories nested too deep or too
// many; UnsupportedError for stdin and file systems that fuelrail does not read; IoError.
std::vector<FileInfo> find_split_files(const SplitUri& uri, bool recurse_directories);

// Whether find_split_files would find a file of this name that is not there yet, in a directory or
// by a pattern. Links are followed. Requires: find_split_files took `uri`. Errors: IoError.
bool would_find_split_file(const SplitUri& uri, bool recurse_directories, const std::string& file);

}  // namespace fuelrail
