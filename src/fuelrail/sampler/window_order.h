// The order of a window shuffle, for disks and networks that want long reads: at any moment, only
// the records of one window are being read, and a window is a few long runs of records. A pure
// function of (records, block, blocks, seed, epoch), in constant memory and time at any position.
//
// Records are cut into blocks of `block` consecutive ones; the last may be short. The blocks are
// permuted; `blocks` of them after one another make a window, and so do those that are left at the
// end. The records of a window are permuted among its positions. The short block may fall into any
// window: positions after it come that much earlier.
//
// Frozen, as the permutation is (base/permutation.h): the whole blocks are permuted with stream
// 2^32 + epoch of `seed`, and the short one comes before number below64(0xfffd, 0, blocks in all)
// of them; a window's records with stream `epoch` of a seed of its own, the window's number taken
// as the position: draws 2 and 3 of operation 0xfffd, which is kept for orders.
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
  uint64_t window_;                          // records in a window without the short block
  uint64_t short_;                           // records that the short block lacks; 0: there is none
  uint64_t short_place_;                     // among the permuted blocks
  std::optional<Permutation> whole_blocks_;  // empty: there is none
};

}  // namespace fuelrail
