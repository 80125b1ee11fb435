#include "fuelrail/decode/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/formats.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using testing::golden_image;
using ::testing::HasSubstr;
using namespace std::string_view_literals;

template <typename Expected>
std::string refusal(std::string_view encoded, int64_t max_pixels = kDefaultMaxPixels) {
  return testing::refusal_of<Expected>([&] { probe(as_bytes(encoded), max_pixels); });
}

std::string patched(std::string text, size_t at, std::string_view bytes) {
  return text.replace(at, bytes.size(), bytes);
}

// The beginning of the golden JPEG's frame header, from its marker on.
constexpr std::string_view kFrame = "\xff\xc0\x00\x11\x08"sv;
std::string jpeg() { return golden_image("s420.jpg").encoded; }
size_t frame_of(const std::string& encoded) { return encoded.find(kFrame); }

TEST(Probe, golden_images_are_described) {
  for (const testing::GoldenImage& image : testing::golden_images()) {
    SCOPED_TRACE(image.name);
    if (image.name.ends_with(".tif") && libtiff_version().empty()) {
      EXPECT_THAT(refusal<UnsupportedError>(image.encoded), HasSubstr("does not support TIFF"));
      continue;
    }
    const ImageInfo info = probe(image.bytes());
    EXPECT_TRUE(image.name.ends_with(info.format->extensions.front()));
    EXPECT_EQ(info.stored, image.stored);
    EXPECT_EQ(info.channels, image.channels);
    EXPECT_EQ(info.orientation, image.orientation);
    EXPECT_EQ(info.oriented().height * info.oriented().width, 21 * 29);
    EXPECT_EQ(info.oriented().height, image.orientation >= 5 ? 29 : 21);
  }
}

TEST(Probe, every_format_that_is_announced_is_decoded) {
  for (const ImageFormat* format : kImageFormats) {
    SCOPED_TRACE(format->name);
    const Decoding* decoding = decoding_of(format);
    ASSERT_NE(decoding, nullptr);
    for (const std::string_view signature : format->signatures) {
      EXPECT_LE(signature.size(), kImageSignatureBytes);
      if (signature.empty()) continue;
      EXPECT_EQ(announced_format(as_bytes(signature)), format);
      EXPECT_EQ(announced_decoding(as_bytes(signature)), decoding);
    }
  }
}

TEST(Probe, an_empty_image_is_refused) {
  EXPECT_THAT(refusal<DecodeError>(""), HasSubstr("empty"));
}

TEST(Probe, foreign_formats_are_refused_by_name) {
  const std::pair<std::string_view, const char*> kForeign[] = {
      {"GIF89a\1\0\1\0"sv, "GIF"},
      {"RIFF\x24\0\0\0WAVEfmt "sv, "bytes 52 49 46 46"},
      {"\0\0\0\x18"
       "ftypheic\0\0\0\0"sv,
       "HEIC"},
      {"\0\0\0\x1c"
       "ftypavif\0\0\0\0"sv,
       "AVIF"},
      {"\0\0\0\x18"
       "ftypmp42\0\0\0\0"sv,
       "video"},
      {"\0\0\0\x0cjP  \r\n\x87\n"sv, "JPEG 2000"},
      {"\xff\x4f\xff\x51\0\x29"sv, "JPEG 2000"},
      {"\xff\x0a\xfa\x1f"sv, "JPEG XL"},
      {"8BPS\0\1"sv, "Photoshop"},
      {"P6\n2 2\n255\n"sv, "PPM"},
  };
  for (const auto& [bytes, name] : kForeign) {
    EXPECT_THAT(refusal<UnsupportedError>(bytes), HasSubstr(name));
  }
}

TEST(Probe, unknown_bytes_are_shown) {
  EXPECT_THAT(refusal<UnsupportedError>("hello, world"), HasSubstr("bytes 68 65 6c 6c 6f"));
  EXPECT_THAT(refusal<UnsupportedError>("\xff"sv.substr(0, 1).data() + std::string("x")),
              HasSubstr("bytes ff 78"));
}

TEST(Probe, a_cut_signature_is_truncation) {
  refusal<TruncatedError>("\xff");
  refusal<TruncatedError>("\xff\xd8");
  refusal<TruncatedError>("\x89PNG\r");
  refusal<TruncatedError>("RI");
  refusal<TruncatedError>("RIFF\x24\0\0\0WEB"sv);
  refusal<TruncatedError>("B");
  refusal<TruncatedError>("II*");
  refusal<TruncatedError>("MM\0"sv);
  refusal<TruncatedError>(
      "\0\0\0\x18"
      "ftypis"sv);
}

