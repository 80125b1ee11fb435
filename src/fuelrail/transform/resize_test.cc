#include "fuelrail/transform/resize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/pillow_reference.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::PlainImage;

constexpr Interpolation kFilters[] = {Interpolation::kNearest, Interpolation::kBilinear,
                                      Interpolation::kBicubic};

PlainImage noise(Size size, uint32_t seed) {
  PlainImage image(size);
  std::mt19937 random(seed);
  // Half of the levels are extremes, so that overshoot and clipping happen.
  for (uint8_t& byte : image.bytes) {
    const auto bits = static_cast<uint32_t>(random());
    byte = static_cast<uint8_t>((bits & 0x300) == 0 ? 0 : (bits & 0x300) == 256 ? 255 : bits);
  }
  return image;
}

// Passes the resampler only the input that the step needs, in a buffer of exactly that size.
PlainImage resample(Resampler& resampler, const PlainImage& image, const ResampleStep& step) {
  const Box needed = needed_input(step);
  EXPECT_TRUE(needed.inside(image.size));
  const PlainImage input = testing::pillow_crop(image, needed);
  PlainImage to(step.window.size());
  std::fill(to.bytes.begin(), to.bytes.end(), uint8_t{77});
  resampler.resample(input.view(), needed, step, to.view());
  return to;
}

PlainImage reference(const PlainImage& image, const ResampleStep& step) {
  PlainImage part = testing::pillow_crop(image, step.box);
  part = testing::flipped(part, step.mirror_horizontal, step.mirror_vertical);
  part = testing::pillow_resize(part, step.scaled, step.interpolation, step.antialias);
  part = testing::flipped(part, step.mirror_horizontal, step.mirror_vertical);
  return testing::pillow_crop(part, step.window);
}

std::string describe(const ResampleStep& step) {
  std::ostringstream out;
  const auto put = [&](const Box& box) {
    out << box.top << "," << box.left << " " << box.height << "x" << box.width << "; ";
  };
  put(step.box);
  put(whole(step.scaled));
  put(step.window);
  out << static_cast<int>(step.interpolation) << step.antialias << step.mirror_horizontal
      << step.mirror_vertical;
  return out.str();
}

// Steps of every kind, on images with a height and width of up to `most` pixels.
class RandomSteps {
 public:
  explicit RandomSteps(uint32_t seed) : random_(seed) {}

  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  int64_t side(int64_t most) {
    // Often a small height or width, sometimes a large one.
    const int64_t limit = std::min<int64_t>(most, int64_t{1} << (1 + below(12)));
    return 1 + below(limit);
  }
  ResampleStep step(Size image, int64_t most_output) {
    ResampleStep step;
    step.box.height = 1 + below(image.height);
    step.box.width = 1 + below(image.width);
    step.box.top = below(image.height - step.box.height + 1);
    step.box.left = below(image.width - step.box.width + 1);
    step.scaled = {side(most_output), side(most_output)};
    if (below(8) == 0) step.scaled.height = step.box.height;
    if (below(8) == 0) step.scaled.width = step.box.width;
    step.window = whole(step.scaled);
    if (below(3) == 0) {
      step.window = {below(step.scaled.height), below(step.scaled.width),
                     1 + below(step.scaled.height), 1 + below(step.scaled.width)};
      if (below(2) == 0) step.window.top -= below(9);
      if (below(2) == 0) step.window.left -= below(9);
    }
    step.interpolation = kFilters[below(9) == 0 ? 0 : 1 + below(2)];
    step.antialias = below(4) != 0;
    step.mirror_horizontal = below(4) == 0;
    step.mirror_vertical = below(4) == 0;
    return step;
  }

 private:
  std::mt19937 random_;
};

#ifdef FUELRAIL_SANITIZED
constexpr int kCases = 15;  // unoptimised
#else
constexpr int kCases = 60;
#endif

