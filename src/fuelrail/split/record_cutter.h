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
    size_t begin = 0;  // where the record begins in the chunk, including its head
    size_t next = 0;   // where the next record begins
  };

  explicit RecordCutter(SplitType type) : text_(type == SplitType::kText) {}

  // The first record at or after `from`; nullopt if there is none. Requires: `from` does not
  // decrease within a chunk. Errors: CorruptError and TruncatedError with the file and the offset.
  std::optional<Cut> next(const SplitChunk& chunk, size_t from, const SplitFiles& files);

  // As above, for bytes that do not come from a file. Errors have the offset in `bytes`.
  std::optional<Cut> next(Bytes bytes, size_t from);

  // Call this before the first `next` for a different chunk.
  void restart() { lines_.restart(); }

 private:
  std::optional<Cut> next_line(Bytes bytes, size_t from);
  Cut unframed(Bytes bytes, size_t at, uint64_t offset);

  const bool text_;
  LineFinder lines_;
  std::vector<std::byte> assembled_;
};

}  // namespace fuelrail::split
