// The last step: flips and converts 8-bit HWC pixels, and writes them into one row of a batch.
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

// The format of images in a batch, the same for all batches of a loader.
struct PixelFormat {
  DType dtype = DType::kFloat32;  // kFloat32, kFloat16, kBfloat16 or kUint8
  ImageLayout layout = ImageLayout::kNchw;
  std::optional<Normalize> normalize{};  // empty: uint8 unchanged, floats as x / 255
};

// Errors: InvalidArgumentError for a Normalize with uint8 output, and for an unsupported dtype.
void check(const PixelFormat& format);

class PixelWriter {
 public:
  explicit PixelWriter(const PixelFormat& format);

  // Writes from.height * from.width * 3 elements to `to`. float32 values equal ((x / 255) - mean) /
  // std with each operation rounded to float32 (torchvision's ToTensor and Normalize, bit for bit);
  // float16 and bfloat16 are these values rounded to nearest even. Results are bit-identical on
  // every processor. Requires: from.channels == 3; `to` is aligned for the element type; no
  // overlap. Threads: any number at the same time.
  void write(ConstImageView from, bool flip_horizontal, bool flip_vertical, std::byte* to) const;

 private:
  PixelFormat format_;
  Normalize normalize_;
  // Tables of the element for each level of each channel, at channel * 256 + level.
  std::vector<float> floats_;
  std::vector<uint16_t> words_;  // bits of a 16-bit type
};

}  // namespace fuelrail
