// A run of whole records in memory, and where in the files it lies.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail::split {

// Memory is kept from use to use, and never filled but by what is read.
class SplitChunk {
 public:
  // Bytes of the chunk that come from one place of one file.
  struct Piece {
    size_t at = 0;  // in the chunk
    size_t length = 0;
    uint64_t place = 0;  // in the whole
    size_t file = 0;
    uint64_t offset = 0;  // in the file
  };

  Bytes bytes() const { return {memory_.get(), size_}; }
  size_t size() const { return size_; }
  const std::vector<Piece>& pieces() const { return pieces_; }

  void clear() {
    size_ = 0;
    pieces_.clear();
    missing_records = 0;
  }

  // Room for `length` bytes more, to be filled. Lifetime: until the next call.
  MutableBytes append(size_t length) {
    if (length > capacity_ - size_) grow(size_ + length);
    size_ += length;
    return {memory_.get() + size_ - length, length};
  }
  // Says what was appended last; bytes of the same file that follow each other are one piece.
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
  // Cuts the end off.
  void truncate(size_t size) { size_ = size; }

  // The piece with the byte at `at`. Requires: there are pieces.
  const Piece& piece_at(size_t at) const {
    const auto behind =
        std::upper_bound(pieces_.begin(), pieces_.end(), at,
                         [](size_t place, const Piece& piece) { return place < piece.at; });
    return *std::prev(behind, behind == pieces_.begin() ? 0 : 1);
  }

  uint64_t missing_records = 0;  // of indexed_recordio: that a whole batch has more

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
