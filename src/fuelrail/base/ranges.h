// Several lengths laid end to end, as one range of indices: records of files, bytes of files.
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
    uint64_t index;  // in it
  };

  void add(uint64_t length) { begins_.push_back(begins_.back() + length); }

  uint64_t size() const { return begins_.back(); }
  // Of range n; size() for the one after the last.
  uint64_t begin(size_t n) const { return begins_[n]; }
  // Whether a range begins or ends there.
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
  std::vector<uint64_t> begins_{0};  // and the end of the last
};

}  // namespace fuelrail
