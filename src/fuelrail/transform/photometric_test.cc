#include "fuelrail/transform/photometric.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/pillow_reference.h"

namespace fuelrail {
namespace {

using testing::PlainImage;

// torchvision's formulas for one pixel, with every operation in float32.
uint8_t to_level(float x) { return static_cast<uint8_t>(std::min(std::max(x, 0.0f), 255.0f)); }

float grey_of(const uint8_t* p) {
  const float sum = static_cast<float>(p[0]) * 0.2989f + static_cast<float>(p[1]) * 0.587f;
  return std::floor(sum + static_cast<float>(p[2]) * 0.114f);
}

void turned(const uint8_t* p, float turn, uint8_t* to) {
  const float r = static_cast<float>(p[0]) / 255, g = static_cast<float>(p[1]) / 255,
              b = static_cast<float>(p[2]) / 255;
  const float most = std::max({r, g, b}), least = std::min({r, g, b});
  const bool grey = most == least;
  const float s = (most - least) / (grey ? 1 : most);
  const float range = grey ? 1 : most - least;
  const float rc = (most - r) / range, gc = (most - g) / range, bc = (most - b) / range;
  float h = 4 + gc - rc;
  if (most == g) h = 2 + rc - bc;
  if (most == r) h = bc - gc;
  h = std::fmod(h / 6 + 1, 1.0f);
  h = h + turn;
  h = h < 0 ? h + 1 : std::fmod(h, 1.0f);
  const float h6 = h * 6;
  const float sector = std::floor(h6);
  const float f = h6 - sector;
  const auto unit = [](float x) { return std::clamp(x, 0.0f, 1.0f); };
  const float p_ = unit(most * (1 - s)), q = unit(most * (1 - s * f)),
              t = unit(most * (1 - s * (1 - f)));
  const float sectors[6][3] = {{most, t, p_}, {q, most, p_}, {p_, most, t},
                               {p_, q, most}, {t, p_, most}, {most, p_, q}};
  for (int c = 0; c < 3; ++c) {
    to[c] = static_cast<uint8_t>(sectors[static_cast<int>(sector) % 6][c] * 255.999f);
  }
}

struct Change {
  std::string name;
  std::function<void(ImageView)> make;
  std::function<void(const PlainImage&, const uint8_t*, uint8_t*)> expected;  // image, pixel, to
};

float mean_grey(const PlainImage& image) {
  double sum = 0;
  for (size_t i = 0; i < image.bytes.size(); i += 3) {
    sum += static_cast<double>(grey_of(&image.bytes[i]));
  }
  return static_cast<float>(sum / static_cast<double>(image.bytes.size() / 3));
}

std::vector<Change> changes() {
  std::vector<Change> all;
  for (const double factor : {0.0, 0.3, 0.9999, 1.0, 1.7, 300.0}) {
    const auto ratio = static_cast<float>(factor), rest = static_cast<float>(1.0 - factor);
    const std::string text = " " + std::to_string(factor);
    all.push_back({"brightness" + text, [=](ImageView i) { adjust_brightness(i, factor); },
                   [=](const PlainImage&, const uint8_t* p, uint8_t* to) {
                     for (int c = 0; c < 3; ++c) to[c] = to_level(ratio * static_cast<float>(p[c]));
                   }});
    all.push_back({"contrast" + text, [=](ImageView i) { adjust_contrast(i, factor); },
                   [=](const PlainImage& image, const uint8_t* p, uint8_t* to) {
                     const float mean = mean_grey(image);
                     for (int c = 0; c < 3; ++c) {
                       to[c] = to_level(ratio * static_cast<float>(p[c]) + rest * mean);
                     }
                   }});
    all.push_back({"saturation" + text, [=](ImageView i) { adjust_saturation(i, factor); },
                   [=](const PlainImage&, const uint8_t* p, uint8_t* to) {
                     for (int c = 0; c < 3; ++c) {
                       to[c] = to_level(ratio * static_cast<float>(p[c]) + rest * grey_of(p));
                     }
                   }});
  }
  for (const double turn : {-0.5, -0.1, -1e-9, 0.0, 0.02, 0.25, 0.5}) {
    all.push_back({"hue " + std::to_string(turn), [=](ImageView i) { adjust_hue(i, turn); },
                   [=](const PlainImage&, const uint8_t* p, uint8_t* to) {
                     turned(p, static_cast<float>(turn), to);
                   }});
  }
  all.push_back({"grayscale", [](ImageView i) { to_grayscale(i); },
                 [](const PlainImage&, const uint8_t* p, uint8_t* to) {
                   to[0] = to[1] = to[2] = static_cast<uint8_t>(grey_of(p));
                 }});
  return all;
}

// Noise, greys, full colours.
PlainImage colours(Size size, uint32_t seed) {
  PlainImage image(size);
  std::mt19937 random(seed);
  for (size_t i = 0; i < image.bytes.size(); i += 3) {
    const uint32_t kind = random() % 4;
    for (size_t c = 0; c < 3; ++c) {
      const auto noise = static_cast<uint8_t>(random());
      image.bytes[i + c] =
          kind == 0 ? image.bytes[i] : (kind == 1 ? static_cast<uint8_t>(noise % 2 * 255) : noise);
    }
  }
  return image;
}

PlainImage expected_of(const Change& change, const PlainImage& image) {
  PlainImage to(image.size);
  for (size_t i = 0; i < image.bytes.size(); i += 3) {
    change.expected(image, &image.bytes[i], &to.bytes[i]);
  }
  return to;
}

TEST(Photometric, every_change_has_torchvisions_bits_on_every_simd_target) {
  std::vector<PlainImage> images;
  for (const Size size : {Size{1, 1}, Size{3, 5}, Size{4, 4}, Size{7, 31}, Size{40, 50}}) {
    images.push_back(colours(size, 7));
  }
  for (const Change& change : changes()) {
    SCOPED_TRACE(change.name);
    for (const PlainImage& image : images) {
      const PlainImage expected = expected_of(change, image);
      testing::on_each_simd_target([&] {
        PlainImage made = image;
        change.make(made.view());
        ASSERT_EQ(made, expected) << image.size.height << " x " << image.size.width;
      });
    }
  }
}

TEST(Photometric, only_the_pixels_of_a_view_change) {
  for (const Change& change : changes()) {
    SCOPED_TRACE(change.name);
    const PlainImage image = colours({9, 20}, 3);
    const Box box{2, 1, 5, 17};
    PlainImage made = image;
    change.make(made.view().crop(box));
    const PlainImage expected = expected_of(change, testing::pillow_crop(image, box));
    EXPECT_EQ(testing::pillow_crop(made, box), expected);
    PlainImage rest = image;
    for (int64_t y = 0; y < box.height; ++y) {
      for (int64_t x = 0; x < box.width; ++x) {
        for (int64_t c = 0; c < 3; ++c) {
          rest.at(box.top + y, box.left + x, c) = expected.at(y, x, c);
        }
      }
    }
    EXPECT_EQ(made, rest);
  }
}

TEST(Photometric, factor_one_is_the_image_and_white_becomes_grey_254) {
  const PlainImage image = colours({8, 9}, 5);
  PlainImage made = image;
  adjust_brightness(made.view(), 1);
  adjust_contrast(made.view(), 1);
  adjust_saturation(made.view(), 1);
  EXPECT_EQ(made, image);
  PlainImage white({1, 1});
  white.bytes = {255, 255, 255};
  to_grayscale(white.view());
  EXPECT_EQ(white.bytes[0], 254);  // as on tensors of torchvision: its constants sum to 0.9999
}

TEST(Photometric, every_colour_survives_a_turn_of_the_hue_by_nothing_up_to_one_level) {
  PlainImage all({64 * 64, 64});
  size_t i = 0;
  for (uint32_t rgb = 0; rgb < 64 * 64 * 64; ++rgb) {
    for (const uint32_t shift : {0u, 6u, 12u}) {
      all.bytes[i++] = static_cast<uint8_t>((rgb >> shift) % 64 * 255 / 63);
    }
  }
  PlainImage made = all;
  adjust_hue(made.view(), 0);
  int most = 0;
  for (size_t k = 0; k < all.bytes.size(); ++k) {
    most = std::max(most, std::abs(all.bytes[k] - made.bytes[k]));
  }
  EXPECT_LE(most, 1);
}

}  // namespace
}  // namespace fuelrail
