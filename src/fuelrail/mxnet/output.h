// The last step of MXNet's iterators: mirrors and normalises interleaved 8-bit pixels, and writes
// them to one row of a batch with one plane per channel.
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

// MXNet's parameters. `mean` holds mean_r, mean_g, mean_b and mean_a; `std` holds std_r to std_a.
// The tables describe the parameters; docs/mxnet_augmentation.md has the formulas. All float
// arithmetic is float32, and each operation is rounded.
struct OutputOptions {
  DType dtype = DType::kFloat32;  // or kUint8, kInt8
  std::array<float, 4> mean{0, 0, 0, 0};
  std::array<float, 4> std{1, 1, 1, 1};
  float scale = 1;
  float max_random_contrast = 0;
  float max_random_illumination = 0;

  // Subtracted pixel by pixel instead of `mean`, before mirroring. Default: no mean image.
  std::shared_ptr<const MeanImage> mean_image{};

  bool mirror = false;
  bool rand_mirror = false;

  // Computes ((pixel - mean) / std) * scale, as ImageDetRecordIter does. A std of 0 or below counts
  // as 1. `mean` is used if one of its values is above 0, otherwise `mean_image`. Draws no random
  // numbers and supports only float32.
  bool detection = false;

  static const OptionTable<OutputOptions>& table();        // parameters that both iterators have
  static const OptionTable<OutputOptions>& plain_table();  // parameters without detection
};

// Errors: InvalidArgumentError that names the parameter, for a std of 0 (unless `detection` is
// set), a number that is not finite, a mean image whose shape is not `shape`, and, with
// `detection`, a parameter of `plain_table` that is set.
void check(const OutputOptions& options, const MxShape& shape);

// Threads: one writer per thread.
class OutputWriter {
 public:
  // Errors: those of check(options, shape).
  OutputWriter(const OutputOptions& options, const MxShape& shape);

  size_t row_bytes() const;

  // Writes row_bytes() bytes at `row`. Draws, in this order: a coin if rand_mirror is set; then,
  // except for uint8 and detection, two numbers for contrast and illumination, even if their limits
  // are 0. Requires: `image` has the size and channels of the shape; `row` is aligned for the type;
  // `image` and `row` do not overlap.
  void write(ConstImageView image, Draws& draws, std::byte* row);

 private:
  struct Chosen {  // the random choices for one image
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
  std::vector<int16_t> mean_levels_;  // the rounded mean image, for int8
};

}  // namespace fuelrail::mxnet
