// Finds the records in a chunk.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/split/input_split.h"
#include "fuelrail/split/split_chunk.h"
#include "fuelrail/split/split_files.h"
#include "fuelrail/split/text_lines.h"

namespace fuelrail::split {

// Threads: one at a time.
class RecordCutter {
 public:
  struct Cut {
    Bytes record;      // valid until the next call
    size_t begin = 0;  // where the record, with its head, begins in the chunk
    size_t next = 0;   // where the next record begins
  };

  explicit RecordCutter(SplitType type) : text_(type == SplitType::kText) {}

  // The first record at or after `from`; nullopt if there is none. Requires: `from` does not
  // decrease within a chunk. Errors: CorruptError and TruncatedError with the file and the offset.
  std::optional<Cut> next(const SplitChunk& chunk, size_t from, const SplitFiles& files);

  // Same as above for bytes without a file. The errors' offset is in `bytes`.
  std::optional<Cut> next(Bytes bytes, size_t from);

  // To be called before the first `next` of another chunk.
  void restart() { lines_.restart(); }

 private:
  std::optional<Cut> next_line(Bytes bytes, size_t from);
  Cut unframed(Bytes bytes, size_t at, uint64_t offset);

  const bool text_;
  LineFinder lines_;
  std::vector<std::byte> assembled_;
};

}  // namespace fuelrail::split
