// Images that are in memory already, as one array of pixels: what np2rec packs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/pack/pack_options.h"

namespace fuelrail::pack {

enum class ArrayElement : uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat16,
  kFloat32,
  kFloat64,
};

// count x channels x height x width elements of the machine's byte order; the caller's memory.
struct ImageArrays {
  const std::byte* data = nullptr;
  ArrayElement element = ArrayElement::kUint8;
  int64_t count = 0;
  int64_t channels = 1;  // 1 grey, 3 RGB, 4 RGBA
  int64_t height = 0;
  int64_t width = 0;
  std::array<int64_t, 4> strides_bytes{};  // in the order of the sizes; any, also negative ones

  std::vector<float> labels{};  // label_width for each image
  int64_t label_width = 1;
  std::string name = "data";  // what errors and the report call it: image 3 is "data[3]"
};

// Packs the images in their order; an image's id is its index. Whole numbers are levels 0 to 255;
// floats are 0 to 1 and become the nearest level of value * 255; what lies outside is clipped. An
// image with a NaN in it is one that cannot be read.
//
// `options`: as `pack` has them, but for root, label_width and resume, which have no meaning here;
// `images` (all of whose steps count but keep and color) is required. Otherwise as `pack`.
// Lifetime: the pixels, until the call returns. Errors: as `pack`; InvalidArgumentError for arrays
// that are empty or of other channels, for labels of another number, and for four channels that
// would be JPEG.
PackResult pack_arrays(const ImageArrays& arrays, const std::string& output,
                       const PackOptions& options);

}  // namespace fuelrail::pack
