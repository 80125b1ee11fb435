// The last step: 8-bit HWC pixels into one row of a batch, flipped, converted and laid out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuelrail/base/dtype.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

enum class ImageLayout : uint8_t { kNchw, kNhwc };

// What an image becomes in the batch. Decided once a loader.
struct PixelFormat {
  DType dtype = DType::kFloat32;  // kFloat32, kFloat16, kBfloat16 or kUint8
  ImageLayout layout = ImageLayout::kNchw;
  std::optional<Normalize> normalize{};  // absent: uint8 as it is, floats as x / 255
};

// Errors: InvalidArgumentError for a Normalize with uint8 output, or another dtype.
void check(const PixelFormat& format);

class PixelWriter {
 public:
  explicit PixelWriter(const PixelFormat& format);

  // Writes from.height * from.width * 3 elements at `to`. float32 values equal ((x / 255) - mean) /
  // std, each operation rounded to float32 (torchvision's ToTensor and Normalize, bit for bit);
  // float16 and bfloat16 are that, rounded to nearest even. The same bits on every processor.
  // Requires: from.channels == 3; `to` is aligned for the element type; no overlap.
  // Threads: any number at once.
  void write(ConstImageView from, bool flip_horizontal, bool flip_vertical, std::byte* to) const;

 private:
  PixelFormat format_;
  Normalize normalize_;
  // What each level of each channel becomes, as bits of the element type: channel * 256 + level.
  std::vector<float> floats_;
  std::vector<uint16_t> words_;  // of a 16-bit type
};

}  // namespace fuelrail
