// The mask of one image's objects: each pixel has the number of its object, or 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/pack/annotations/rle.h"

namespace fuelrail::pack {

inline constexpr size_t kMostNumbers = 65535;  // a mask has at most 16 bits

// Threads: one at a time.
class InstanceMask {
 public:
  // Empties the mask. Keeps its memory. Requires: `image` has fewer than 2^32 pixels.
  void reset(Size image);

  // Gives an object's pixels its number. Where objects overlap, the later one wins. Requires:
  // check_run_lengths has passed; 1 <= number <= kMostNumbers.
  void paint(const RunLengths& object, uint16_t number);

  // Number of pixels that a later object has taken from an earlier one.
  uint64_t overlapped() const { return overlapped_; }

  // The pixels row by row, each of `pixel_bytes`, little-endian. Requires: 2, or 1 if all numbers
  // are at most 255.
  void copy_to(std::vector<std::byte>& pixels, size_t pixel_bytes) const;

 private:
  Size image_;
  std::vector<uint16_t> numbers_;  // column by column, as run lengths are
  uint64_t overlapped_ = 0;
};

}  // namespace fuelrail::pack
