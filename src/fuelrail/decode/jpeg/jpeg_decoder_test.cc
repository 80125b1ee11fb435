#include "fuelrail/decode/jpeg/jpeg_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/jpeg/made_jpeg.h"

namespace fuelrail {
namespace {

using Colour = MadeJpeg::Colour;
using Sampling = std::vector<std::array<int, 2>>;
constexpr uint8_t kUntouched = 0x5a;

// A job with its pixels, which lie in rows that are padded by a few bytes to be left alone.
struct Crop {
  Crop(Bytes encoded, Box box, const ImageInfo& info) : pixels(bytes_of(box), kUntouched) {
    job = {.encoded = encoded, .info = info, .box = box, .output = {}};
    job.output = {pixels.data(), box.height, box.width, 3, stride_of(box)};
  }
  Crop(Bytes encoded, Box box) : Crop(encoded, box, probe(encoded)) {}
  static int64_t stride_of(Box box) { return box.width * 3 + 5; }
  static size_t bytes_of(Box box) { return static_cast<size_t>(stride_of(box) * box.height); }

  std::vector<uint8_t> pixels;
  DecodeJob job;
};

std::vector<uint8_t> rgb_of(const PlainImage& image) {
  if (image.channels == 3) return image.pixels;
  std::vector<uint8_t> rgb;
  rgb.reserve(image.pixels.size() / 4 * 3);
  for (size_t i = 0; i < image.pixels.size(); i += 4) {
    for (size_t c = 0; c < 3; ++c) {
      const int light = image.pixels[i + 3], ink = 255 - image.pixels[i + c];
      rgb.push_back(static_cast<uint8_t>(light - (ink * light + 127) / 255));
    }
  }
  return rgb;
}

// Nothing, or the first pixel that differs from the full decode.
std::string difference(const Crop& crop, const PlainImage& image, const std::vector<uint8_t>& rgb) {
  const Box& box = crop.job.box;
  const int64_t row_bytes = box.width * 3;
  for (int64_t y = 0; y < box.height; ++y) {
    const uint8_t* got = crop.job.output.row(y);
    const uint8_t* expected = rgb.data() + ((box.top + y) * image.size.width + box.left) * 3;
    const auto [at, other] = std::mismatch(got, got + row_bytes, expected);
    if (at != got + row_bytes) {
      return fmt::format("row {}, byte {} of the crop {} x {} at ({}, {}): {} instead of {}", y,
                         at - got, box.height, box.width, box.top, box.left, *at, *other);
    }
    const uint8_t* pad_end = got + crop.job.output.row_stride_bytes;
    if (std::any_of(got + row_bytes, pad_end, [](uint8_t b) { return b != kUntouched; })) {
      return fmt::format("row {} writes past its end", y);
    }
  }
  return "";
}

std::string message_of(const std::exception_ptr& error) {
  try {
    if (error) std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  }
  return "";
}

// Random boxes, and those at the image's edges and corners.
std::vector<Box> boxes_in(Size size, std::mt19937_64& random, int count) {
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  std::vector<Box> boxes{whole(size),
                         {0, 0, 1, 1},
                         {size.height - 1, size.width - 1, 1, 1},
                         {0, size.width - 1, size.height, 1},
                         {size.height - 1, 0, 1, size.width}};
  for (int i = 0; i < count; ++i) {
    Box box{between(0, size.height - 1), between(0, size.width - 1), 0, 0};
    box.height = between(1, size.height - box.top);
    box.width = between(1, size.width - box.left);
    switch (i % 6) {
      case 1:
        box = {0, box.left, box.bottom(), box.width};
        break;
      case 2:
        box.height = size.height - box.top;
        break;
      case 3:
        box = {box.top, 0, box.height, box.right()};
        break;
      case 4:
        box.width = size.width - box.left;
        break;
      default:
        break;
    }
    boxes.push_back(box);
  }
  return boxes;
}

void expect_exact_crops(const MadeJpeg& made, Decoder& decoder, std::mt19937_64& random,
                        int count) {
  SCOPED_TRACE(describe(made));
  const std::vector<std::byte> encoded = make_jpeg(made);
  const PlainImage image = decode_plainly(encoded);
  const std::vector<uint8_t> rgb = rgb_of(image);
  for (const Box& box : boxes_in(made.size, random, count)) {
    Crop crop(encoded, box);
    decoder.decode({&crop.job, 1});
    ASSERT_EQ(message_of(crop.job.error), "");
    ASSERT_EQ(crop.job.tolerated, 0u);
    ASSERT_EQ(difference(crop, image, rgb), "");
  }
}

const std::vector<Sampling>& samplings() {
  static const std::vector<Sampling> kSamplings{
      {},        // 4:4:4
      {{2, 1}},  // 4:2:2
      {{1, 2}},  // 4:4:0
      {{2, 2}},  // 4:2:0
      {{4, 1}},  // 4:1:1
      {{4, 2}},  // 4:1:0
      {{1, 4}},
      {{2, 4}},
      {{3, 1}},
      {{1, 3}},
      {{3, 3}},
      {{2, 2}, {2, 1}, {1, 2}},  // chroma planes of different sizes
      {{2, 2}, {1, 2}, {1, 1}},
      {{2, 1}, {1, 1}, {2, 1}},
      {{2, 2}, {2, 1}, {2, 1}},
      {{2, 2}, {1, 2}, {1, 2}},
      {{1, 1}, {2, 2}, {2, 2}},  // luma subsampled instead
      {{1, 1}, {2, 1}, {1, 2}},
      {{4, 1}, {2, 1}, {1, 1}},
      {{2, 2}, {2, 2}, {2, 2}},  // 4:4:4 in larger iMCUs
      {{1, 2}, {1, 2}, {1, 2}},
      {{2, 1}, {2, 1}, {2, 1}},
  };
  return kSamplings;
}

Size random_size(std::mt19937_64& random, uint64_t limit) {
  return {static_cast<int64_t>(1 + random() % limit), static_cast<int64_t>(1 + random() % limit)};
}

TEST(JpegDecoder, crops_equal_the_full_decode_in_every_subsampling) {
  std::mt19937_64 random(11);
  const auto decoder = make_jpeg_decoder();
  for (const Sampling& sampling : samplings()) {
    for (int i = 0; i < 12; ++i) {
      const Size size = random_size(random, i % 3 == 0 ? 40 : 150);
      const int restart = i % 4 == 1 ? 1 + static_cast<int>(random() % 9) : 0;
      expect_exact_crops({.size = size, .sampling = sampling, .restart_interval = restart},
                         *decoder, random, 40);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JpegDecoder, crops_equal_the_full_decode_in_tiny_images) {
  std::mt19937_64 random(12);
  const auto decoder = make_jpeg_decoder();
  for (const Sampling& sampling : samplings()) {
    for (const Size size :
         {Size{1, 1}, Size{1, 7}, Size{7, 1}, Size{2, 2}, Size{3, 17}, Size{17, 3}, Size{8, 8},
          Size{9, 9}, Size{16, 16}, Size{17, 17}, Size{33, 18}}) {
      expect_exact_crops({.size = size, .sampling = sampling}, *decoder, random, 15);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JpegDecoder, crops_equal_the_full_decode_with_several_scans) {
  std::mt19937_64 random(13);
  const auto decoder = make_jpeg_decoder();
  for (const Sampling& sampling : samplings()) {
    for (int i = 0; i < 6; ++i) {
      MadeJpeg made{.size = random_size(random, 120), .sampling = sampling};
      made.progressive = i % 2 == 0;
      made.interleaved = false;
      made.restart_interval = i == 3 ? 5 : 0;
      expect_exact_crops(made, *decoder, random, 20);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(JpegDecoder, crops_equal_the_full_decode_in_every_colour) {
  std::mt19937_64 random(14);
  const auto decoder = make_jpeg_decoder();
  for (const Colour colour : {Colour::kGrey, Colour::kRgb, Colour::kCmyk, Colour::kYcck}) {
    for (const Sampling& sampling :
         {Sampling{}, Sampling{{2, 2}}, Sampling{{1, 2}}, Sampling{{2, 1}, {1, 1}, {1, 1}, {2, 1}},
          Sampling{{2, 2}, {1, 1}, {1, 1}, {2, 2}}}) {
      for (int i = 0; i < 6; ++i) {
        expect_exact_crops({.size = random_size(random, 100),
                            .colour = colour,
                            .sampling = sampling,
                            .progressive = i % 3 == 2},
                           *decoder, random, 20);
        if (HasFatalFailure()) return;
      }
    }
  }
}

}  // namespace
}  // namespace fuelrail
