#include "fuelrail/decode/png/png_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/made_png.h"

namespace fuelrail {
namespace {

using testing::CropJob;
using testing::golden_image;
using testing::GoldenImage;

// Decodes a box.
struct Attempt : testing::DecodeAttempt {
  Attempt(const std::string& encoded, Box box)
      : DecodeAttempt(encoded, probe(as_bytes(encoded)), box, *make_png_decoder()) {}
};

const Box kAll{0, 0, 21, 29};

// The position of a chunk's length in the image. Requires: the image has a chunk of this type.
size_t chunk_at(const std::string& encoded, std::string_view type) {
  return encoded.find(type) - 4;
}

TEST(PngDecoder, what_is_cut_off_below_the_box_is_not_missed) {
  const GoldenImage& image = golden_image("rgb8.png");
  const std::string cut = image.encoded.substr(0, image.encoded.rfind("IDAT") + 4);
  Attempt above(cut, {0, 2, 6, 20});
  EXPECT_EQ(above->error(), "");
  EXPECT_EQ(above->distance_to(image.rgb), 0);
  Attempt all(cut, kAll);
  EXPECT_TRUE(all->failed_with<TruncatedError>()) << all->error();
}

TEST(PngDecoder, a_wrong_checksum_is_damage) {
  for (const char* type : {"IDAT", "PLTE", "tRNS"}) {
    std::string encoded = golden_image("palette8_trns.png").encoded;
    encoded[chunk_at(encoded, type) + 8 + 3] ^= 1;
    Attempt attempt(encoded, kAll);
    EXPECT_TRUE(attempt->failed_with<DecodeError>()) << type << attempt->error();
    EXPECT_NE(attempt->error().find("damaged (libspng reports: "), std::string::npos);
  }
}

TEST(PngDecoder, too_many_texts_are_an_error) {
  std::vector<testing::PngChunk> chunks =
      testing::chunks_of(as_bytes(golden_image("rgb8.png").encoded));
  chunks.insert(chunks.begin() + 1, 1001, {"tEXt", {std::byte{'k'}, std::byte{0}, std::byte{'t'}}});
  Attempt attempt(std::string(as_text(testing::png_of(chunks))), kAll);
  EXPECT_TRUE(attempt->failed_with<DecodeError>());
  EXPECT_NE(attempt->error().find("too many or too large texts"), std::string::npos);
}

TEST(PngDecoder, a_missing_palette_is_damage) {
  std::string encoded = golden_image("palette8.png").encoded;
  const size_t at = chunk_at(encoded, "PLTE");
  encoded.erase(at, 12 + 768);
  Attempt attempt(encoded, kAll);
  EXPECT_TRUE(attempt->failed_with<DecodeError>()) << attempt->error();
}

TEST(PngDecoder, bytes_behind_the_end_are_ignored) {
  const GoldenImage& image = golden_image("rgb8.png");
  Attempt attempt(image.encoded + "more", kAll);
  EXPECT_EQ(attempt->error(), "");
  EXPECT_EQ(attempt->distance_to(image.rgb), 0);
}

TEST(PngDecoder, info_of_another_size_is_refused) {
  const GoldenImage& image = golden_image("rgb8.png");
  for (const Size stored : {Size{20, 29}, Size{21, 28}, Size{22, 30}}) {
    ImageInfo info = probe(image.bytes());
    info.stored = stored;
    CropJob crop(image.bytes(), info, {0, 0, 5, 5});
    crop.decode_with(*make_png_decoder());
    EXPECT_NE(crop.error(), "");
  }
}

TEST(PngDecoder, a_large_declared_size_without_data_is_truncation) {
  std::string encoded = golden_image("rgb8.png").encoded.substr(0, 33);
  const ImageInfo info = probe(as_bytes(encoded));
  CropJob crop(as_bytes(encoded), info, kAll);
  crop.decode_with(*make_png_decoder());
  EXPECT_TRUE(crop.failed_with<TruncatedError>()) << crop.error();
}

}  // namespace
}  // namespace fuelrail