TEST(Probe, every_header_that_is_cut_is_truncation) {
  for (const char* name : {"s420.jpg", "exif6.jpg", "progressive.jpg", "cmyk.jpg"}) {
    const std::string encoded = golden_image(name).encoded;
    const size_t scan = encoded.find("\xff\xda");
    for (size_t size = 1; size < scan + 4; ++size) {
      refusal<TruncatedError>(encoded.substr(0, size));
    }
  }
  const std::string png = golden_image("rgb8.png").encoded;
  for (size_t size = 1; size < 33; ++size) refusal<TruncatedError>(png.substr(0, size));
  EXPECT_NO_THROW(probe(as_bytes(std::string_view(png).substr(0, 33))));
}

TEST(ProbeJpeg, too_many_pixels_are_refused_before_anything_is_allocated) {
  const std::string encoded = jpeg();
  const std::string huge = patched(encoded, frame_of(encoded) + 5, "\xea\x60\xea\x60"sv);
  const std::string message = refusal<DecodeError>(huge);
  EXPECT_THAT(message, HasSubstr("60000 x 60000"));
  EXPECT_THAT(message, HasSubstr("178956970"));
  EXPECT_THAT(message, HasSubstr("max_pixels"));
  EXPECT_EQ(probe(as_bytes(huge), 3'600'000'000).stored, (Size{60000, 60000}));
  EXPECT_NO_THROW(probe(as_bytes(encoded), 21 * 29));
  refusal<DecodeError>(encoded, 21 * 29 - 1);
}

TEST(ProbeJpeg, zero_sizes_are_refused) {
  const std::string encoded = jpeg();
  const size_t frame = frame_of(encoded);
  EXPECT_THAT(refusal<DecodeError>(patched(encoded, frame + 5, "\0\0"sv)), HasSubstr("DNL"));
  EXPECT_THAT(refusal<DecodeError>(patched(encoded, frame + 7, "\0\0"sv)), HasSubstr("width of 0"));
}

TEST(ProbeJpeg, other_kinds_of_jpeg_are_refused_by_name) {
  const std::string encoded = jpeg();
  const size_t frame = frame_of(encoded);
  const std::pair<std::string_view, const char*> kKinds[] = {
      {"\xc3", "lossless"},   {"\xc5", "hierarchical"}, {"\xc9", "arithmetic"},
      {"\xca", "arithmetic"}, {"\xcf", "arithmetic"},   {"\xf7", "JPEG-LS"},
  };
  for (const auto& [marker, name] : kKinds) {
    EXPECT_THAT(refusal<UnsupportedError>(patched(encoded, frame + 1, marker)), HasSubstr(name));
  }
  EXPECT_THAT(refusal<UnsupportedError>(patched(encoded, frame + 4, "\x0c")),
              HasSubstr("number of bits"));
}

TEST(ProbeJpeg, extended_frames_are_decoded_like_baseline_ones) {
  const std::string encoded = jpeg();
  const std::string extended = patched(encoded, frame_of(encoded) + 1, "\xc1");
  EXPECT_EQ(probe(as_bytes(extended)).stored, (Size{21, 29}));
}

TEST(ProbeJpeg, odd_component_counts_are_refused) {
  std::string encoded = jpeg();
  const size_t frame = frame_of(encoded);
  encoded[frame + 3] = 8 + 3 * 2;
  encoded[frame + 9] = 2;
  encoded.erase(frame + 10 + 6, 3);
  EXPECT_THAT(refusal<UnsupportedError>(encoded), HasSubstr("components"));
}

TEST(ProbeJpeg, damaged_headers_are_refused) {
  const std::string encoded = jpeg();
  const size_t frame = frame_of(encoded);
  EXPECT_THAT(refusal<DecodeError>(patched(encoded, frame + 9, "\x04")), HasSubstr("length"));
  EXPECT_THAT(refusal<DecodeError>(patched(encoded, frame + 2, "\0\1"sv)), HasSubstr("length"));
  EXPECT_THAT(refusal<DecodeError>(patched(encoded, frame + 1, "\xd8")),
              HasSubstr("before its first scan"));
  EXPECT_THAT(refusal<DecodeError>(patched(encoded, frame + 1, "\xd9")),
              HasSubstr("before its first scan"));
  EXPECT_THAT(refusal<DecodeError>(patched(encoded, frame + 1, "\xfe")), HasSubstr("no frame"));
  std::string twice = encoded;
  twice.insert(frame, encoded.substr(frame, 19));
  EXPECT_THAT(refusal<DecodeError>(twice), HasSubstr("two frame"));
}

TEST(ProbeJpeg, extraneous_and_fill_bytes_between_markers_are_passed_over) {
  std::string encoded = jpeg();
  const size_t frame = frame_of(encoded);
  encoded.insert(frame, "abc\xff\0\xff\xff\xff\x01\xff"sv);
  EXPECT_EQ(probe(as_bytes(encoded)).stored, (Size{21, 29}));
}

TEST(Probe, more_than_8_bits_a_channel_are_told) {
  const auto bits = [](const char* name) { return probe(golden_image(name).bytes()).bits; };
  EXPECT_EQ(bits("rgb8.png"), 8);
  EXPECT_EQ(bits("grey16_interlaced.png"), 16);
  EXPECT_EQ(bits("rgba16.png"), 16);
  EXPECT_EQ(bits("grey4.png"), 4);
  EXPECT_EQ(bits("grey.jpg"), 8);
}

TEST(Probe, alpha_is_told) {
  const auto has = [](const std::string& name, std::string_view word) {
    return name.find(word) != std::string::npos;
  };
  for (const testing::GoldenImage& image : testing::golden_images()) {
    const std::string& name = image.name;
    if (name.ends_with(".tif") && libtiff_version().empty()) continue;
    const bool alpha = has(name, "alpha") || has(name, "rgba") || has(name, "trns") ||
                       has(name, "associated") || name == "animated.webp";
    EXPECT_EQ(probe(image.bytes()).alpha, alpha && !has(name, "unsaid")) << name;
  }
}

TEST(Probe, a_palette_of_greys_is_told) {
  const auto grey = [](const char* name) { return probe(golden_image(name).bytes()).grey_palette; };
  EXPECT_TRUE(grey("grey8.bmp"));
  EXPECT_TRUE(grey("grey1.bmp"));
  EXPECT_FALSE(grey("palette8.bmp"));
  EXPECT_FALSE(grey("palette8_os2.bmp"));
  EXPECT_FALSE(grey("rgb24.bmp"));
}

TEST(ProbePng, wrong_headers_are_refused) {
  const std::string encoded = golden_image("rgb8.png").encoded;
  const auto with = [&](size_t at, std::string_view bytes) { return patched(encoded, at, bytes); };
  EXPECT_THAT(refusal<DecodeError>(with(16, "\0\0\0\0"sv)), HasSubstr("height or width of 0"));
  EXPECT_THAT(refusal<DecodeError>(with(20, "\0\0\0\0"sv)), HasSubstr("height or width of 0"));
  EXPECT_THAT(refusal<DecodeError>(with(16, "\x80\0\0\0"sv)), HasSubstr("2^31"));
  EXPECT_THAT(refusal<DecodeError>(with(16, "\0\0\xea\x60\0\0\xea\x60"sv)),
              HasSubstr("60000 x 60000"));
  EXPECT_THAT(refusal<DecodeError>(with(16, "\x7f\xff\xff\xff\x7f\xff\xff\xff"sv)),
              HasSubstr("2147483647"));
  EXPECT_THAT(refusal<DecodeError>(with(24, "\x03"sv)),
              HasSubstr("colour type 2 with bit depth 3"));
  EXPECT_THAT(refusal<DecodeError>(with(25, "\x05"sv)), HasSubstr("colour type 5"));
  EXPECT_THAT(refusal<DecodeError>(with(26, "\x01"sv)), HasSubstr("compression"));
  EXPECT_THAT(refusal<DecodeError>(with(28, "\x02"sv)), HasSubstr("interlace"));
  EXPECT_THAT(refusal<DecodeError>(with(12, "CgBI"sv)), HasSubstr("IHDR"));
  EXPECT_THAT(refusal<DecodeError>(with(8, "\0\0\0\x0c"sv)), HasSubstr("IHDR"));
  EXPECT_THAT(refusal<DecodeError>(with(8, "\xff\xff\xff\xff"sv)), HasSubstr("IHDR"));
}

TEST(ProbePng, chunks_that_run_past_the_end_only_end_the_search_for_metadata) {
  const std::string encoded = golden_image("exif6.png").encoded;
  const size_t chunk = encoded.find("eXIf") - 4;
  EXPECT_EQ(probe(as_bytes(patched(encoded, chunk, "\xff\xff\xff\xff"sv))).orientation, 1);
}

}  // namespace
}  // namespace fuelrail
