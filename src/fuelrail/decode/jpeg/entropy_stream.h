// Huffman decoding of baseline scans by several streams in one thread, whose look-ups do not wait
// for each other. A stream decodes blocks one after the other from a place in unstuffed data.
//
// Coefficients are written in zig-zag order, blocks of 64 one after the other, DC coefficients as
// differences. The memory must be zero before, and kSlackBlocks more of it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "fuelrail/decode/jpeg/huffman_tables.h"
#include "fuelrail/decode/jpeg/scan_bytes.h"

namespace fuelrail::jpeg {

inline constexpr int kLanes = 3;  // streams that run at the same time
inline constexpr int kLookupsOfRefill = 56 / kLookupBits;
// An entry of no length writes a zero up to kBeyondBlock coefficients behind the last one.
inline constexpr int64_t kSlackBlocks = (kBeyondBlock + 63) / 64 + 1;
// How far a stream may get behind its end before it stops there: each look-up of a refill uses up
// at most the bits of an entry and, decoded alone, those of a code and a value.
inline constexpr int64_t kBytesBehind = (kLookupsOfRefill * (kLookupBits + 16 + 11) + 7) / 8;
static_assert(kBytesBehind + 2 * sizeof(uint64_t) <= kZeroBytes);  // which it loads in advance

// The last blocks in which a stream has met something odd: a code that does not exist, a value that
// baseline does not have, a run of zeros beyond the block. A stream that began at a guess meets
// these before it is in step.
class OddBlocks {
 public:
  // Requires: blocks in ascending order.
  void add(int64_t block) {
    if (count_ > 0 && at(count_ - 1) == block) return;
    at(count_++) = block;
  }
  // Whether one of the blocks from `begin` to `end` (exclusive) is odd; true if it is not known.
  bool any_in(int64_t begin, int64_t end) const {
    const int64_t kept = static_cast<int64_t>(blocks_.size());
    for (int64_t i = count_ - 1; i >= 0 && i >= count_ - kept; --i) {
      if (at(i) < begin) return false;
      if (at(i) < end) return true;
    }
    return count_ > kept;
  }

 private:
  int64_t& at(int64_t i) { return blocks_[static_cast<size_t>(i) % blocks_.size()]; }
  int64_t at(int64_t i) const { return blocks_[static_cast<size_t>(i) % blocks_.size()]; }

  std::array<int64_t, 16> blocks_{};
  int64_t count_ = 0;
};

struct Stream {
  uint64_t bits = 0;  // the next bits, from the highest; the lowest bit that is set is a mark
  const uint8_t* at = nullptr;  // from where `bits` was loaded: as many bits are used up as zeros
                                // follow the mark
  const Entry* table = nullptr;
  int16_t* place = nullptr;      // the last coefficient that was written
  int16_t* block_end = nullptr;  // the last coefficient of the block
  const BlockStep* step = nullptr;

  // `run_streams` stops it when it has reached one of these.
  const int16_t* last_block_end = nullptr;
  const uint8_t* end = nullptr;

  int16_t* first = nullptr;  // its blocks
  OddBlocks* odd = nullptr;

  int64_t blocks() const { return (block_end - first) / 64; }  // that are complete
  bool is_over() const { return block_end >= last_block_end || at >= end; }
};

// The stream begins with an MCU, at a bit of the data. It writes at most `count` blocks to
// `blocks`, and stops when it has read `bytes` of the data. Requires: kZeroBytes behind the data.
// Lifetime: all outlive the stream.
Stream begin_stream(const HuffmanTables& tables, const uint8_t* data, int64_t bit, int64_t bytes,
                    int16_t* blocks, int64_t count, OddBlocks& odd);

// Runs streams, kLanes at a time, until all are over. One that is over has at most
// kLookupsOfRefill - 1 blocks to go, or has reached its end.
void run_streams(const HuffmanTables& tables, std::span<Stream> streams);

// Runs the stream until it has `blocks` blocks, or has reached `end`.
void run_to(const HuffmanTables& tables, Stream& stream, int64_t blocks, const uint8_t* end);

// The stream's place, in bits from `data`.
int64_t bit_of(const Stream& stream, const uint8_t* data);

}  // namespace fuelrail::jpeg
