// What a file's records are as a whole: for `info`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail::cli {

struct RecordSizes {  // in bytes, framing included
  uint64_t smallest = 0;
  uint64_t mean = 0;
  uint64_t largest = 0;
};

// Of all records. Errors: those of Container::extent; Interrupted.
RecordSizes sizes_of(const Container& container);

struct ContentKind {
  bool opaque = false;          // records are bytes, of which fuelrail knows no more
  std::string reader{};         // the Python class for all of its files, where there is one
  std::string schema{};         // by which packed folders are images
  uint64_t packed_folders = 0;  // of the files: those whose last record lists names of the others
  uint64_t packed_files = 0;    // in these
};

// Errors: those of RecordFile::packed_files.
ContentKind kind_of(const Container& container);

// "opaque bytes: ..." and the like. Requires: `kind` is opaque.
std::string content_text(const ContentKind& kind);

// What reads them, as lines with their names. Requires: as content_text.
std::vector<std::pair<std::string, std::string>> readers_of(const ContentKind& kind);

}  // namespace fuelrail::cli
