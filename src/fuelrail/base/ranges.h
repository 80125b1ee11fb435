// Several ranges joined end to end into one range of indices, for example the records or the bytes
// of several files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fuelrail {

class Ranges {
 public:
  struct Spot {
    size_t range;
    uint64_t index;  // within the range
  };

  void add(uint64_t length) { begins_.push_back(begins_.back() + length); }

  uint64_t size() const { return begins_.back(); }
  // The first index of range n; size() if n is the number of ranges.
  uint64_t begin(size_t n) const { return begins_[n]; }
  // Whether a range begins or ends at i.
  bool has_border(uint64_t i) const {
    return std::binary_search(begins_.begin(), begins_.end(), i);
  }
  // Requires: i < size().
  Spot find(uint64_t i) const {
    const auto end = std::upper_bound(begins_.begin(), begins_.end(), i);
    const auto range = static_cast<size_t>(end - begins_.begin()) - 1;
    return {range, i - begins_[range]};
  }

 private:
  std::vector<uint64_t> begins_{0};  // the ranges' first indices, and the end of the last
};

// The first index in [0, size) for which `holds` is true, or `size`. Requires: if `holds` is true
// for an index, it is true for all later ones.
template <typename Holds>
uint64_t first_index(uint64_t size, const Holds& holds) {
  uint64_t begin = 0;
  for (uint64_t end = size; begin < end;) {
    const uint64_t middle = begin + (end - begin) / 2;
    if (holds(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

}  // namespace fuelrail
