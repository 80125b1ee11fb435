// The orders that dmlc-core's readers and MXNet 1.9.1's iterators shuffle into, number for number,
// whatever the C++ library: mt19937, and libstdc++'s shuffle and integer distribution as they were
// before GCC 7 and GCC 11. Found in the orders that MXNet delivers (tests/golden/mxnet/order.json).
// New code has permutation.h, which needs no memory; this is for orders that must be dmlc's.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace fuelrail::split {

// Threads: one at a time. Each call goes on with the same generator, so that epochs differ.
class DmlcShuffle {
 public:
  // The shuffle of a part's records: indexed_recordio, and ImageRecordIter.
  static DmlcShuffle of_records(int64_t seed) {
    return DmlcShuffle(static_cast<int64_t>(111 + static_cast<uint64_t>(seed)));
  }

  // The same of ImageDetRecordIter, which has other orders.
  static DmlcShuffle of_detection_records(int64_t seed) {
    return DmlcShuffle(static_cast<int64_t>(233 + static_cast<uint64_t>(seed)));
  }

  // The shuffle of a part's sub-parts: InputSplitShuffle.
  static DmlcShuffle of_sub_parts(uint64_t part, uint64_t nsplit, uint64_t shuffle_parts,
                                  int64_t seed);

  // Of its low 32 bits, as upstream's conversion takes them.
  explicit DmlcShuffle(int64_t seed) : generator_(static_cast<uint32_t>(seed)) {}

  // 0 to count - 1, shuffled. Errors: UnsupportedError for more than 2^32 - 1; bad_alloc.
  std::vector<uint64_t> permutation(uint64_t count);

  // For i = 1 to size - 1: exchanges items i and `below(i + 1)`. Errors: as permutation.
  template <typename Item>
  void shuffle(std::vector<Item>& items) {
    check_count(items.size());
    for (size_t i = 1; i < items.size(); ++i) {
      std::swap(items[i], items[static_cast<size_t>(below(static_cast<uint32_t>(i + 1)))]);
    }
  }

  // In [0, bound): a draw divided by floor((2^32 - 1) / bound); draws that would make the last
  // numbers likelier are passed over. Requires: bound > 0.
  uint32_t below(uint32_t bound);

 private:
  static void check_count(uint64_t count);

  std::mt19937 generator_;
};

}  // namespace fuelrail::split
