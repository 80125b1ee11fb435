// The kind and the sizes of a dataset's records, for `info`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail::cli {

struct RecordSizes {  // in bytes, with the framing
  uint64_t smallest = 0;
  uint64_t mean = 0;
  uint64_t largest = 0;
};

// The sizes of all records. Errors: those of Container::extent; Interrupted.
RecordSizes sizes_of(const Container& container);

struct ContentKind {
  bool opaque = false;          // the records are neither images nor samples, and are not parsed
  std::string reader{};         // the Python class that reads all files; empty if there is none
  std::string schema{};         // the schema that reads a packed folder as images
  uint64_t packed_folders = 0;  // number of files that are packed folders
  uint64_t packed_files = 0;    // number of files in these packed folders
};

// Errors: those of RecordFile::packed_files.
ContentKind kind_of(const Container& container);

// The text of `info`'s line "content": "opaque bytes: ...". Requires: `kind` is opaque.
std::string content_text(const ContentKind& kind);

// The lines of `info` (name and text) that say how to read the records. Requires: `kind` is opaque.
std::vector<std::pair<std::string, std::string>> readers_of(const ContentKind& kind);

}  // namespace fuelrail::cli
