#include "fuelrail/benzina/warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/transform/portable_math.h"

namespace fuelrail::benzina {
namespace {

constexpr double kMostDegrees = 1e9;  // of portable_sine_cosine
constexpr double kLeastFactor = 1e-9;
constexpr double kMostFactor = 1e9;

// Also false for a NaN.
bool inside(double value, double least, double most) { return value >= least && value <= most; }

[[noreturn]] void reject(const std::string& name, std::string expected, std::string found) {
  throw InvalidArgumentError(fmt::format("`{}` is out of range", name),
                             {.expected = std::move(expected), .found = std::move(found)});
}

void check_number(const std::string& name, double value, double least, double most) {
  if (inside(value, least, most)) return;
  reject(name, fmt::format("{} to {}", least, most), fmt::format("{}", value));
}

void check_both(const std::string& name, const std::array<double, 2>& values, double least,
                double most) {
  for (const double value : values) check_number(name, value, least, most);
}

void check_size(const std::string& name, Size size) {
  constexpr int64_t kMostSide = std::numeric_limits<int32_t>::max();
  if (std::min(size.height, size.width) >= 1 && std::max(size.height, size.width) <= kMostSide) {
    return;
  }
  reject(name, fmt::format("a width and a height of 1 to {}", kMostSide),
         fmt::format("width {}, height {}", size.width, size.height));
}

void check_sides(const Crop& crop) {
  if (crop.width > 0 && crop.height > 0) return;
  reject("crop", "a width and a height above 0",
         fmt::format("width {}, height {}", crop.width, crop.height));
}

double as_double(int64_t side) { return static_cast<double>(side); }

// The size of the box around the rotated crop.
struct Extent {
  double width = 0, height = 0;
};
Extent rotated(const Crop& crop, SineCosine angle) {
  const double sine = std::fabs(angle.sine);
  const double cosine = std::fabs(angle.cosine);
  return {crop.width * cosine + crop.height * sine, crop.width * sine + crop.height * cosine};
}

// The largest central crop with a ratio in the interval. Its sides are whole pixels, as Benzina's,
// and at least 1.
Crop largest_crop(Size image, const std::array<double, 2>& ratio) {
  const double width = as_double(image.width);
  const double height = as_double(image.height);
  if (width / height < ratio[0])
    return {0, 0, width, std::max(1.0, round_half_even(width / ratio[0]))};
  if (width / height > ratio[1]) {
    return {0, 0, std::max(1.0, round_half_even(height * ratio[1])), height};
  }
  return {0, 0, width, height};
}

std::array<double, 2> logarithms(const std::array<double, 2>& values) {
  return {portable_log(values[0]), portable_log(values[1])};
}

double draw_exp(const std::array<double, 2>& logs, RandomState& random) {
  return portable_exp(random.uniform(logs[0], logs[1]));
}

double draw_within(double most, RandomState& random) { return random.uniform(-most, most); }

}  // namespace

Homography product(const Homography& first, const Homography& second) {
  Homography both{};
  for (size_t row = 0; row < 9; row += 3) {
    for (size_t column = 0; column < 3; ++column) {
      both[row + column] = first[row] * second[column] + first[row + 1] * second[column + 3] +
                           first[row + 2] * second[column + 6];
    }
  }
  return both;
}

void check_warp(const Homography& warp) {
  Homography m{};
  for (size_t i = 0; i < m.size(); ++i) {
    constexpr double kMost = std::numeric_limits<float>::max();
    if (!inside(warp[i], -kMost, kMost)) {
      throw InvalidArgumentError("the warp is invalid", {.expected = "nine finite numbers",
                                                         .found = fmt::format("{}", warp[i])});
    }
    m[i] = static_cast<float>(warp[i]);
  }
  // The determinant is 0 if it is within its own rounding errors.
  double determinant = 0;
  double magnitude = 0;
  for (size_t i = 0; i < 3; ++i) {
    const size_t j = (i + 1) % 3;
    const size_t k = (i + 2) % 3;
    const double down = m[i] * m[3 + j] * m[6 + k];
    const double up = m[i] * m[3 + k] * m[6 + j];
    determinant += down - up;
    magnitude += std::fabs(down) + std::fabs(up);
  }
  if (!(std::fabs(determinant) > 8 * std::numeric_limits<double>::epsilon() * magnitude)) {
    throw InvalidArgumentError(
        "the warp is invalid",
        {.expected = "a matrix that has an inverse",
         .found = fmt::format("{}, {}, {} / {}, {}, {} / {}, {}, {}", warp[0], warp[1], warp[2],
                              warp[3], warp[4], warp[5], warp[6], warp[7], warp[8])});
  }
}

Homography affine_matrix(Size image, Size output, const AffineWarp& warp) {
  check_size("in_shape", image);
  check_size("out_shape", output);
  check_number("degrees", warp.degrees, -kMostDegrees, kMostDegrees);
  const double width = as_double(output.width);
  const double height = as_double(output.height);
  const Crop crop = warp.crop.value_or(Crop{0, 0, width, height});
  const SineCosine angle = portable_sine_cosine(warp.degrees);
  double x_scale = 1;
  double y_scale = 1;
  if (warp.resize) {
    check_sides(crop);
    const Extent extent = rotated(crop, angle);
    x_scale = extent.width / width;
    y_scale = extent.height / height;
    if (warp.keep_ratio) x_scale = y_scale = std::min(x_scale, y_scale);
  }
  Homography m = {angle.cosine * x_scale,
                  -angle.sine * y_scale,
                  0,
                  angle.sine * x_scale,
                  angle.cosine * y_scale,
                  0,
                  0,
                  0,
                  1};
  const double x = warp.translate[0] - (width - 1) / 2;
  const double y = warp.translate[1] - (height - 1) / 2;
  m[2] = m[0] * x + m[1] * y + crop.x;
  m[5] = m[3] * x + m[4] * y + crop.y;
  for (size_t i = 0; i < 3; ++i) {
    if (warp.flip_h) m[i] = -m[i];
    if (warp.flip_v) m[3 + i] = -m[3 + i];
  }
  m[2] += (as_double(image.width) - 1) / 2;
  m[5] += (as_double(image.height) - 1) / 2;
  for (double& number : m) number += 0.0;  // -0 becomes 0
  check_warp(m);
  return m;
}

SimilarityWarp::SimilarityWarp(const Similarity& intervals) : intervals_(intervals) {
  check_both("scale", intervals.scale, kLeastFactor, kMostFactor);
  if (intervals.ratio) check_both("ratio", *intervals.ratio, kLeastFactor, kMostFactor);
  check_both("degrees", intervals.degrees, -kMostDegrees, kMostDegrees);
  check_both("translate", intervals.translate, 0, 1);
  check_number("flip_h", intervals.flip_h, 0, 1);
  check_number("flip_v", intervals.flip_v, 0, 1);
  if (intervals.ratio || intervals.scale != Similarity().scale) intervals_.resize = true;
  log_scale_ = logarithms(intervals.scale);
  if (!intervals_.ratio) return;
  if ((*intervals_.ratio)[0] > (*intervals_.ratio)[1]) {
    std::swap((*intervals_.ratio)[0], (*intervals_.ratio)[1]);
  }
  log_ratio_ = logarithms(*intervals_.ratio);
}

Crop SimilarityWarp::draw_crop(Size image, Size output, RandomState& random) const {
  const double width = as_double(image.width);
  const double height = as_double(image.height);
  const double scale = draw_exp(log_scale_, random);
  Crop crop{0, 0, as_double(output.width), as_double(output.height)};
  if (intervals_.ratio) {
    const double area = scale * (width * height);
    int tries = 10;
    do {
      if (tries-- == 0) return largest_crop(image, *intervals_.ratio);
      const double ratio = draw_exp(log_ratio_, random);
      crop = {0, 0, std::sqrt(area * ratio), std::sqrt(area / ratio)};
    } while (crop.width > width || crop.height > height);
  } else if (intervals_.resize) {
    crop = {0, 0, width * std::sqrt(scale), height * std::sqrt(scale)};
  }
  if (intervals_.random_crop) {
    crop.x = draw_within(std::max(0.0, (width - crop.width) / 2), random);
    crop.y = draw_within(std::max(0.0, (height - crop.height) / 2), random);
  }
  return crop;
}

Homography SimilarityWarp::draw(Size image, Size output, RandomState& random) const {
  check_size("in_shape", image);
  check_size("out_shape", output);
  AffineWarp warp{.crop = draw_crop(image, output, random),
                  .resize = intervals_.resize,
                  .keep_ratio = intervals_.keep_ratio};
  warp.degrees = random.uniform(intervals_.degrees[0], intervals_.degrees[1]);
  warp.translate[0] = draw_within(intervals_.translate[0] * as_double(output.width), random);
  warp.translate[1] = draw_within(intervals_.translate[1] * as_double(output.height), random);
  warp.flip_h = random.random_sample() < intervals_.flip_h;
  warp.flip_v = random.random_sample() < intervals_.flip_v;
  return affine_matrix(image, output, warp);
}

}  // namespace fuelrail::benzina
