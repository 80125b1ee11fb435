#include "fuelrail/decode/jpeg/jpeg_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/made_jpeg.h"

namespace fuelrail {
namespace {

using Colour = MadeJpeg::Colour;
using Sampling = std::vector<std::array<int, 2>>;
using testing::CropJob;

void expect_exact_crops(const MadeJpeg& made, Decoder& decoder, std::mt19937_64& random,
                        int count) {
  SCOPED_TRACE(describe(made));
  const std::vector<std::byte> encoded = make_jpeg(made);
  const PlainImage image = decode_plainly(encoded);
  const std::string rgb = rgb_of(image);
  const ImageInfo info = probe(encoded);
  int64_t margin = 0;
  for (const Box& box : boxes_in(made.size, random, count)) {
    margin = (margin + 16) % (kDecodeMargin + 16);  // too small for some, not needed by others
    CropJob crop(encoded, info, box, 0x5a, margin);
    crop.decode_with(decoder);
    ASSERT_EQ(crop.error(), "");
    ASSERT_EQ(crop.job.tolerated, 0u);
    ASSERT_EQ(crop.distance_to(rgb), 0) << fmt::format("{} x {} at ({}, {}), margin {}", box.height,
                                                       box.width, box.top, box.left, margin);
    ASSERT_TRUE(crop.padding_is_untouched());
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

TEST(JpegDecoder, crops_of_a_scaled_decode_equal_the_whole_of_it) {
  std::mt19937_64 random(12);
  const auto decoder = make_jpeg_decoder();
  for (const Sampling& sampling : samplings()) {
    for (const int eighths : {1, 2, 4}) {
      const MadeJpeg made{
          .size = random_size(random, 300), .sampling = sampling, .progressive = random() % 3 == 0};
      SCOPED_TRACE(describe(made) + fmt::format(", {} eighths", eighths));
      const std::vector<std::byte> encoded = make_jpeg(made);
      const ImageInfo info = probe(encoded);
      const Size size = at_eighths(info.stored, eighths);
      std::string rgb(static_cast<size_t>(size.height * size.width * 3), '\0');
      DecodeJob all{.encoded = encoded,
                    .info = info,
                    .box = whole(size),
                    .output = {reinterpret_cast<uint8_t*>(rgb.data()), size.height, size.width, 3,
                               size.width * 3},
                    .eighths = eighths};
      decoder->decode({&all, 1});
      ASSERT_EQ(all.error, nullptr);
      for (const Box& box : boxes_in(size, random, 30)) {
        CropJob crop(encoded, info, box);
        crop.job.eighths = eighths;
        crop.decode_with(*decoder);
        ASSERT_EQ(crop.error(), "");
        for (int64_t y = 0; y < box.height; ++y) {
          const char* expected = rgb.data() + ((box.top + y) * size.width + box.left) * 3;
          ASSERT_EQ(std::string(reinterpret_cast<const char*>(crop.job.output.row(y)),
                                static_cast<size_t>(box.width * 3)),
                    std::string(expected, static_cast<size_t>(box.width * 3)))
              << fmt::format("{} x {} at ({}, {}), row {}", box.height, box.width, box.top,
                             box.left, y);
        }
      }
    }
  }
}

TEST(JpegDecoder, other_scales_are_refused) {
  const std::vector<std::byte> encoded = make_jpeg({});
  const ImageInfo info = probe(encoded);
  CropJob crop(encoded, info, {0, 0, 8, 8});
  crop.job.eighths = 3;
  crop.decode_with(*make_jpeg_decoder());
  EXPECT_NE(crop.error().find("scale"), std::string::npos);
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
