// Consecutive whole records in memory, and where they come from in the files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail::split {

// Reuses its memory. Memory is not initialised before bytes are read into it.
class SplitChunk {
 public:
  // Consecutive bytes of the chunk that come from one file.
  struct Piece {
    size_t at = 0;  // offset in the chunk
    size_t length = 0;
    uint64_t place = 0;  // offset in the files joined end to end
    size_t file = 0;
    uint64_t offset = 0;  // offset in the file
  };

  Bytes bytes() const { return {memory_.get(), size_}; }
  size_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

  void clear() {
    size_ = 0;
    pieces_.clear();
    missing_records = 0;
  }

  // Appends `length` uninitialised bytes for the caller to fill. Lifetime: until the next call.
  MutableBytes append(size_t length) {
    if (length > capacity_ - size_) grow(size_ + length);
    size_ += length;
    return {memory_.get() + size_ - length, length};
  }
  // Records where the bytes that were appended last come from. If they follow the previous piece in
  // the same file, the two become one piece.
  void add_piece(const Piece& piece) {
    if (!pieces_.empty()) {
      Piece& last = pieces_.back();
      if (last.file == piece.file && last.offset + last.length == piece.offset &&
          last.at + last.length == piece.at) {
        last.length += piece.length;
        return;
      }
    }
    pieces_.push_back(piece);
  }
  // Drops the bytes from `size` on.
  void truncate(size_t size) { size_ = size; }

  // The piece that contains the byte at `at`. Requires: the chunk has pieces.
  const Piece& piece_at(size_t at) const {
    const auto behind =
        std::upper_bound(pieces_.begin(), pieces_.end(), at,
                         [](size_t place, const Piece& piece) { return place < piece.at; });
    return *std::prev(behind, behind == pieces_.begin() ? 0 : 1);
  }

  uint64_t missing_records = 0;  // indexed_recordio: number of records that the batch lacks

 private:
  void grow(size_t wanted) {
    const size_t capacity = std::max(wanted, capacity_ + capacity_ / 2);
    auto larger = std::make_unique_for_overwrite<std::byte[]>(capacity);
    if (size_ != 0) std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<std::byte[]> memory_;
  size_t capacity_ = 0;
  size_t size_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace fuelrail::split
