#include "fuelrail/decode/webp/webp_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <webp/decode.h>
#include <webp/encode.h>

#include <random>
#include <string>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/golden_images.h"

namespace fuelrail {
namespace {

using testing::CropJob;
using testing::golden_image;
using testing::GoldenImage;

// Blocks, gradients and noise, which all filters and predictors change.
std::string made_pixels(Size size, std::mt19937_64& random) {
  std::string rgb;
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) {
      const int64_t noise = y / 16 % 2 == 0 ? static_cast<int64_t>(random() % 64) : 0;
      for (int64_t c = 0; c < 3; ++c) {
        rgb.push_back(static_cast<char>(x / 7 * 31 + y * (c + 1) + x * c + noise));
      }
    }
  }
  return rgb;
}

// `quality` below 0: lossless.
std::string made_webp(Size size, float quality, int filter_type, std::mt19937_64& random) {
  const std::string rgb = made_pixels(size, random);
  WebPConfig config;
  WebPPicture picture;
  EXPECT_TRUE(WebPConfigInit(&config) && WebPPictureInit(&picture));
  config.lossless = quality < 0;
  config.quality = std::max(0.0f, quality);
  config.filter_strength = 80;
  config.filter_type = filter_type;
  config.method = 2;
  picture.use_argb = config.lossless;
  picture.width = static_cast<int>(size.width);
  picture.height = static_cast<int>(size.height);
  WebPPictureImportRGB(&picture, reinterpret_cast<const uint8_t*>(rgb.data()),
                       static_cast<int>(size.width) * 3);
  WebPMemoryWriter writer;
  WebPMemoryWriterInit(&writer);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  EXPECT_TRUE(WebPEncode(&config, &picture));
  const std::string encoded(reinterpret_cast<const char*>(writer.mem), writer.size);
  WebPMemoryWriterClear(&writer);
  WebPPictureFree(&picture);
  return encoded;
}

// libwebp's own full decode.
std::string plainly_decoded(const std::string& encoded, Size size) {
  std::string rgb(static_cast<size_t>(size.height * size.width * 3), '\0');
  EXPECT_NE(WebPDecodeRGBInto(reinterpret_cast<const uint8_t*>(encoded.data()), encoded.size(),
                              reinterpret_cast<uint8_t*>(rgb.data()), rgb.size(),
                              static_cast<int>(size.width) * 3),
            nullptr);
  return rgb;
}

Box random_box(Size size, std::mt19937_64& random) {
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  Box box{below(size.height), below(size.width), 0, 0};
  box.height = 1 + below(size.height - box.top);
  box.width = 1 + below(size.width - box.left);
  return box;
}

TEST(WebpDecoder, crops_are_parts_of_the_full_decode_whatever_filters_run) {
  std::mt19937_64 random(11);
  const auto decoder = make_webp_decoder();
  for (const Size size : {Size{97, 131}, Size{64, 64}, Size{33, 200}, Size{1, 50}, Size{50, 1}}) {
    for (const float quality : {-1.0f, 0.0f, 30.0f, 95.0f}) {
      for (const int filter_type : {0, 1}) {  // simple and strong
        SCOPED_TRACE(fmt::format("{} x {}, quality {}, filter {}", size.height, size.width, quality,
                                 filter_type));
        const std::string encoded = made_webp(size, quality, filter_type, random);
        const std::string rgb = plainly_decoded(encoded, size);
        const ImageInfo info = probe(as_bytes(encoded));
        ASSERT_EQ(info.stored, size);
        for (int i = 0; i < 60; ++i) {
          const Box box = i == 0 ? whole(size) : random_box(size, random);
          CropJob crop(as_bytes(encoded), info, box);
          crop.decode_with(*decoder);
          ASSERT_EQ(crop.error(), "");
          ASSERT_EQ(crop.distance_to(rgb), 0)
              << fmt::format("{} x {} at ({}, {})", box.height, box.width, box.top, box.left);
          ASSERT_TRUE(crop.padding_is_untouched());
        }
      }
    }
  }
}

TEST(WebpDecoder, where_an_animations_first_frame_is_not_the_canvas_is_black) {
  const GoldenImage& image = golden_image("animated_part.webp");
  CropJob outside(image.bytes(), probe(image.bytes()), {15, 20, 3, 4}, 0xff);
  outside.decode_with(*make_webp_decoder());
  EXPECT_EQ(outside.error(), "");
  EXPECT_EQ(outside.distance_to(std::string(image.rgb.size(), '\0')), 0);
}

TEST(WebpDecoder, a_frame_that_leaves_its_canvas_is_refused) {
  std::string encoded = golden_image("animated_part.webp").encoded;
  encoded[encoded.find("ANMF") + 8] = 100;  // x / 2
  CropJob job(as_bytes(encoded), probe(as_bytes(encoded)), {0, 0, 21, 29});
  job.decode_with(*make_webp_decoder());
  EXPECT_TRUE(job.failed_with<DecodeError>()) << job.error();
}

TEST(WebpDecoder, an_animation_cut_before_its_first_frame_is_truncated) {
  const std::string encoded = golden_image("animated.webp").encoded;
  const std::string cut = encoded.substr(0, encoded.find("ANMF") + 20);
  CropJob job(as_bytes(cut), probe(as_bytes(encoded)), {0, 0, 21, 29});
  job.decode_with(*make_webp_decoder());
  EXPECT_TRUE(job.failed_with<TruncatedError>()) << job.error();
}

TEST(WebpDecoder, a_cut_image_is_truncated) {
  for (const char* name : {"lossy.webp", "lossless.webp", "lossy_alpha.webp"}) {
    const GoldenImage& image = golden_image(name);
    const Bytes half = image.bytes().first(image.encoded.size() / 2);
    CropJob job(half, probe(image.bytes()), whole(image.stored));
    job.decode_with(*make_webp_decoder());
    EXPECT_TRUE(job.failed_with<TruncatedError>()) << name << ": " << job.error();
  }
}

TEST(WebpDecoder, a_cut_header_is_truncated) {
  for (const char* name : {"lossy.webp", "lossless.webp", "exif6.webp"}) {
    const std::string encoded = golden_image(name).encoded;
    for (size_t size = 1; size < 20; ++size) {
      EXPECT_THROW(probe(as_bytes(encoded.substr(0, size))), TruncatedError) << name << size;
    }
  }
}

TEST(WebpDecoder, a_canvas_of_too_many_pixels_is_refused) {
  std::string encoded = golden_image("exif6.webp").encoded;
  for (const size_t side : {24, 27}) {
    store_le<uint16_t>(reinterpret_cast<std::byte*>(encoded.data() + side), 0xffff);
  }
  EXPECT_THROW(probe(as_bytes(encoded)), DecodeError);
}

TEST(WebpDecoder, metadata_that_the_extended_header_does_not_announce_do_not_count) {
  std::string encoded = golden_image("exif6.webp").encoded;
  EXPECT_EQ(probe(as_bytes(encoded)).orientation, 6);
  encoded[20] = static_cast<char>(encoded[20] & ~0x08);
  EXPECT_EQ(probe(as_bytes(encoded)).orientation, 1);
}

}  // namespace
}  // namespace fuelrail
