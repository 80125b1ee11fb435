// Huffman decoding of baseline scans by several streams in one thread, whose look-ups do not wait
// for each other. A stream decodes blocks one after the other from a place in unstuffed data.
//
// Coefficients are written in zig-zag order, blocks of kBlockCoefficients one after the other, DC
// coefficients as differences. The memory must be zero before, and kSlackBlocks more of it, and
// begin at a multiple of kBlockBytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "fuelrail/decode/jpeg/huffman_tables.h"
#include "fuelrail/decode/jpeg/scan_bytes.h"

namespace fuelrail::jpeg {

inline constexpr int kLanes = 3;  // streams that run at the same time
inline constexpr int kLookupsOfRefill = 56 / kLookupBits;
inline constexpr size_t kBlockBytes = kBlockCoefficients * sizeof(int16_t);
// An entry of no length writes a zero up to kBeyondBlock coefficients behind the last one.
inline constexpr int64_t kSlackBlocks = kBeyondBlock / kBlockCoefficients + 2;
// How far a stream may get behind its end: up to 57 bits may be used already when it looks whether
// it is there, and each look-up of a refill uses up at most a code and a value, decoded alone.
inline constexpr int64_t kBytesBehind = (57 + kLookupsOfRefill * (16 + 15) + 7) / 8;
static_assert(kBytesBehind + sizeof(uint64_t) <= kZeroBytes);  // which it loads there

// Where a stream was when it was last refilled in a block. `at` is null if it was not.
struct Checkpoint {
  uint64_t bits = 0;
  const uint8_t* at = nullptr;
  const Entry* table = nullptr;
  const int16_t* place = nullptr;
};

struct Stream {
  uint64_t bits = 0;  // the next bits, from the highest; the lowest bit that is set is a mark
  const uint8_t* at = nullptr;  // from where `bits` was loaded: as many bits are used up as zeros
                                // follow the mark
  const Entry* table = nullptr;
  // The last coefficient that was decoded, the one behind it if a long code is being decoded, or
  // the first one of a block.
  int16_t* place = nullptr;
  const BlockStep* step = nullptr;

  // `run_streams` stops it when it has reached one of these.
  const int16_t* last_place = nullptr;
  const uint8_t* end = nullptr;

  int16_t* first = nullptr;  // its blocks
  // For each block, 1 if the stream has met something odd: a code that does not exist, a value that
  // baseline does not have, a run of zeros beyond the block. A stream that began at a guess meets
  // these before it is in step.
  uint8_t* odd = nullptr;
  // For each block, if `bit_of_block` shall find it: empty before.
  Checkpoint* checkpoints = nullptr;

  // That are complete.
  int64_t blocks() const { return (place - first) / kBlockCoefficients; }
  // Whether one of the blocks from `begin_block` to `end_block` (exclusive) is odd.
  bool is_odd(int64_t begin_block, int64_t end_block) const {
    return std::any_of(odd + begin_block, odd + end_block, [](uint8_t flag) { return flag != 0; });
  }
  bool is_over() const { return place >= last_place || at >= end; }
};

// The stream begins with an MCU, at a bit of the data. It writes at most `count` blocks to
// `blocks`, with their flags in `odd`, which are 0 before, and stops when it has read `bytes` of
// the data. Requires: kZeroBytes behind the data; `blocks` at a multiple of kBlockBytes. Lifetime:
// all outlive the stream.
Stream begin_stream(const HuffmanTables& tables, const uint8_t* data, int64_t bit, int64_t bytes,
                    int16_t* blocks, int64_t count, uint8_t* odd);

// Runs streams, kLanes at a time, until all are over. All have checkpoints, or none has. One that
// is over has at most kLookupsOfRefill - 1 blocks to go, or has reached its end.
void run_streams(const HuffmanTables& tables, std::span<Stream> streams);

// Runs the stream until it has `blocks` blocks, or has reached `end`.
void run_to(const HuffmanTables& tables, Stream& stream, int64_t blocks, const uint8_t* end);

// The stream's place, in bits from `data`.
int64_t bit_of(const Stream& stream, const uint8_t* data);

// The place at which one of its complete blocks begins, or the block behind them. Requires:
// checkpoints; not the first block.
int64_t bit_of_block(const HuffmanTables& tables, const Stream& stream, const uint8_t* data,
                     int64_t block);

}  // namespace fuelrail::jpeg
