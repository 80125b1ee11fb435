// Reads a source in large blocks and returns small pieces of them, for readers that mostly move
// forward.
#pragma once

#include <cstdint>
#include <memory>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// Threads: one at a time.
class BlockReader {
 public:
  // Lifetime: the source outlives the reader.
  BlockReader(const Source& source, uint64_t block_bytes);

  // Sets the size of the next reads. Smaller blocks suit a reader that skips large records.
  void set_block_bytes(uint64_t block_bytes) { block_bytes_ = block_bytes; }

  uint64_t source_bytes() const { return source_bytes_; }

  // The bytes [offset, offset + length). Requires: the range is inside the source. Lifetime: until
  // the next call. Errors: the source's.
  Bytes at(uint64_t offset, uint64_t length);

 private:
  bool holds(uint64_t offset, uint64_t length) const;

  const Source& source_;
  uint64_t source_bytes_;
  uint64_t block_bytes_;
  std::unique_ptr<std::byte[]> buffer_;
  uint64_t capacity_ = 0;
  uint64_t begin_ = 0;  // file offset of the buffer
  uint64_t filled_ = 0;
};

}  // namespace fuelrail
