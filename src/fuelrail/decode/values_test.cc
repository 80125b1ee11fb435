#include "fuelrail/decode/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using testing::golden_image;
using ::testing::HasSubstr;

std::string refusal(const char* name, ValueEncoding encoding) {
  return testing::refusal_of<UnsupportedError>(
      [&] { value_layout(probe(golden_image(name).bytes()), encoding); });
}

TEST(ValueLayout, is_known_from_the_header) {
  const auto layout = [](const char* name) {
    return value_layout(probe(golden_image(name).bytes()), ValueEncoding::kStored);
  };
  EXPECT_EQ(layout("palette4.png"), (ValueLayout{DType::kUint8, 1}));
  EXPECT_EQ(layout("grey1.png"), (ValueLayout{DType::kUint8, 1}));
  EXPECT_EQ(layout("grey16.png"), (ValueLayout{DType::kUint16, 1}));
  EXPECT_EQ(layout("palette8.bmp"), (ValueLayout{DType::kUint8, 1}));
  EXPECT_EQ(layout("grey.jpg"), (ValueLayout{DType::kUint8, 1}));
}

TEST(ValueLayout, of_colours_is_refused_with_the_encoding_that_fits) {
  const std::string error = refusal("rgb8.png", ValueEncoding::kStored);
  EXPECT_THAT(error, HasSubstr("found PNG, 3 channels of 8 bits"));
  EXPECT_THAT(error, HasSubstr("encoding=\"rgb\""));
  EXPECT_THAT(refusal("grey8.png", ValueEncoding::kRgb), HasSubstr("encoding=\"index\""));
}

TEST(ValueLayout, of_lossy_colours_is_refused) {
  for (const char* name : {"s444.jpg", "lossy.webp"}) {
    EXPECT_THAT(refusal(name, ValueEncoding::kRgb), HasSubstr("Store the mask as PNG"));
  }
  EXPECT_EQ(value_layout(probe(golden_image("lossless.webp").bytes()), ValueEncoding::kRgb),
            (ValueLayout{DType::kInt32, 1}));
}

TEST(Values, decode_into_an_array_of_the_callers) {
  const testing::GoldenImage& image = golden_image("grey16.png");
  const ImageInfo info = probe(image.bytes());
  std::vector<uint16_t> array(21 * 29);
  const RawView view{reinterpret_cast<std::byte*>(array.data()), 21, 29, 1, DType::kUint16, 2 * 29};
  EXPECT_EQ(decode_all_values(*make_decoder(), image.bytes(), info, ValueEncoding::kStored, view),
            0u);
  EXPECT_EQ(as_text(std::as_bytes(std::span(array))), image.values);
  EXPECT_THROW(decode_all_values(*make_decoder(), image.bytes(), info, ValueEncoding::kRgb, view),
               UnsupportedError);
}

}  // namespace
}  // namespace fuelrail
