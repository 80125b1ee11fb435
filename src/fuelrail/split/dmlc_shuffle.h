// Shuffles in exactly the orders of dmlc-core's readers and MXNet 1.9.1's iterators, with any C++
// library. It uses mt19937 with the shuffle of libstdc++ before GCC 7 and the integer distribution
// of libstdc++ before GCC 11. Derived from orders of MXNet's output
// (tests/golden/mxnet/order.json). Use this only for orders that must equal dmlc's; otherwise use
// permutation.h, which needs no memory.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace fuelrail::split {

// Threads: one at a time. All calls use the same generator, so each epoch gets a different order.
class DmlcShuffle {
 public:
  // Shuffles a part's records as indexed_recordio and ImageRecordIter do.
  static DmlcShuffle of_records(int64_t seed) {
    return DmlcShuffle(static_cast<int64_t>(111 + static_cast<uint64_t>(seed)));
  }

  // Shuffles a part's records as ImageDetRecordIter does, whose orders are different.
  static DmlcShuffle of_detection_records(int64_t seed) {
    return DmlcShuffle(static_cast<int64_t>(233 + static_cast<uint64_t>(seed)));
  }

  // Shuffles a part's sub-parts as InputSplitShuffle does.
  static DmlcShuffle of_sub_parts(uint64_t part, uint64_t nsplit, uint64_t shuffle_parts,
                                  int64_t seed);

  // Uses the low 32 bits of `seed`, as dmlc-core does.
  explicit DmlcShuffle(int64_t seed) : generator_(static_cast<uint32_t>(seed)) {}

  // The numbers 0 to count - 1, shuffled. Errors: UnsupportedError for a count above 2^32 - 1;
  // std::bad_alloc.
  std::vector<uint64_t> permutation(uint64_t count);

  // Shuffles `items`: for i = 1 to size - 1, swaps items i and `below(i + 1)`. Errors:
  // UnsupportedError for more than 2^32 - 1 items.
  template <typename Item>
  void shuffle(std::vector<Item>& items) {
    check_count(items.size());
    for (size_t i = 1; i < items.size(); ++i) {
      std::swap(items[i], items[static_cast<size_t>(below(static_cast<uint32_t>(i + 1)))]);
    }
  }

  // Draws a number in [0, bound): a 32-bit number divided by d = floor((2^32 - 1) / bound). A
  // 32-bit number of bound * d or more is drawn again, so that all results are equally likely.
  // Requires: bound > 0.
  uint32_t below(uint32_t bound);

 private:
  static void check_count(uint64_t count);

  std::mt19937 generator_;
};

}  // namespace fuelrail::split
