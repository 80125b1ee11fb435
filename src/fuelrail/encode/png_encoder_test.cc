#include "fuelrail/encode/png_encoder.h"

#include <gtest/gtest.h>
#include <spng.h>

#include <memory>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/photographs.h"

namespace fuelrail {
namespace {

ConstImageView view(const std::vector<uint8_t>& pixels, int64_t height, int64_t width,
                    int64_t channels) {
  return {pixels.data(), height, width, channels, width * channels};
}

std::vector<std::byte> encoded(ConstImageView image, int level = kDefaultPngLevel) {
  std::vector<std::byte> png;
  encode_png(image, level, png);
  return png;
}

// Every channel as stored, decoded by libspng itself, because a DecodeJob of RGB drops the alpha
// channel.
std::vector<uint8_t> stored_pixels(Bytes png) {
  const std::unique_ptr<spng_ctx, void (*)(spng_ctx*)> context(spng_ctx_new(0), spng_ctx_free);
  EXPECT_EQ(spng_set_png_buffer(context.get(), png.data(), png.size()), SPNG_OK);
  size_t size = 0;
  EXPECT_EQ(spng_decoded_image_size(context.get(), SPNG_FMT_PNG, &size), SPNG_OK);
  std::vector<uint8_t> pixels(size);
  EXPECT_EQ(spng_decode_image(context.get(), pixels.data(), size, SPNG_FMT_PNG, 0), SPNG_OK);
  return pixels;
}

// An image with `channels` bytes per pixel, cut from a photograph's bytes.
std::vector<uint8_t> texture(int64_t height, int64_t width, int64_t channels) {
  std::vector<uint8_t> pixels = make_pixels(height, 2 * width, 5);
  pixels.resize(static_cast<size_t>(height * width * channels));
  return pixels;
}

TEST(PngEncoder, every_channel_comes_back_at_every_level) {
  for (const int64_t channels : {1, 3, 4}) {
    const std::vector<uint8_t> pixels = texture(23, 31, channels);
    for (int level = 0; level <= 9; ++level) {
      const std::vector<std::byte> png = encoded(view(pixels, 23, 31, channels), level);
      EXPECT_EQ(stored_pixels(png), pixels) << channels << " channels, level " << level;
      const ImageInfo info = probe(png);
      EXPECT_EQ(info.format, &kPngFormat);
      EXPECT_EQ(info.stored, (Size{23, 31}));
      EXPECT_EQ(info.channels, channels);
    }
  }
}

TEST(PngEncoder, the_decoder_reads_what_it_writes) {
  const std::vector<uint8_t> pixels = texture(20, 17, 3);
  const std::vector<std::byte> png = encoded(view(pixels, 20, 17, 3));
  std::vector<uint8_t> back(pixels.size());
  DecodeJob job{.encoded = png,
                .info = probe(png),
                .box = {0, 0, 20, 17},
                .output = {back.data(), 20, 17, 3, 17 * 3}};
  make_decoder()->decode({&job, 1});
  ASSERT_FALSE(job.error);
  EXPECT_EQ(back, pixels);
}

TEST(PngEncoder, the_same_pixels_give_the_same_bytes) {
  const std::vector<uint8_t> pixels = texture(40, 30, 3);
  std::vector<std::byte> again(7);
  encode_png(view(pixels, 40, 30, 3), 9, again);
  EXPECT_EQ(encoded(view(pixels, 40, 30, 3), 9), again);
}

TEST(PngEncoder, level_0_is_longer_than_level_9) {
  const std::vector<uint8_t> pixels(64 * 64 * 3, 7);
  EXPECT_GT(encoded(view(pixels, 64, 64, 3), 0).size(), 64u * 64 * 3);
  EXPECT_LT(encoded(view(pixels, 64, 64, 3), 9).size(), 1000u);
}

TEST(PngEncoder, rows_may_be_padded) {
  const std::vector<uint8_t> pixels = texture(12, 20, 4);
  std::vector<uint8_t> left;
  for (int64_t y = 0; y < 12; ++y) {
    const auto row = pixels.begin() + y * 80;
    left.insert(left.end(), row, row + 36);
  }
  EXPECT_EQ(encoded(view(pixels, 12, 20, 4).crop({0, 0, 12, 9})), encoded(view(left, 12, 9, 4)));
}

// The values of a PNG, decoded as a mask's are.
std::vector<std::byte> values_of(Bytes png, const ConstRawView& like) {
  const ImageInfo info = probe(png);
  EXPECT_EQ(info.values, like.dtype);
  EXPECT_EQ(info.stored, like.size());
  std::vector<std::byte> values(static_cast<size_t>(like.height * like.row_bytes()));
  decode_all_values(
      *make_decoder(), png, info, ValueEncoding::kStored,
      {values.data(), like.height, like.width, like.channels, like.dtype, like.row_bytes()});
  return values;
}

TEST(PngEncoder, values_of_8_and_16_bits_come_back) {
  const std::vector<uint8_t> pixels = texture(23, 31, 4);
  for (const DType dtype : {DType::kUint8, DType::kUint16}) {
    const auto* bytes = reinterpret_cast<const std::byte*>(pixels.data());
    ConstRawView values{bytes, 23, 31, 1, dtype, 31 * 4};  // with padded rows
    std::vector<std::byte> png;
    encode_values_png(values, png);
    std::vector<std::byte> expected;
    for (int64_t y = 0; y < 23; ++y) {
      append_bytes(expected, {values.row(y), static_cast<size_t>(values.row_bytes())});
    }
    EXPECT_EQ(values_of(png, values), expected);
  }
}

TEST(PngEncoder, a_mask_takes_little_room) {
  std::vector<uint8_t> pixels(256 * 256);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = i % 256 > i / 256 ? 3 : 200;
  std::vector<std::byte> png;
  encode_values_png(raw_view(view(pixels, 256, 256, 1)), png);
  EXPECT_LT(png.size(), 2000u);
}

TEST(PngEncoder, one_pixel_is_enough) {
  for (const int64_t channels : {1, 3, 4}) {
    const std::vector<uint8_t> pixels = texture(1, 1, channels);
    EXPECT_EQ(stored_pixels(encoded(view(pixels, 1, 1, channels))), pixels);
  }
}

}  // namespace
}  // namespace fuelrail
