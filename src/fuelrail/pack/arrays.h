// Packs images that are in memory as one array of pixels, for np2rec.
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

// An array of count x channels x height x width elements in the machine's byte order.
// Lifetime: the caller owns `data`.
struct ImageArrays {
  const std::byte* data = nullptr;
  ArrayElement element = ArrayElement::kUint8;
  int64_t count = 0;
  int64_t channels = 1;  // 1 grey, 3 RGB, 4 RGBA
  int64_t height = 0;
  int64_t width = 0;
  std::array<int64_t, 4>
      strides_bytes{};  // in the order count, channels, height, width; may be negative

  std::vector<float> labels{};  // `label_width` values for each image
  int64_t label_width = 1;
  std::string name = "data";  // errors and the report name image 3 "data[3]"
};

// Packs the images in order; an image's id is its index. Integers are levels from 0 to 255. Floats
// are from 0 to 1; the nearest level to value * 255 is stored. Values outside these ranges are
// clipped. An image with a NaN counts as unreadable.
//
// `options`: as for `pack`, but `root`, `label_width` and `resume` do not apply, and `images` must
// be ImageSteps, whose `keep` and `color` are ignored.
// Lifetime: the pixels outlive the call. Errors: those of `pack`; InvalidArgumentError for an empty
// array, a number of channels other than 1, 3 or 4, a wrong number of labels, and four channels
// with JPEG as the encoding.
PackResult pack_arrays(const ImageArrays& arrays, const std::string& output,
                       const PackOptions& options);

}  // namespace fuelrail::pack
