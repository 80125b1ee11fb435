#include "fuelrail/decode/bmp/bmp_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using testing::CropJob;
using testing::golden_image;
using testing::GoldenImage;
using ::testing::HasSubstr;

constexpr size_t kPixelsAt = 10, kHeaderSizeAt = 14, kWidthAt = 18, kHeightAt = 22, kBitsAt = 28,
                 kCompressionAt = 30, kColoursAt = 46, kMasksAt = 54;
const Box kAll{0, 0, 21, 29};

template <typename T>
std::string with(std::string encoded, size_t at, T value) {
  store_le<T>(reinterpret_cast<std::byte*>(encoded.data() + at), value);
  return encoded;
}

template <typename Expected>
std::string refusal(const std::string& encoded) {
  return testing::refusal_of<Expected>([&] { probe(as_bytes(encoded)); });
}

// Decodes all of a 21 x 29 image.
struct Attempt : testing::DecodeAttempt {
  explicit Attempt(const std::string& encoded, Box box = kAll)
      : DecodeAttempt(encoded, probe(as_bytes(encoded)), box, *make_bmp_decoder()) {}
};

TEST(BmpDecoder, rows_that_the_box_does_not_need_may_be_missing) {
  const GoldenImage& image = golden_image("rgb24_top_down.bmp");
  const std::string cut = image.encoded.substr(0, 54 + 10 * 88);
  Attempt above(cut, {2, 3, 8, 20});
  EXPECT_EQ(above->error(), "");
  EXPECT_EQ(above->distance_to(image.rgb), 0);
  Attempt all(cut);
  EXPECT_TRUE(all->failed_with<TruncatedError>()) << all->error();
}

TEST(BmpDecoder, the_last_rows_padding_may_be_missing) {
  const GoldenImage& image = golden_image("rgb24.bmp");
  Attempt attempt(image.encoded.substr(0, image.encoded.size() - 1));
  EXPECT_EQ(attempt->error(), "");
  EXPECT_EQ(attempt->distance_to(image.rgb), 0);
  Attempt cut(image.encoded.substr(0, image.encoded.size() - 2));
  EXPECT_TRUE(cut->failed_with<TruncatedError>()) << cut->error();
}

TEST(BmpDecoder, runs_that_stop_early_leave_the_first_colour) {
  std::string encoded = golden_image("rle8.bmp").encoded;
  const size_t pixels = 54 + 4 * 256;
  encoded = encoded.substr(0, pixels) + std::string("\x03\x07\0\1", 4);
  Attempt attempt(encoded);
  EXPECT_EQ(attempt->error(), "");
  const auto colour = [&](size_t index) {
    const char* entry = encoded.data() + 54 + 4 * index;
    return std::string{entry[2], entry[1], entry[0]};
  };
  const std::vector<uint8_t>& rgb = attempt->pixels();
  const auto pixel = [&](int64_t y, int64_t x) {
    const auto at = static_cast<size_t>(y * (29 * 3 + CropJob::kPadding) + x * 3);
    return std::string(rgb.begin() + static_cast<std::ptrdiff_t>(at),
                       rgb.begin() + static_cast<std::ptrdiff_t>(at) + 3);
  };
  EXPECT_EQ(pixel(20, 0), colour(7));
  EXPECT_EQ(pixel(20, 2), colour(7));
  EXPECT_EQ(pixel(20, 3), colour(0));
  EXPECT_EQ(pixel(0, 28), colour(0));
}

TEST(BmpDecoder, runs_that_end_with_the_file_are_truncated) {
  const GoldenImage& image = golden_image("rle4.bmp");
  const size_t end = image.encoded.rfind(std::string("\0\0\0\1", 4)) + 2;  // after the last row
  Attempt without_end(image.encoded.substr(0, end));
  EXPECT_EQ(without_end->distance_to(image.rgb), 0);
  for (const size_t missing : {1, 2, 3, 40}) {
    Attempt attempt(image.encoded.substr(0, end - missing));
    EXPECT_TRUE(attempt->failed_with<TruncatedError>()) << missing << attempt->error();
  }
}

TEST(BmpDecoder, runs_that_leave_the_image_are_damage) {
  const std::string encoded = golden_image("rle8.bmp").encoded;
  const std::string head = encoded.substr(0, 54 + 4 * 256);
  Attempt jump(head + std::string("\0\2\x1e\0\0\1", 6));
  EXPECT_TRUE(jump->failed_with<DecodeError>()) << jump->error();
  Attempt literal(head + std::string("\0\x1e", 2) + std::string(30, 'x') + std::string("\0\1", 2));
  EXPECT_TRUE(literal->failed_with<DecodeError>()) << literal->error();
  Attempt high(head + std::string("\0\2\0\xff\x01\x01", 6));
  EXPECT_EQ(high->error(), "") << "a jump over the top is the end";
}

