#include "fuelrail/decode/exif.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace fuelrail {
namespace {

using namespace std::string_view_literals;

// A header, an IFD of one entry at 8, and no next IFD.
constexpr std::string_view kLittle =
    "II*\0\x08\0\0\0"
    "\x01\0"
    "\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"
    "\0\0\0\0"sv;
constexpr std::string_view kBig =
    "MM\0*\0\0\0\x08"
    "\0\x01"
    "\x01\x12\0\x03\0\0\0\x01\0\x06\0\0"
    "\0\0\0\0"sv;

std::optional<int> orientation(std::string_view text) { return exif_orientation(as_bytes(text)); }

std::string patched(std::string_view text, size_t at, std::string_view bytes) {
  std::string copy(text);
  copy.replace(at, bytes.size(), bytes);
  return copy;
}

TEST(Exif, orientation_is_read_in_both_byte_orders) {
  EXPECT_EQ(orientation(kLittle), 6);
  EXPECT_EQ(orientation(kBig), 6);
}

TEST(Exif, a_prefix_is_passed_over) {
  EXPECT_EQ(orientation(std::string("Exif\0\0"sv) + std::string(kLittle)), 6);
}

TEST(Exif, a_long_integer_counts_too) {
  EXPECT_EQ(orientation(patched(kLittle, 12, "\x04"sv)), 6);
  EXPECT_EQ(orientation(patched(patched(kBig, 12, "\0\x04"sv), 18, "\0\0\0\x06"sv)), 6);
}

TEST(Exif, other_types_and_several_values_are_no_orientation) {
  EXPECT_EQ(orientation(patched(kLittle, 12, "\x02"sv)), std::nullopt);
  EXPECT_EQ(orientation(patched(kLittle, 14, "\x02"sv)), std::nullopt);
}

TEST(Exif, another_tag_is_no_orientation) {
  EXPECT_EQ(orientation(patched(kLittle, 10, "\x13"sv)), std::nullopt);
}

TEST(Exif, a_wrong_header_is_no_orientation) {
  EXPECT_EQ(orientation(""), std::nullopt);
  EXPECT_EQ(orientation(patched(kLittle, 0, "IM"sv)), std::nullopt);
  EXPECT_EQ(orientation(patched(kLittle, 2, "\x2b"sv)), std::nullopt);
}

TEST(Exif, offsets_and_counts_past_the_end_are_harmless) {
  EXPECT_EQ(orientation(patched(kLittle, 4, "\xff\xff\xff\xff"sv)), std::nullopt);
  EXPECT_EQ(orientation(patched(kLittle, 4, "\x19"sv)), std::nullopt);
  EXPECT_EQ(orientation(patched(kLittle, 8, "\xff\xff"sv)), 6);  // entries that exist are read
}

TEST(Exif, every_truncation_is_harmless) {
  for (const std::string_view whole : {kLittle, kBig}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      const std::string cut(whole.substr(0, size));
      EXPECT_EQ(orientation(cut), size < 22 ? std::nullopt : std::optional<int>(6)) << size;
    }
  }
}

TEST(Xmp, orientation_is_read_as_attribute_and_as_element) {
  EXPECT_EQ(xmp_orientation(as_bytes(R"(<a tiff:Orientation="8"/>)")), 8);
  EXPECT_EQ(xmp_orientation(as_bytes("<tiff:Orientation>3</tiff:Orientation>")), 3);
  EXPECT_EQ(xmp_orientation(as_bytes("tiff:Orientation tiff:Orientation=\"2")), 2);
}

TEST(Xmp, what_is_no_digit_is_no_orientation) {
  for (const char* text : {"", "tiff:Orientation", "tiff:Orientation=\"", "tiff:Orientation>x"}) {
    EXPECT_EQ(xmp_orientation(as_bytes(text)), std::nullopt) << text;
  }
}

TEST(Orientation, exif_comes_before_xmp_and_wrong_values_mean_upright) {
  const Bytes exif = as_bytes(kLittle), xmp = as_bytes("tiff:Orientation=\"3\"");
  EXPECT_EQ(orientation_from(exif, xmp), 6);
  EXPECT_EQ(orientation_from({}, xmp), 3);
  EXPECT_EQ(orientation_from({}, {}), 1);
  EXPECT_EQ(orientation_from(as_bytes(patched(kLittle, 18, "\x09"sv)), {}), 1);
  EXPECT_EQ(orientation_from(as_bytes(patched(kLittle, 18, "\0"sv)), xmp), 1);
}

}  // namespace
}  // namespace fuelrail
