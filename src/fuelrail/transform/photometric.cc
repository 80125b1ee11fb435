#include "fuelrail/transform/photometric.h"

#include <cstdint>

#include "fuelrail/transform/photometric_kernels.h"

namespace fuelrail {
namespace {

// Calls visit(pixels, count) for each run of pixels that lie side by side: all at once, or a row.
template <typename Visit>
void for_each_run(ImageView image, Visit visit) {
  if (image.row_stride_bytes == image.width * 3) {
    visit(image.data, image.height * image.width);
  } else {
    for (int64_t y = 0; y < image.height; ++y) visit(image.row(y), image.width);
  }
}

void scale(ImageView image, float factor, float addend) {
  for_each_run(image, [&](uint8_t* pixels, int64_t count) {
    scale_levels(pixels, 3 * count, factor, addend);
  });
}

}  // namespace

void adjust_brightness(ImageView image, double factor) {
  scale(image, static_cast<float>(factor), 0.0f);
}

void adjust_contrast(ImageView image, double factor) {
  uint64_t sum = 0;
  for_each_run(image,
               [&](const uint8_t* pixels, int64_t count) { sum += sum_of_grey(pixels, count); });
  const auto mean = static_cast<float>(static_cast<double>(sum) /
                                       static_cast<double>(image.height * image.width));
  scale(image, static_cast<float>(factor), static_cast<float>(1.0 - factor) * mean);
}

void adjust_saturation(ImageView image, double factor) {
  for_each_run(image, [&](uint8_t* pixels, int64_t count) {
    blend_with_grey(pixels, count, static_cast<float>(factor), static_cast<float>(1.0 - factor));
  });
}

void adjust_hue(ImageView image, double turn) {
  for_each_run(image, [&](uint8_t* pixels, int64_t count) {
    turn_hue(pixels, count, static_cast<float>(turn));
  });
}

void to_grayscale(ImageView image) {
  for_each_run(image, [](uint8_t* pixels, int64_t count) { make_grey(pixels, count); });
}

}  // namespace fuelrail
