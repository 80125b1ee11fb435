// Views of pictures in planes: luma and chroma apart.
#pragma once

#include <array>
#include <cstddef>

#include "fuelrail/base/box.h"

namespace fuelrail {

struct Plane {
  const std::byte* first = nullptr;
  ptrdiff_t stride_bytes = 0;
  Size size{};
};

// Luma, and Cb and Cr unless `chroma` is 0. A value has 1 byte, or 2 in native order if `bits` is
// above 8.
struct Planes {
  std::array<Plane, 3> planes{};
  int chroma = 1;  // as chroma_format_idc: 0 luma alone, 1 4:2:0, 2 4:2:2, 3 4:4:4
  int bits = 8;    // 8 to 16
};

}  // namespace fuelrail
