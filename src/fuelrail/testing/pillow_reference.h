// A readable reference for Pillow's resizing: the double arithmetic of Resample.c of Pillow 13 and,
// without antialias, that of torch's interpolate, one pixel at a time. Slow, for property tests;
// independent of fuelrail's own resampler.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::testing {

// An image that owns its pixels, in a buffer of exactly their size, so that ASan detects every
// access outside.
struct PlainImage {
  Size size;
  std::vector<uint8_t> bytes;

  explicit PlainImage(Size s) : size(s), bytes(static_cast<size_t>(s.height * s.width * 3)) {}
  uint8_t& at(int64_t y, int64_t x, int64_t c) {
    return bytes[static_cast<size_t>((y * size.width + x) * 3 + c)];
  }
  uint8_t at(int64_t y, int64_t x, int64_t c) const {
    return bytes[static_cast<size_t>((y * size.width + x) * 3 + c)];
  }
  ImageView view() { return {bytes.data(), size.height, size.width, 3, size.width * 3}; }
  ConstImageView view() const { return {bytes.data(), size.height, size.width, 3, size.width * 3}; }
  friend bool operator==(const PlainImage&, const PlainImage&) = default;
};

// Image.crop: pixels outside the image are black.
inline PlainImage pillow_crop(const PlainImage& from, Box box) {
  PlainImage to(box.size());
  for (int64_t y = 0; y < box.height; ++y) {
    for (int64_t x = 0; x < box.width; ++x) {
      const Box pixel{box.top + y, box.left + x, 1, 1};
      if (!pixel.inside(from.size)) continue;
      for (int64_t c = 0; c < 3; ++c) to.at(y, x, c) = from.at(pixel.top, pixel.left, c);
    }
  }
  return to;
}

inline PlainImage flipped(const PlainImage& from, bool horizontal, bool vertical) {
  PlainImage to(from.size);
  for (int64_t y = 0; y < from.size.height; ++y) {
    for (int64_t x = 0; x < from.size.width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        to.at(vertical ? from.size.height - 1 - y : y, horizontal ? from.size.width - 1 - x : x,
              c) = from.at(y, x, c);
      }
    }
  }
  return to;
}

inline PlainImage transposed(const PlainImage& from) {
  PlainImage to({from.size.width, from.size.height});
  for (int64_t y = 0; y < from.size.height; ++y) {
    for (int64_t x = 0; x < from.size.width; ++x) {
      for (int64_t c = 0; c < 3; ++c) to.at(x, y, c) = from.at(y, x, c);
    }
  }
  return to;
}

inline double pillow_filter(Interpolation interpolation, double a, double x) {
  if (x < 0.0) x = -x;
  if (interpolation == Interpolation::kBilinear) return x < 1.0 ? 1.0 - x : 0.0;
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

// The weight of each input pixel (many are 0) of one output pixel.
inline std::vector<double> pillow_weights(int64_t in_size, int64_t out_size, int64_t xx,
                                          Interpolation interpolation, bool antialias) {
  const double scale = static_cast<double>(in_size) / static_cast<double>(out_size);
  const double center = (static_cast<double>(xx) + 0.5) * scale;
  std::vector<double> weights(static_cast<size_t>(in_size));
  if (!antialias) {
    // torch: neighbours around centre - 0.5; outside the image, the edge is repeated.
    const int taps = interpolation == Interpolation::kBicubic ? 4 : 2;
    const auto first = static_cast<int64_t>(std::floor(center - 0.5)) - (taps / 2 - 1);
    for (int64_t i = first; i < first + taps; ++i) {
      weights[static_cast<size_t>(std::clamp<int64_t>(i, 0, in_size - 1))] +=
          pillow_filter(interpolation, -0.75, static_cast<double>(i) + 0.5 - center);
    }
    return weights;
  }
  const double filterscale = scale < 1.0 ? 1.0 : scale;
  const double support = (interpolation == Interpolation::kBicubic ? 2.0 : 1.0) * filterscale;
  const double ss = 1.0 / filterscale;
  const auto xmin = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
  const auto xmax = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), in_size);
  double ww = 0.0;
  for (int64_t x = xmin; x < xmax; ++x) {
    const double w =
        pillow_filter(interpolation, -0.5, (static_cast<double>(x) - center + 0.5) * ss);
    weights[static_cast<size_t>(x)] = w;
    ww += w;
  }
  for (double& w : weights) {
    if (ww != 0.0) w /= ww;
  }
  return weights;
}

inline PlainImage pillow_resize_width(const PlainImage& from, int64_t width,
                                      Interpolation interpolation, bool antialias) {
  if (from.size.width == width) return from;
  PlainImage to({from.size.height, width});
  for (int64_t xx = 0; xx < width; ++xx) {
    const std::vector<double> exact =
        pillow_weights(from.size.width, width, xx, interpolation, antialias);
    std::vector<std::pair<int64_t, int64_t>> fixed;  // pixel, weight
    for (int64_t x = 0; x < from.size.width; ++x) {
      const double w = exact[static_cast<size_t>(x)];
      const auto k = static_cast<int64_t>((w < 0 ? -0.5 : 0.5) + w * (1 << 22));
      if (k != 0) fixed.push_back({x, k});
    }
    for (int64_t y = 0; y < from.size.height; ++y) {
      for (int64_t c = 0; c < 3; ++c) {
        int64_t sum = 1 << 21;
        for (const auto& [x, k] : fixed) sum += from.at(y, x, c) * k;
        to.at(y, xx, c) = static_cast<uint8_t>(std::clamp<int64_t>(sum >> 22, 0, 255));
      }
    }
  }
  return to;
}

inline PlainImage pillow_nearest(const PlainImage& from, Size size) {
  PlainImage to(size);
  const double scale_y = static_cast<double>(from.size.height) / static_cast<double>(size.height);
  const double scale_x = static_cast<double>(from.size.width) / static_cast<double>(size.width);
  double yo = scale_y * 0.5;
  for (int64_t y = 0; y < size.height; ++y, yo += scale_y) {
    double xo = scale_x * 0.5;
    for (int64_t x = 0; x < size.width; ++x, xo += scale_x) {
      for (int64_t c = 0; c < 3; ++c) {
        to.at(y, x, c) = from.at(static_cast<int64_t>(yo), static_cast<int64_t>(xo), c);
      }
    }
  }
  return to;
}

// Image.resize(size, filter) of the whole image.
inline PlainImage pillow_resize(const PlainImage& from, Size size, Interpolation interpolation,
                                bool antialias = true) {
  if (from.size == size) return from;
  if (interpolation == Interpolation::kNearest) return pillow_nearest(from, size);
  const auto horizontally = [&](const PlainImage& image) {
    return pillow_resize_width(image, size.width, interpolation, antialias);
  };
  const auto vertically = [&](const PlainImage& image) {
    return transposed(
        pillow_resize_width(transposed(image), size.height, interpolation, antialias));
  };
  // Since Pillow 13.
  const bool vertical_first = antialias && from.size.height > size.height &&
                              from.size.height - size.height > 2 * (from.size.width - size.width);
  return vertical_first ? horizontally(vertically(from)) : vertically(horizontally(from));
}

}  // namespace fuelrail::testing