TEST(Resampler, equals_pillow_to_the_bit_on_every_target) {
  RandomSteps random(1);
  for (int i = 0; i < 10 * kCases; ++i) {
    const PlainImage image = noise({random.side(200), random.side(200)}, static_cast<uint32_t>(i));
    const ResampleStep step = random.step(image.size, 150);
    SCOPED_TRACE(describe(step));
    const PlainImage expected = reference(image, step);
    testing::on_each_simd_target([&] {
      Resampler resampler;
      ASSERT_EQ(resample(resampler, image, step), expected);
    });
    if (HasFatalFailure()) return;
  }
}

TEST(Resampler, equals_pillow_at_large_scales_and_sizes) {
  RandomSteps random(2);
  Resampler resampler;  // one for all: tables and rows are reused
  for (int i = 0; i < kCases; ++i) {
    const bool wide = i % 2 == 0;
    const Size size = wide ? Size{1 + random.below(60), 1 + random.below(3000)}
                           : Size{1 + random.below(3000), 1 + random.below(60)};
    const PlainImage image = noise(size, static_cast<uint32_t>(i));
    ResampleStep step{.box = whole(size), .scaled = {}, .window = {}};
    step.scaled = {std::max<int64_t>(1, size.height / (1 + random.below(30))),
                   std::max<int64_t>(1, size.width / (1 + random.below(30)))};
    if (i % 5 == 0) step.scaled = {size.height * 20 % 2000 + 1, size.width * 20 % 2000 + 1};
    step.window = whole(step.scaled);
    step.interpolation = kFilters[1 + i % 2];
    SCOPED_TRACE(describe(step));
    ASSERT_EQ(resample(resampler, image, step), reference(image, step));
  }
}

TEST(Resampler, one_pixel_grows_to_a_flat_image) {
  PlainImage image({1, 1});
  image.bytes = {10, 200, 255};
  Resampler resampler;
  for (const Interpolation filter : kFilters) {
    const PlainImage to = resample(resampler, image,
                                   {.box = {0, 0, 1, 1},
                                    .scaled = {33, 65},
                                    .window = {0, 0, 33, 65},
                                    .interpolation = filter});
    for (size_t i = 0; i < to.bytes.size(); ++i) ASSERT_EQ(to.bytes[i], image.bytes[i % 3]);
  }
}

TEST(Resampler, flat_images_stay_flat_at_every_level) {
  Resampler resampler;
  for (int level = 0; level < 256; level += 5) {
    PlainImage image({37, 53});
    std::fill(image.bytes.begin(), image.bytes.end(), static_cast<uint8_t>(level));
    for (const Interpolation filter : kFilters) {
      const PlainImage to = resample(resampler, image,
                                     {.box = {3, 2, 30, 50},
                                      .scaled = {17, 81},
                                      .window = {0, 0, 17, 81},
                                      .interpolation = filter});
      ASSERT_THAT(to.bytes, ::testing::Each(static_cast<uint8_t>(level)));
    }
  }
}

TEST(Resampler, window_beyond_the_scaled_image_is_black) {
  const PlainImage image = noise({10, 12}, 3);
  Resampler resampler;
  ResampleStep step{.box = {0, 0, 10, 12}, .scaled = {5, 6}, .window = {-3, -2, 11, 10}};
  EXPECT_EQ(resample(resampler, image, step), reference(image, step));
  step.window = {5, 0, 4, 6};  // no pixel of the image
  EXPECT_EQ(needed_input(step).size(), (Size{1, 1}));
  EXPECT_THAT(resample(resampler, image, step).bytes, ::testing::Each(0));
}

TEST(Resampler, rows_of_input_and_output_may_be_padded) {
  const PlainImage image = noise({40, 30}, 4);
  const ResampleStep step{.box = {0, 0, 40, 30}, .scaled = {21, 22}, .window = {0, 0, 21, 22}};
  std::vector<uint8_t> padded_input(40 * 100, uint8_t{99});
  for (int64_t y = 0; y < 40; ++y) {
    std::copy_n(image.view().row(y), 90, padded_input.data() + y * 100);
  }
  std::vector<uint8_t> padded_output(21 * 70, uint8_t{55});
  Resampler resampler;
  resampler.resample({padded_input.data(), 40, 30, 3, 100}, whole(image.size), step,
                     {padded_output.data(), 21, 22, 3, 70});
  const PlainImage expected = reference(image, step);
  for (int64_t y = 0; y < 21; ++y) {
    const uint8_t* row = padded_output.data() + y * 70;
    ASSERT_TRUE(std::equal(row, row + 66, expected.view().row(y))) << y;
    ASSERT_THAT(std::vector<uint8_t>(row + 66, row + 70), ::testing::Each(55)) << y;
  }
}

