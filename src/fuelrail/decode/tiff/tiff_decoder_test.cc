#include "fuelrail/decode/tiff/tiff_decoder.h"

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

// A little-endian TIFF with the value of one tag changed.
std::string with_tag(std::string encoded, uint16_t tag, uint32_t value) {
  auto* bytes = reinterpret_cast<std::byte*>(encoded.data());
  const size_t directory = load_le<uint32_t>(bytes + 4);
  const size_t entries = load_le<uint16_t>(bytes + directory);
  for (size_t i = 0; i < entries; ++i) {
    std::byte* entry = bytes + directory + 2 + 12 * i;
    if (load_le<uint16_t>(entry) != tag) continue;
    store_le<uint32_t>(entry + 8, value);
    return encoded;
  }
  ADD_FAILURE() << "no tag " << tag;
  return encoded;
}

constexpr uint16_t kWidth = 256, kHeight = 257, kCompression = 259, kPhotometric = 262,
                   kRowsPerStrip = 278, kTileWidth = 322;

class TiffDecoder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (libtiff_version().empty()) GTEST_SKIP() << "this build has no TIFF";
  }
  template <typename Expected>
  static std::string refusal(const std::string& encoded) {
    return testing::refusal_of<Expected>([&] {
      const ImageInfo info = probe(as_bytes(encoded));
      CropJob job(as_bytes(encoded), info, whole(info.stored));
      job.decode_with(*make_tiff_decoder());
      if (job.job.error) std::rethrow_exception(job.job.error);
    });
  }
};

TEST(TiffAbsent, a_build_without_tiff_says_so) {
  if (!libtiff_version().empty()) GTEST_SKIP() << "this build has TIFF";
  const GoldenImage& image = golden_image("rgb8.tif");
  EXPECT_THROW(probe(image.bytes()), UnsupportedError);
  ImageInfo info;
  info.format = &kTiffFormat;
  info.stored = image.stored;
  CropJob job(image.bytes(), info, whole(image.stored));
  job.decode_with(*make_decoder());
  EXPECT_TRUE(job.failed_with<UnsupportedError>());
  EXPECT_THAT(job.error(), HasSubstr("this build of fuelrail does not support TIFF"));
  EXPECT_THAT(job.error(), HasSubstr("FUELRAIL_TIFF=ON"));
}

TEST_F(TiffDecoder, only_strips_that_the_box_needs_must_be_there) {
  const GoldenImage& image = golden_image("rgb8.tif");
  std::string encoded = image.encoded;
  auto* bytes = reinterpret_cast<std::byte*>(encoded.data());
  const size_t last_strip = 8 + 2 * 8 * 29 * 3;  // rows 16 to 20
  for (size_t at = 0; at + 4 <= encoded.size(); at += 2) {
    if (load_le<uint32_t>(bytes + at) == last_strip) store_le<uint32_t>(bytes + at, 0xfffffff0);
  }
  const ImageInfo info = probe(as_bytes(encoded));
  CropJob above(as_bytes(encoded), info, {3, 5, 13, 20});
  above.decode_with(*make_tiff_decoder());
  EXPECT_EQ(above.error(), "");
  EXPECT_EQ(above.distance_to(image.rgb), 0);
  CropJob below(as_bytes(encoded), info, {3, 5, 14, 20});
  below.decode_with(*make_tiff_decoder());
  EXPECT_TRUE(below.failed_with<TruncatedError>()) << below.error();
}

TEST_F(TiffDecoder, a_cut_header_is_truncated) {
  const std::string encoded = golden_image("rgb8.tif").encoded;
  for (const size_t size : {1, 2, 3, 4, 7, 8, 20, 100}) {
    EXPECT_THAT(refusal<TruncatedError>(encoded.substr(0, size)), HasSubstr("ends")) << size;
  }
}

TEST_F(TiffDecoder, damaged_strips_are_damage) {
  std::string encoded = golden_image("tiff_adobe_deflate.tif").encoded;
  const size_t middle = encoded.size() / 2;
  for (size_t i = middle; i < middle + 8; ++i) encoded[i] = static_cast<char>(~encoded[i]);
  refusal<DecodeError>(encoded);
}

TEST_F(TiffDecoder, sizes_of_zero_and_too_many_pixels_are_refused) {
  const std::string encoded = golden_image("rgb8.tif").encoded;
  EXPECT_THAT(refusal<DecodeError>(with_tag(encoded, kWidth, 0)), HasSubstr("zero"));
  const std::string huge = with_tag(with_tag(encoded, kWidth, 60000), kHeight, 60000);
  EXPECT_THAT(refusal<DecodeError>(huge), HasSubstr("60000 x 60000"));
}

TEST_F(TiffDecoder, tiles_that_are_larger_than_the_image_could_need_are_refused) {
  const std::string encoded = golden_image("rgb8_tiles.tif").encoded;
  EXPECT_THAT(refusal<DecodeError>(with_tag(encoded, kTileWidth, 65520)), HasSubstr("TIFF"));
}

TEST_F(TiffDecoder, more_rows_a_strip_than_rows_are_all_rows) {
  const GoldenImage& image = golden_image("rgb8_one_strip.tif");
  const std::string encoded = with_tag(image.encoded, kRowsPerStrip, 60000);
  CropJob job(as_bytes(encoded), probe(as_bytes(encoded)), whole(image.stored));
  job.decode_with(*make_tiff_decoder());
  EXPECT_EQ(job.error(), "");
  EXPECT_EQ(job.distance_to(image.rgb), 0);
}

TEST_F(TiffDecoder, what_is_not_decoded_is_named) {
  const std::string encoded = golden_image("rgb8.tif").encoded;
  EXPECT_THAT(refusal<UnsupportedError>(with_tag(encoded, kPhotometric, 8)),
              HasSubstr("colour space"));
  EXPECT_THAT(refusal<UnsupportedError>(with_tag(encoded, kPhotometric, 6)), HasSubstr("YCbCr"));
  EXPECT_THAT(refusal<UnsupportedError>(with_tag(encoded, kCompression, 6)),
              HasSubstr("compression"));
  EXPECT_THAT(
      refusal<UnsupportedError>(with_tag(golden_image("grey16.tif").encoded, kPhotometric, 0)),
      HasSubstr("bits per sample"));
}

}  // namespace
}  // namespace fuelrail
