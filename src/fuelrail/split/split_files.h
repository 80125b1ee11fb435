// The files of a split, laid end to end and read by ranges of the whole; and where parts begin.
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

// A stretch of the whole that lies in one file.
struct SplitPiece {
  size_t file = 0;
  uint64_t offset = 0;  // in the file
  uint64_t length = 0;
};

// Threads: any number at once.
class SplitFiles {
 public:
  // Requires: `files` is not empty, and none is. Errors: CorruptError where a RecordIO file has a
  // size that is no multiple of 4; IoError where a file has another size by now; the sources'.
  SplitFiles(SplitType type, std::vector<FileInfo> files);

  SplitType type() const { return type_; }
  uint64_t total_bytes() const { return bytes_.size(); }
  size_t size() const { return files_.size(); }
  const FileInfo& info(size_t file) const { return files_[file]; }
  const Source& source(size_t file) const { return *sources_[file]; }
  std::vector<std::string> uris() const;

  // Requires: the range lies in the whole.
  std::vector<SplitPiece> pieces(PartRange range) const;

  // Whether the whole's byte before `at` is a file's last. Requires: at > 0.
  bool ends_file(uint64_t at) const { return bytes_.has_border(at); }

  // Part `part` of `nsplit` by bytes, both ends moved to where a record begins. Errors:
  // InvalidArgumentError unless part < nsplit; the sources'.
  PartRange part(uint64_t part, uint64_t nsplit) const;

 private:
  uint64_t moved_to_record(uint64_t at) const;

  SplitType type_;
  std::vector<FileInfo> files_;
  std::vector<std::shared_ptr<const Source>> sources_;
  Ranges bytes_;  // of each file
};

}  // namespace fuelrail::split
