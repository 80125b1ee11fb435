// Binds OpenCV's resizing, warping and colour conversions. The public API is fuelrail.mxnet.image.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <algorithm>
#include <string>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/transform/cv_color.h"
#include "fuelrail/transform/cv_resize.h"
#include "fuelrail/transform/cv_warp.h"

namespace fuelrail::python {
namespace {

using Pixels = nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

std::string shape_text(int64_t height, int64_t width, int64_t channels) {
  return "(" + std::to_string(height) + ", " + std::to_string(width) + ", " +
         std::to_string(channels) + ")";
}

ConstImageView view_of(const Pixels& pixels) {
  const ConstImageView view{pixels.data(), static_cast<int64_t>(pixels.shape(0)),
                            static_cast<int64_t>(pixels.shape(1)),
                            static_cast<int64_t>(pixels.shape(2)),
                            static_cast<int64_t>(pixels.shape(1) * pixels.shape(2))};
  const bool known = view.channels == 1 || view.channels == 3 || view.channels == 4;
  if (!known || view.height == 0 || view.width == 0) {
    throw InvalidArgumentError("the pixels have an invalid shape",
                               {.expected = "(height, width, channels) with 1, 3 or 4 channels",
                                .found = shape_text(view.height, view.width, view.channels)});
  }
  return view;
}

NewImage new_pixels(Size size, int64_t channels) {
  constexpr int64_t kMostBytes = int64_t{1} << 40;
  if (size.height <= 0 || size.width <= 0 || size.height > kMostBytes / 4 / size.width) {
    throw InvalidArgumentError("the size of the result is out of range",
                               {.expected = "a height and width of at least 1, and at most 2^38 "
                                            "pixels in total",
                                .found = shape_text(size.height, size.width, channels)});
  }
  return make_image(size, channels);
}

CvInterpolation interpolation_of(int number) {
  if (number < 0 || number > 4) {
    throw InvalidArgumentError(
        "unknown interpolation",
        {.expected = "0 (nearest), 1 (linear), 2 (cubic), 3 (area) or 4 (Lanczos)",
         .found = std::to_string(number)});
  }
  return static_cast<CvInterpolation>(number);
}

Array resize(const Pixels& pixels, int64_t height, int64_t width, int interpolation) {
  const ConstImageView from = view_of(pixels);
  const CvInterpolation chosen = interpolation_of(interpolation);
  const GilReleased released;
  NewImage to = new_pixels({height, width}, from.channels);
  CvResizer().resize(from, to.view, chosen);
  return to.array;
}

Array warp_affine(const Pixels& pixels, const std::array<double, 6>& matrix, int64_t height,
                  int64_t width, int interpolation, uint8_t fill) {
  const ConstImageView from = view_of(pixels);
  const CvInterpolation chosen = interpolation_of(interpolation);
  constexpr int64_t kMostSide = 32766;
  if (std::max(from.height, from.width) > kMostSide) {
    throw InvalidArgumentError(
        "the image is too large to warp",
        {.expected = "a height and width of at most " + std::to_string(kMostSide),
         .found = shape_text(from.height, from.width, from.channels)});
  }
  const GilReleased released;
  NewImage to = new_pixels({height, width}, from.channels);
  cv_warp_affine(from, {matrix}, chosen, fill, to.view);
  return to.array;
}

template <void (*kConvert)(ConstImageView, ImageView)>
Array converted(const Pixels& pixels) {
  const ConstImageView from = view_of(pixels);
  if (from.channels != 3) throw InvalidArgumentError("the image does not have three channels");
  const GilReleased released;
  NewImage to = new_pixels(from.size(), 3);
  kConvert(from, to.view);
  return to.array;
}

}  // namespace

void bind_cv(nb::module_& module) {
  module.def("cv_resize", resize, nb::arg("pixels"), nb::arg("height"), nb::arg("width"),
             nb::arg("interpolation"),
             "Resizes a uint8 image (height, width, channels) like cv2.resize.");
  module.def("cv_warp_affine", warp_affine, nb::arg("pixels"), nb::arg("matrix"), nb::arg("height"),
             nb::arg("width"), nb::arg("interpolation"), nb::arg("fill"),
             "Warps a uint8 image like cv2.warpAffine with a constant border.");
  module.def("cv_rgb_to_hls", converted<cv_rgb_to_hls>, nb::arg("pixels"),
             "Converts a uint8 image like cv2.cvtColor with COLOR_RGB2HLS.");
  module.def("cv_hls_to_rgb", converted<cv_hls_to_rgb>, nb::arg("pixels"),
             "Converts a uint8 image like cv2.cvtColor with COLOR_HLS2RGB.");
}

}  // namespace fuelrail::python
