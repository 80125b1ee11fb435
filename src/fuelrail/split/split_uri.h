// What an InputSplit's URI says, and which files that names (docs/input_split.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuelrail/storage/file_system.h"

namespace fuelrail::split {

// list [? key=value & key=value] [# cache]
struct SplitUri {
  std::vector<std::string> items;                              // of the list, in order
  std::vector<std::pair<std::string, std::string>> arguments;  // for parsers of data; not used here
  std::string cache;                                           // empty = none
};

// Errors: InvalidArgumentError for a second '#' or '?', an empty item (one ';' at the end is none),
// an argument without '=', an empty cache name.
SplitUri parse_split_uri(const std::string& uri);

// Where files of a list are looked for.
struct SplitPlace {
  FileInfo where;       // a directory, or the file that an item names
  std::string pattern;  // for names in the directory; empty = all but fuelrail's own
};

// What a list names.
struct SplitListing {
  std::vector<FileInfo> files;     // with something in them, in the list's order
  std::vector<SplitPlace> places;  // of each item, and each directory below that is read
};

// An item is a file; a directory, for its files, sorted by name; or a path whose last component is
// a regular expression (ECMAScript) for names of files in its directory. fuelrail's own files
// beside data (.frx, .partial) are none of a directory's. Errors: NotFoundError for an item that
// names nothing, and where no file has anything in it; InvalidArgumentError for a pattern that is
// none and for directories nested too deep or too many; UnsupportedError for stdin and file systems
// that fuelrail does not read; IoError.
SplitListing find_split_files(const SplitUri& uri, bool recurse_directories);

// Whether `file`, once it is written, would be found at one of the places. Names are told apart by
// `identity_of`: links to a directory, and file://, change nothing. Errors: FileSystem::stat's.
bool would_find_split_file(const std::vector<SplitPlace>& places, const std::string& file);

}  // namespace fuelrail::split