TEST(BmpDecoder, a_colour_that_the_palette_does_not_have_is_damage) {
  Attempt attempt(with<uint32_t>(golden_image("palette8.bmp").encoded, kColoursAt, 20));
  EXPECT_TRUE(attempt->failed_with<DecodeError>()) << attempt->error();
  EXPECT_THAT(attempt->error(), HasSubstr("palette"));
}

TEST(BmpDecoder, a_cut_palette_is_truncation) {
  Attempt attempt(golden_image("palette8.bmp").encoded.substr(0, 400));
  EXPECT_TRUE(attempt->failed_with<TruncatedError>()) << attempt->error();
}

TEST(BmpDecoder, pixels_far_behind_the_end_are_truncation) {
  Attempt attempt(with<uint32_t>(golden_image("rgb24.bmp").encoded, kPixelsAt, 0xffffffff));
  EXPECT_TRUE(attempt->failed_with<TruncatedError>()) << attempt->error();
}

TEST(ProbeBmp, every_header_that_is_cut_is_truncation) {
  const std::string encoded = golden_image("rgb24.bmp").encoded;
  for (size_t size = 1; size < 34; ++size) refusal<TruncatedError>(encoded.substr(0, size));
}

TEST(ProbeBmp, sizes_that_are_not_positive_are_refused) {
  const std::string encoded = golden_image("rgb24.bmp").encoded;
  EXPECT_THAT(refusal<DecodeError>(with<int32_t>(encoded, kWidthAt, 0)), HasSubstr("21 x 0"));
  EXPECT_THAT(refusal<DecodeError>(with<int32_t>(encoded, kWidthAt, -29)), HasSubstr("21 x -29"));
  EXPECT_THAT(refusal<DecodeError>(with<int32_t>(encoded, kHeightAt, 0)), HasSubstr("0 x 29"));
  refusal<DecodeError>(with<uint32_t>(encoded, kHeightAt, 0x80000000u));
}

TEST(ProbeBmp, too_many_pixels_are_refused_before_anything_is_allocated) {
  const std::string encoded = golden_image("rle8.bmp").encoded;
  const std::string huge = with<int32_t>(with(encoded, kWidthAt, 60000), kHeightAt, 60000);
  EXPECT_THAT(refusal<DecodeError>(huge), HasSubstr("60000 x 60000"));
}

TEST(ProbeBmp, what_is_not_decoded_is_named) {
  const std::string encoded = golden_image("rgb24.bmp").encoded;
  EXPECT_THAT(refusal<UnsupportedError>(with<uint32_t>(encoded, kHeaderSizeAt, 41)),
              HasSubstr("found 41"));
  EXPECT_THAT(refusal<UnsupportedError>(with<uint16_t>(encoded, kBitsAt, 2)), HasSubstr("found 2"));
  EXPECT_THAT(refusal<UnsupportedError>(with<uint32_t>(encoded, kCompressionAt, 4)),
              HasSubstr("compression 4 (24 bits per pixel)"));
  EXPECT_THAT(refusal<UnsupportedError>(with<uint32_t>(encoded, kCompressionAt, 1)),
              HasSubstr("compression 1 (24 bits per pixel)"));
}

TEST(ProbeBmp, masks_that_make_no_sense_are_refused) {
  const std::string encoded = golden_image("rgb565.bmp").encoded;
  EXPECT_THAT(refusal<UnsupportedError>(with<uint32_t>(encoded, kMasksAt, 0xF810)),
              HasSubstr("gaps"));
  refusal<UnsupportedError>(with<uint32_t>(encoded, kMasksAt, 0));
  refusal<UnsupportedError>(with<uint32_t>(encoded, kMasksAt, 0x7e0));
  refusal<UnsupportedError>(with<uint32_t>(encoded, kMasksAt, 0xf80000));
}

TEST(ProbeBmp, a_palette_of_too_many_colours_is_refused) {
  EXPECT_THAT(
      refusal<DecodeError>(with<uint32_t>(golden_image("palette8.bmp").encoded, kColoursAt, 65537)),
      HasSubstr("65537"));
}

}  // namespace
}  // namespace fuelrail
