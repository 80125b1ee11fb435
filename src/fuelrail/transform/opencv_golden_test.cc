// Compares with OpenCV's results in tests/golden/opencv on every instruction set. (make.py there
// has the formula of the images.)
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/transform/cv_color.h"
#include "fuelrail/transform/cv_resize.h"
#include "fuelrail/transform/cv_warp.h"

namespace fuelrail {
namespace {

struct Pixels {
  Pixels(Size s, int64_t c) : size(s), channels(c) {
    bytes.resize(static_cast<size_t>(s.height * s.width * c));
  }
  // The image of this number.
  static Pixels numbered(uint32_t number, Size size, int64_t channels) {
    Pixels image(size, channels);
    uint32_t state = 0;
    for (uint8_t& byte : image.bytes) {
      state += (number + 1) * 2654435761u;
      byte = static_cast<uint8_t>(state >> 24);
      if (number % 2 == 1) byte = byte < 128 ? 0 : 255;
    }
    return image;
  }
  ImageView view() {
    return {bytes.data(), size.height, size.width, channels, size.width * channels};
  }
  std::string crc() const {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", crc32(std::as_bytes(std::span(bytes))));
    return text;
  }
  Size size;
  int64_t channels;
  std::vector<uint8_t> bytes;
};

struct Case {
  std::string what;
  uint32_t number = 0;
  Size from, to;
  int64_t channels = 0;
  CvInterpolation interpolation{};
  std::string crc;
  CvAffine affine;
};

std::vector<Case> cases(const std::string& what) {
  std::ifstream file(std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/opencv/opencv.tsv");
  EXPECT_TRUE(file);
  std::vector<Case> found;
  Case next;
  int interpolation = 0;
  while (file >> next.what >> next.number >> next.from.height >> next.from.width >> next.channels >>
         interpolation >> next.to.height >> next.to.width >> next.crc) {
    next.interpolation = static_cast<CvInterpolation>(interpolation);
    if (next.what == "warp") {
      for (double& number : next.affine.m) {
        std::string text;
        file >> text;
        number = std::strtod(text.c_str(), nullptr);
      }
    }
    if (next.what == what) found.push_back(next);
  }
  EXPECT_FALSE(found.empty());
  return found;
}

template <typename Make>
void expect_opencvs(const std::string& what, Make make) {
  for (const Case& golden : cases(what)) {
    SCOPED_TRACE(golden.what + " " + std::to_string(golden.number));
    Pixels from = Pixels::numbered(golden.number, golden.from, golden.channels);
    Pixels to(golden.to, golden.channels);
    make(golden, from.view(), to.view());
    EXPECT_EQ(to.crc(), golden.crc);
  }
}

TEST(OpencvGolden, resized_images_are_opencvs) {
  testing::on_each_simd_target([] {
    CvResizer resizer;
    expect_opencvs("resize", [&](const Case& golden, ConstImageView from, ImageView to) {
      resizer.resize(from, to, golden.interpolation);
    });
  });
}

TEST(OpencvGolden, warped_images_are_opencvs) {
  testing::on_each_simd_target([] {
    expect_opencvs("warp", [](const Case& golden, ConstImageView from, ImageView to) {
      cv_warp_affine(from, golden.affine, golden.interpolation, 201, to);
    });
  });
}

TEST(OpencvGolden, colours_are_opencvs_there_and_back) {
  testing::on_each_simd_target([] {
    expect_opencvs("hls",
                   [](const Case&, ConstImageView rgb, ImageView hls) { cv_rgb_to_hls(rgb, hls); });
    expect_opencvs("rgb",
                   [](const Case&, ConstImageView hls, ImageView rgb) { cv_hls_to_rgb(hls, rgb); });
  });
}

}  // namespace
}  // namespace fuelrail
