// The order of a window shuffle, for disks and networks that need long reads: at any time only the
// records of one window are read, and a window consists of a few long runs of records. A pure
// function of (records, block, blocks, seed, epoch), in constant memory and time at any position.
//
// Records are divided into blocks of `block` consecutive records; the last block may be short. The
// blocks are permuted; every `blocks` consecutive ones form a window, and so do the remaining ones
// at the end. The records of a window are permuted within the window. The short block may be in any
// window; all later records move forward by the number of records that it lacks.
//
// Frozen, like the permutation (base/permutation.h). The full-size blocks are permuted with `seed`
// and stream 2^32 + epoch. The short block gets the index below64(0xfffd, 0, number of all blocks)
// among the permuted blocks. A window's records are permuted with stream `epoch` and the window's
// own seed: draws 2 and 3 of operation 0xfffd (reserved for orders), with the window's number as
// the position.
#pragma once

#include <cstdint>
#include <optional>

#include "fuelrail/base/permutation.h"

namespace fuelrail {

class WindowOrder {
 public:
  // Requires: 0 < records <= 2^62, block > 0, blocks > 0.
  WindowOrder(uint64_t records, uint64_t block, uint64_t blocks, uint64_t seed, uint32_t epoch);

  // The record at a position. Requires: position < records.
  uint64_t operator()(uint64_t position) const;

 private:
  struct Window {
    uint64_t number;
    uint64_t begin;  // position
    uint64_t size;
  };
  Window window_at(uint64_t position) const;
  uint64_t unmixed(uint64_t position) const;

  uint64_t records_;
  uint64_t block_;
  uint64_t blocks_;
  uint64_t seed_;
  uint32_t epoch_;
  uint64_t window_;                          // records in a window of full-size blocks
  uint64_t short_;                           // records missing in the short block, or 0
  uint64_t short_place_;                     // its index among the permuted blocks
  std::optional<Permutation> whole_blocks_;  // empty: no full-size block
};

}  // namespace fuelrail
