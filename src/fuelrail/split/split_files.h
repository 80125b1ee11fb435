// The files of a split, joined end to end and read by ranges. Also finds where parts begin.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/ranges.h"
#include "fuelrail/split/input_split.h"
#include "fuelrail/split/partition.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::split {

// A range of bytes in one file.
struct SplitPiece {
  size_t file = 0;
  uint64_t offset = 0;  // offset in the file
  uint64_t length = 0;
};

// Threads: any.
class SplitFiles {
 public:
  // Requires: `files` has at least one file, and no file is empty. Errors: CorruptError for a
  // RecordIO file whose size is not a multiple of 4; IoError for a file whose size has changed; the
  // sources'.
  SplitFiles(SplitType type, std::vector<FileInfo> files);

  SplitType type() const { return type_; }
  uint64_t total_bytes() const { return bytes_.size(); }
  size_t size() const { return files_.size(); }
  const FileInfo& info(size_t file) const { return files_[file]; }
  const Source& source(size_t file) const { return *sources_[file]; }
  std::vector<std::string> uris() const;

  // The pieces of files that make up `range`. Requires: range.end <= total_bytes().
  std::vector<SplitPiece> pieces(PartRange range) const;

  // Whether the byte before `at` is the last byte of a file. Requires: at > 0.
  bool ends_file(uint64_t at) const { return bytes_.has_border(at); }

  // The bytes of part `part` of `nsplit`, with both ends moved to the beginning of a record.
  // Errors: InvalidArgumentError unless part < nsplit; the sources'.
  PartRange part(uint64_t part, uint64_t nsplit) const;

 private:
  uint64_t moved_to_record(uint64_t at) const;

  SplitType type_;
  std::vector<FileInfo> files_;
  std::vector<std::shared_ptr<const Source>> sources_;
  Ranges bytes_;  // the bytes of each file
};

}  // namespace fuelrail::split