TEST(Resampler, more_input_than_needed_changes_nothing) {
  const PlainImage image = noise({60, 60}, 5);
  const ResampleStep step{.box = {7, 9, 41, 43}, .scaled = {20, 20}, .window = {5, 5, 10, 10}};
  PlainImage to({10, 10});
  Resampler resampler;
  resampler.resample(image.view(), whole(image.size), step, to.view());
  EXPECT_EQ(to, resample(resampler, image, step));
}

TEST(Resampler, an_image_of_bright_rows_does_not_overflow) {
  PlainImage image({2, 40000});
  std::fill(image.bytes.begin(), image.bytes.end(), uint8_t{255});
  Resampler resampler;
  testing::on_each_simd_target([&] {
    const PlainImage to = resample(
        resampler, image, {.box = whole(image.size), .scaled = {1, 1}, .window = {0, 0, 1, 1}});
    // The sum of 40,000 rounded weights differs slightly from 1, as in Pillow.
    EXPECT_EQ(
        to, reference(image, {.box = whole(image.size), .scaled = {1, 1}, .window = {0, 0, 1, 1}}));
  });
}

// tests/golden/resize has results of Pillow and torch, computed by make.py there.
struct GoldenCase {
  std::string filter;
  Box box;
  Size scaled;
  Box window;
  int most_difference = 0;
  int64_t offset = 0;
};

std::vector<uint8_t> read_bytes(const std::string& path) {
  const std::string contents = file_contents(path);
  return {contents.begin(), contents.end()};
}

std::vector<GoldenCase> read_cases(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::vector<GoldenCase> cases;
  GoldenCase c;
  while (in >> c.filter >> c.box.top >> c.box.left >> c.box.height >> c.box.width >>
         c.scaled.height >> c.scaled.width >> c.window.top >> c.window.left >> c.window.height >>
         c.window.width >> c.most_difference >> c.offset) {
    cases.push_back(c);
  }
  return cases;
}

TEST(Resampler, golden_images_of_pillow_and_torch) {
  const std::string folder = FUELRAIL_SOURCE_DIR "/tests/golden/resize/";
  PlainImage image({97, 131});
  image.bytes = read_bytes(folder + "input.rgb");
  ASSERT_EQ(image.bytes.size(), 97u * 131 * 3);
  const std::vector<uint8_t> expected = read_bytes(folder + "expected.rgb");
  const std::vector<GoldenCase> cases = read_cases(folder + "cases.txt");
  ASSERT_GE(cases.size(), 20u);
  Resampler resampler;
  for (const GoldenCase& c : cases) {
    const bool nearest = c.filter.starts_with("nearest");
    const bool bicubic = c.filter.starts_with("bicubic");
    const ResampleStep step{.box = c.box,
                            .scaled = c.scaled,
                            .window = c.window,
                            .interpolation = nearest   ? Interpolation::kNearest
                                             : bicubic ? Interpolation::kBicubic
                                                       : Interpolation::kBilinear,
                            .antialias = !c.filter.ends_with("_plain")};
    SCOPED_TRACE(c.filter + " " + describe(step));
    const PlainImage to = resample(resampler, image, step);
    int most = 0;
    for (size_t i = 0; i < to.bytes.size(); ++i) {
      most = std::max(most, std::abs(to.bytes[i] - expected[static_cast<size_t>(c.offset) + i]));
    }
    EXPECT_LE(most, c.most_difference);
  }
}

}  // namespace
}  // namespace fuelrail
