#include "fuelrail/transform/cv_color.h"

#include <cstring>

#include "fuelrail/transform/cv_color_kernels.h"

namespace fuelrail {
namespace {

void convert_rows(ConstImageView from, ImageView to, void (*convert)(uint8_t*, int64_t)) {
  for (int64_t y = 0; y < to.height; ++y) {
    if (from.data != to.data) {
      std::memcpy(to.row(y), from.row(y), static_cast<size_t>(3 * to.width));
    }
    convert(to.row(y), to.width);
  }
}

}  // namespace

void cv_rgb_to_hls(ConstImageView rgb, ImageView hls) { convert_rows(rgb, hls, cv_pixels_to_hls); }
void cv_hls_to_rgb(ConstImageView hls, ImageView rgb) { convert_rows(hls, rgb, cv_pixels_to_rgb); }

}  // namespace fuelrail
