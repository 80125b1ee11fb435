// The last step of MXNet's iterators: 8-bit pixels, interleaved, into one row of a batch: mirrored,
// normalised, one plane a channel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fuelrail/base/dtype.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/base/option.h"
#include "fuelrail/mxnet/draws.h"
#include "fuelrail/mxnet/mean_image.h"
#include "fuelrail/mxnet/mx_shape.h"

namespace fuelrail {
struct PixelRow;  // private to the core
}  // namespace fuelrail

namespace fuelrail::mxnet {

// MXNet's parameters; `mean[0]` is its mean_r, and so on to mean_a. What each means: its row of the
// tables; to the formula: docs/mxnet_augmentation.md. All float arithmetic is in float32, each
// operation rounded.
struct OutputOptions {
  DType dtype = DType::kFloat32;  // or kUint8, kInt8
  std::array<float, 4> mean{0, 0, 0, 0};
  std::array<float, 4> std{1, 1, 1, 1};
  float scale = 1;
  float max_random_contrast = 0;
  float max_random_illumination = 0;

  // Subtracted pixel by pixel instead of `mean`, before mirroring. Default: none.
  std::shared_ptr<const MeanImage> mean_image{};

  bool mirror = false;
  bool rand_mirror = false;

  // As ImageDetRecordIter does it: ((pixel - mean) / std) * scale, where a std that is not above 0
  // stands for 1, and mean counts only if one of its values is above 0, before mean_image. Without
  // random numbers; float32 only.
  bool detection = false;

  static const OptionTable<OutputOptions>& table();        // of what both iterators have
  static const OptionTable<OutputOptions>& plain_table();  // and of what detection has not
};

// Errors: InvalidArgumentError, naming the parameter, for a std of 0, numbers that are not finite,
// a mean image of another shape, and what `detection` has not.
void check(const OutputOptions& options, const MxShape& shape);

// Threads: one writer a thread.
class OutputWriter {
 public:
  // Errors: those of check(options, shape).
  OutputWriter(const OutputOptions& options, const MxShape& shape);

  size_t row_bytes() const;

  // Writes row_bytes() at `row`. Draws, in this order: with rand_mirror a coin; unless uint8 or
  // detection, two numbers for contrast and illumination, whatever their limits.
  // Requires: `image` has the shape's size and channels; `row` is aligned for the type; no overlap.
  void write(ConstImageView image, Draws& draws, std::byte* row);

 private:
  struct Chosen {  // for one image
    bool mirror = false;
    float contrast = 1;
    float illumination = 0;
  };
  Chosen choose(Draws& draws) const;
  template <typename Element>
  std::array<Element*, 4> planes(Element* elements, int64_t first) const;
  void write_floats(const PixelRow& pixels, const Chosen& chosen, int64_t first, float* row) const;
  void write_signed(const PixelRow& pixels, int64_t first, int8_t* row) const;

  OutputOptions options_;
  MxShape shape_;
  std::vector<int16_t> mean_levels_;  // of the mean image, rounded; for int8
};

}  // namespace fuelrail::mxnet
