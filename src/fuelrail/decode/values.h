// Values: the numbers that an image stores, instead of colours. The values of a mask are class or
// instance numbers, those of a map are measurements such as depths.
#pragma once

#include <cstdint>

#include "fuelrail/base/dtype.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {

enum class ValueEncoding : uint8_t {
  // The stored numbers, as in NumPy's array of an image that Pillow opened: palette indices, never
  // their colours; grey of 8 and 16 bits unchanged; grey of 1 bit as 0 and 1; grey of 2 and 4 bits
  // scaled to 0 to 255 (PNG and TIFF); the elements of a .npy file, float16 as float32.
  kStored,
  // red + 256 green + 65536 blue of 8-bit colours, as in COCO's panoptic annotations. A palette's
  // colours count; alpha is dropped.
  kRgb,
};

// An image's values are an array (height, width, channels) of this type. Only a .npy file of floats
// may have more than one channel.
struct ValueLayout {
  DType dtype = DType::kUint8;  // uint8, uint16, int32 or float32; kRgb: int32
  int64_t channels = 1;
  friend bool operator==(const ValueLayout&, const ValueLayout&) = default;
};

// Errors: UnsupportedError for an image without values in this encoding: kStored of an image with
// colours or alpha; kRgb of an image that is grey, has more than 8 bits per colour, or is lossy.
ValueLayout value_layout(const ImageInfo& info, ValueEncoding encoding);

}  // namespace fuelrail
