#include "fuelrail/encode/jpeg_encoder.h"

#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/photographs.h"

namespace fuelrail {
namespace {

ConstImageView view(const std::vector<uint8_t>& pixels, int64_t height, int64_t width) {
  return {pixels.data(), height, width, 3, width * 3};
}

std::vector<uint8_t> decoded(Bytes jpeg) {
  const ImageInfo info = probe(jpeg);
  std::vector<uint8_t> pixels(static_cast<size_t>(info.stored.height * info.stored.width * 3));
  DecodeJob job{
      .encoded = jpeg,
      .info = info,
      .box = whole(info.stored),
      .output = {pixels.data(), info.stored.height, info.stored.width, 3, info.stored.width * 3}};
  make_decoder()->decode({&job, 1});
  if (job.error) std::rethrow_exception(job.error);
  return pixels;
}

// A ramp without texture, of which 4:2:0 loses almost nothing.
std::vector<uint8_t> ramp(int64_t height, int64_t width) {
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < height * width; ++i) {
    for (int64_t c = 0; c < 3; ++c) {
      pixels.push_back(static_cast<uint8_t>(i / width * (c + 1) / 2 + i % width / 2 + 20));
    }
  }
  return pixels;
}

TEST(JpegEncoder, pixels_come_back_nearly_as_they_were) {
  const std::vector<uint8_t> pixels = ramp(67, 101);
  std::vector<std::byte> jpeg;
  encode_jpeg(view(pixels, 67, 101), kDefaultJpegQuality, jpeg);
  const std::vector<uint8_t> back = decoded(jpeg);
  ASSERT_EQ(back.size(), pixels.size());
  for (size_t i = 0; i < pixels.size(); ++i) ASSERT_NEAR(back[i], pixels[i], 4) << i;
}

TEST(JpegEncoder, chroma_is_sampled_at_half_of_each_side) {
  std::vector<std::byte> jpeg;
  encode_jpeg(view(ramp(16, 16), 16, 16), 90, jpeg);
  const std::string_view text = as_text(jpeg);
  // SOF0: marker, length 17, 8 bits, height, width, 3 components: id, sampling, table each.
  const size_t frame = text.find(std::string_view("\xFF\xC0\x00\x11\x08", 5));
  ASSERT_NE(frame, std::string_view::npos);
  EXPECT_EQ(text[frame + 11], 0x22);
  EXPECT_EQ(text[frame + 14], 0x11);
  EXPECT_EQ(text[frame + 17], 0x11);
}

TEST(JpegEncoder, one_channel_is_stored_as_grey) {
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < 50 * 33; ++i) pixels.push_back(static_cast<uint8_t>(i / 33 * 4 + i % 33));
  std::vector<std::byte> jpeg;
  encode_jpeg({pixels.data(), 50, 33, 1, 33}, kDefaultJpegQuality, jpeg);
  EXPECT_EQ(probe(jpeg).channels, 1);
  const std::vector<uint8_t> back = decoded(jpeg);
  for (size_t i = 0; i < pixels.size(); ++i) ASSERT_NEAR(back[3 * i], pixels[i], 4) << i;
}

TEST(JpegEncoder, grey_noise_at_full_quality_fits_the_buffer) {
  for (int64_t side : {1, 7, 8, 16, 17, 129}) {
    std::vector<uint8_t> pixels;
    for (int64_t i = 0; i < side * side; ++i) {
      const bool white = (Philox(4, 0, static_cast<uint64_t>(i)).bits(0, 0) & 1) != 0;
      pixels.push_back(white ? uint8_t{255} : uint8_t{0});
    }
    std::vector<std::byte> jpeg;
    encode_jpeg({pixels.data(), side, side, 1, side}, 100, jpeg);
    EXPECT_EQ(probe(jpeg).stored, (Size{side, side}));
  }
}

TEST(JpegEncoder, the_same_pixels_give_the_same_bytes) {
  const std::vector<uint8_t> pixels = make_pixels(40, 30, 1);
  std::vector<std::byte> once;
  std::vector<std::byte> again(7);
  encode_jpeg(view(pixels, 40, 30), 80, once);
  encode_jpeg(view(pixels, 40, 30), 80, again);
  EXPECT_EQ(once, again);
}

TEST(JpegEncoder, higher_quality_takes_more_bytes) {
  const std::vector<uint8_t> pixels = make_pixels(64, 64, 2);
  size_t last = 0;
  for (int quality : {1, 50, 75, 95, 100}) {
    std::vector<std::byte> jpeg;
    encode_jpeg(view(pixels, 64, 64), quality, jpeg);
    EXPECT_GT(jpeg.size(), last) << quality;
    last = jpeg.size();
  }
}

TEST(JpegEncoder, noise_at_full_quality_fits_the_buffer) {
  for (int64_t side : {1, 7, 8, 16, 17, 129}) {
    std::vector<uint8_t> pixels;
    for (int64_t i = 0; i < side * side * 3; ++i) {
      pixels.push_back(Philox(3, 0, static_cast<uint64_t>(i)).bits(0, 0) & 1 ? uint8_t{255}
                                                                             : uint8_t{0});
    }
    std::vector<std::byte> jpeg;
    encode_jpeg(view(pixels, side, side), 100, jpeg);
    EXPECT_EQ(probe(jpeg).stored, (Size{side, side}));
  }
}

TEST(JpegEncoder, rows_may_be_padded) {
  const std::vector<uint8_t> pixels = make_pixels(20, 40, 4);
  std::vector<uint8_t> left;
  for (int64_t y = 0; y < 20; ++y) {
    const auto row = pixels.begin() + y * 120;
    left.insert(left.end(), row, row + 60);
  }
  std::vector<std::byte> of_view;
  std::vector<std::byte> of_copy;
  encode_jpeg(view(pixels, 20, 40).crop({0, 0, 20, 20}), 90, of_view);
  encode_jpeg(view(left, 20, 20), 90, of_copy);
  EXPECT_EQ(of_view, of_copy);
}

TEST(JpegEncoder, a_side_beyond_the_formats_limit_is_refused) {
  const std::vector<uint8_t> pixels(65501 * 3);
  std::vector<std::byte> jpeg;
  EXPECT_THROW(encode_jpeg(view(pixels, 1, 65501), 90, jpeg), UnsupportedError);
  EXPECT_THROW(encode_jpeg(view(pixels, 65501, 1), 90, jpeg), UnsupportedError);
  encode_jpeg(view(pixels, 1, 65500), 90, jpeg);
  EXPECT_EQ(probe(jpeg).stored, (Size{1, 65500}));
}

}  // namespace
}  // namespace fuelrail
