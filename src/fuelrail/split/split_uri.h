// Parses the URI of an InputSplit and finds the files that it names (docs/input_split.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuelrail/storage/file_system.h"

namespace fuelrail::split {

// The parts of a URI: list [? key=value & key=value] [# cache]
struct SplitUri {
  std::vector<std::string> items;                              // the list's items, in order
  std::vector<std::pair<std::string, std::string>> arguments;  // for data parsers; not used here
  std::string cache;                                           // empty = none
};

// Errors: InvalidArgumentError for a second '#' or '?', an empty item (one ';' at the end is
// allowed), an argument that is not key=value, and an empty cache name.
SplitUri parse_split_uri(const std::string& uri);

// A place that is searched for files.
struct SplitPlace {
  FileInfo where;       // a directory, or the file that an item names
  std::string pattern;  // for file names in the directory; empty = all except fuelrail's own files
};

// The files of a list, and the places that were searched.
struct SplitListing {
  std::vector<FileInfo> files;     // files that are not empty, in the list's order
  std::vector<SplitPlace> places;  // one per item, and one per subdirectory that is searched
};

// Finds the files that `uri` names. An item is a file; or a directory, which means its files sorted
// by name; or a path whose last component is an ECMAScript regular expression for the names of
// files in its directory. In a directory, fuelrail's own files (.frx, .partial) are skipped.
// Errors: NotFoundError for an item that names no file, and if all files are empty;
// InvalidArgumentError for an invalid pattern, and for directories that are too many or nested too
// deeply; UnsupportedError for stdin and file systems that fuelrail cannot read; IoError.
SplitListing find_split_files(const SplitUri& uri, bool recurse_directories);

// Whether a search of `places` would find `file` once it is written. Files are compared by
// `identity_of`, so a path through a link and a path with file:// are recognised too. Errors:
// FileSystem::stat's.
bool would_find_split_file(const std::vector<SplitPlace>& places, const std::string& file);

}  // namespace fuelrail::split
