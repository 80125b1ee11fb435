// Measures how much a decoded image differs from the pixels that were encoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"

namespace fuelrail::pack {

// The PSNR of equal images, and the highest PSNR of others.
inline constexpr double kHighestPsnr = 100;

struct ImageQuality {
  // Peak signal-to-noise ratio in dB: 10 log10(255^2 / MSE), at most kHighestPsnr. The mean squared
  // error is that of all values of all channels together.
  double psnr = 0;
  // Mean structural similarity of the luma 0.299 R + 0.587 G + 0.114 B, which is not rounded; 1 for
  // equal images. Source: Wang, Bovik, Sheikh and Simoncelli, "Image quality assessment: from error
  // visibility to structural similarity", IEEE Transactions on Image Processing 13(4), 2004: K1 =
  // 0.01, K2 = 0.03, L = 255, a Gaussian window of 11 x 11 with a standard deviation of 1.5, the
  // mean of all windows that are inside the image. If a side of the image is shorter than 11, the
  // window has the length of this side.
  double ssim = 0;
};

// Threads: one meter for each thread; it keeps its working memory between calls.
class QualityMeter {
 public:
  // Requires: equal, non-empty sizes; equal numbers of channels, 1 (which is the luma) or 3.
  ImageQuality compare(ConstImageView original, ConstImageView decoded);

 private:
  // In a window, weighted means of the luma x of the original and the luma y of the decoded image:
  // of x, y, x^2 + y^2 and x y.
  static constexpr size_t kMeans = 4;

  void filter_row(ConstImageView original, ConstImageView decoded, int64_t y);
  double ssim_of_row(int64_t last);

  std::vector<double> across_;                      // the window's weights, left to right
  std::vector<double> down_;                        // and top to bottom
  std::array<std::vector<double>, kMeans> values_;  // of a row
  std::vector<std::array<std::vector<double>, kMeans>> filtered_;  // of as many rows as `down_`
  std::array<std::vector<double>, kMeans> means_;                  // of the windows in one row
};

// An encoded still, compared with its image.
struct MeasuredStill {
  Size size{};
  uint64_t source_bytes = 0;  // of the image in its source, for example of its file
  uint64_t bytes = 0;         // of the still
  ImageQuality quality{};
};

}  // namespace fuelrail::pack
