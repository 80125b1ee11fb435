#include "fuelrail/pack/image/quality.h"

#include <algorithm>
#include <cmath>

#include "fuelrail/transform/portable_math.h"

namespace fuelrail::pack {
namespace {

constexpr int64_t kLongestWindow = 11;
constexpr double kSigma = 1.5;
constexpr double kC1 = 0.01 * 255 * (0.01 * 255);
constexpr double kC2 = 0.03 * 255 * (0.03 * 255);

double psnr_of(ConstImageView original, ConstImageView decoded) {
  const int64_t row_values = original.width * original.channels;
  uint64_t sum = 0;
  for (int64_t y = 0; y < original.height; ++y) {
    const uint8_t* const a = original.row(y);
    const uint8_t* const b = decoded.row(y);
    for (int64_t x = 0; x < row_values; ++x) {
      const int difference = a[x] - b[x];
      sum += static_cast<uint64_t>(difference * difference);
    }
  }
  if (sum == 0) return kHighestPsnr;
  const double mean = static_cast<double>(sum) / static_cast<double>(original.height * row_values);
  return std::min(10 * std::log10(255.0 * 255.0 / mean), kHighestPsnr);
}

// The weights of a window along a side of the image.
void set_weights(int64_t side, std::vector<double>& weights) {
  const int64_t length = std::min(side, kLongestWindow);
  weights.resize(static_cast<size_t>(length));
  double sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    const double distance = static_cast<double>(i) - static_cast<double>(length - 1) / 2;
    double& weight = weights[static_cast<size_t>(i)];
    weight = portable_exp(-distance * distance / (2 * kSigma * kSigma));
    sum += weight;
  }
  for (double& weight : weights) weight /= sum;
}

double luma_of(const uint8_t* pixel, int64_t channels) {
  if (channels == 1) return pixel[0];
  return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
}

// to[i] += weight * from[i]
void add_weighted(double weight, const double* from, std::vector<double>& to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += weight * from[i];
}

}  // namespace

ImageQuality QualityMeter::compare(ConstImageView original, ConstImageView decoded) {
  set_weights(original.width, across_);
  set_weights(original.height, down_);
  const size_t windows = static_cast<size_t>(original.width) - across_.size() + 1;
  filtered_.resize(down_.size());
  for (size_t i = 0; i < kMeans; ++i) {
    values_[i].resize(static_cast<size_t>(original.width));
    for (auto& row : filtered_) row[i].resize(windows);
    means_[i].resize(windows);
  }
  const auto rows = static_cast<int64_t>(down_.size());
  double sum = 0;
  for (int64_t y = 0; y < original.height; ++y) {
    filter_row(original, decoded, y);
    if (y >= rows - 1) sum += ssim_of_row(y);
  }
  const double all = static_cast<double>(windows) * static_cast<double>(original.height - rows + 1);
  return {.psnr = psnr_of(original, decoded), .ssim = sum / all};
}

void QualityMeter::filter_row(ConstImageView original, ConstImageView decoded, int64_t y) {
  const uint8_t* a = original.row(y);
  const uint8_t* b = decoded.row(y);
  for (size_t i = 0; i < values_[0].size(); ++i) {
    const double luma_a = luma_of(a, original.channels);
    const double luma_b = luma_of(b, decoded.channels);
    values_[0][i] = luma_a;
    values_[1][i] = luma_b;
    values_[2][i] = luma_a * luma_a + luma_b * luma_b;
    values_[3][i] = luma_a * luma_b;
    a += original.channels;
    b += decoded.channels;
  }
  auto& row = filtered_[static_cast<size_t>(y) % filtered_.size()];
  for (size_t i = 0; i < kMeans; ++i) {
    std::ranges::fill(row[i], 0);
    for (size_t k = 0; k < across_.size(); ++k) {
      add_weighted(across_[k], values_[i].data() + k, row[i]);
    }
  }
}

// The sum over the windows whose last row is `last`.
double QualityMeter::ssim_of_row(int64_t last) {
  for (size_t i = 0; i < kMeans; ++i) {
    std::ranges::fill(means_[i], 0);
    for (size_t k = 0; k < down_.size(); ++k) {
      const size_t row = (static_cast<size_t>(last) + 1 + k) % down_.size();
      add_weighted(down_[k], filtered_[row][i].data(), means_[i]);
    }
  }
  double sum = 0;
  for (size_t i = 0; i < means_[0].size(); ++i) {
    const double x = means_[0][i], y = means_[1][i];
    const double variances = means_[2][i] - x * x - y * y;
    const double covariance = means_[3][i] - x * y;
    sum += (2 * x * y + kC1) * (2 * covariance + kC2) / ((x * x + y * y + kC1) * (variances + kC2));
  }
  return sum;
}

}  // namespace fuelrail::pack
