#include "fuelrail/pack/image/quality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace fuelrail::pack {
namespace {

struct Picture {
  Picture(Size size, int64_t channels, uint8_t value = 0)
      : values(static_cast<size_t>(size.height * size.width * channels), value),
        view{values.data(), size.height, size.width, channels, size.width * channels} {}
  Picture& operator=(Picture&&) = delete;

  std::vector<uint8_t> values;
  ImageView view;
};

ImageQuality quality_of(const Picture& a, const Picture& b) {
  return QualityMeter().compare(a.view, b.view);
}

// The two pictures of the script below.
void fill_pair(Picture& a, Picture& b) {
  for (int64_t y = 0; y < a.view.height; ++y) {
    for (int64_t x = 0; x < a.view.width; ++x) {
      for (int64_t k = 0; k < a.view.channels; ++k) {
        const int64_t value = (x * 7 + y * 13 + k * 29 + x * y) % 256;
        const int64_t other = value + (x * 5 + y * 3 + k) % 17 - 8;
        a.view.row(y)[x * a.view.channels + k] = static_cast<uint8_t>(value);
        b.view.row(y)[x * a.view.channels + k] =
            static_cast<uint8_t>(std::clamp<int64_t>(other, 0, 255));
      }
    }
  }
}

TEST(Quality, equal_images_have_the_highest) {
  for (const Size size : {Size{20, 30}, Size{1, 1}, Size{5, 100}}) {
    const Picture a(size, 3, 77);
    EXPECT_EQ(quality_of(a, a).psnr, kHighestPsnr);
    EXPECT_EQ(quality_of(a, a).ssim, 1);
  }
}

TEST(Quality, known_errors_give_known_decibels) {
  const Picture grey({20, 30}, 1, 100);
  EXPECT_DOUBLE_EQ(quality_of(grey, Picture({20, 30}, 1, 110)).psnr, 10 * std::log10(650.25));
  const Picture black({4, 4}, 3, 0);
  EXPECT_EQ(quality_of(black, Picture({4, 4}, 3, 255)).psnr, 0);
  Picture one({4, 4}, 3, 0);
  one.values[7] = 12;  // one of 48 values: the mean squared error is 3
  EXPECT_DOUBLE_EQ(quality_of(black, one).psnr, 10 * std::log10(65025.0 / 3));
  Picture tiny_error({1000, 500}, 3, 0);
  tiny_error.values[0] = 1;
  EXPECT_EQ(quality_of(Picture({1000, 500}, 3, 0), tiny_error).psnr, kHighestPsnr);
}

TEST(Quality, of_flat_images_is_the_similarity_of_their_means) {
  const double c1 = 2.55 * 2.55;
  EXPECT_NEAR(quality_of(Picture({20, 30}, 1, 100), Picture({20, 30}, 1, 110)).ssim,
              (2 * 100 * 110 + c1) / (100 * 100 + 110 * 110 + c1), 1e-9);
}

// Computed with NumPy 2:
//   def pair(h, w, c):
//       y, x, k = np.mgrid[:h, :w, :c]
//       a = (x * 7 + y * 13 + k * 29 + x * y) % 256
//       return a, np.clip(a + (x * 5 + y * 3 + k) % 17 - 8, 0, 255)
//   def weights(side):
//       n = min(side, 11)
//       g = np.exp(-(np.arange(n) - (n - 1) / 2) ** 2 / 4.5)
//       return g / g.sum()
//   def ssim(a, b):
//       f = np.array([.299, .587, .114])
//       x, y = (i @ f if i.shape[2] == 3 else i[..., 0] * 1. for i in (a, b))
//       g = np.outer(weights(x.shape[0]), weights(x.shape[1]))
//       win = lambda i: np.tensordot(np.lib.stride_tricks.sliding_window_view(i, g.shape), g, 2)
//       mx, my = win(x), win(y)
//       v = win(x * x) - mx * mx + win(y * y) - my * my
//       c = win(x * y) - mx * my
//       c1, c2 = 2.55 ** 2, 7.65 ** 2
//       return ((2*mx*my + c1) * (2*c + c2) / ((mx*mx + my*my + c1) * (v + c2))).mean()
//   a, b = pair(13, 17, 3)
//   10 * np.log10(255 ** 2 / ((a - b) ** 2).mean()), ssim(a, b)
TEST(Quality, equals_that_of_the_formulas_in_numpy) {
  struct Case {
    Size size;
    int64_t channels;
    double psnr, ssim;
  };
  QualityMeter meter;
  for (const Case& of : {Case{{13, 17}, 3, 34.410797142440146, 0.9947738551593595},
                         Case{{40, 30}, 1, 34.37919905560487, 0.9971478869769203},
                         Case{{3, 40}, 3, 34.492595353444734, 0.9892459599052684},
                         Case{{1, 1}, 3, 33.6078268987328, 0.975033221395653}}) {
    Picture a(of.size, of.channels), b(of.size, of.channels);
    fill_pair(a, b);
    const ImageQuality quality = meter.compare(a.view, b.view);
    EXPECT_NEAR(quality.psnr, of.psnr, 1e-10);
    EXPECT_NEAR(quality.ssim, of.ssim, 1e-10);
  }
}

}  // namespace
}  // namespace fuelrail::pack
