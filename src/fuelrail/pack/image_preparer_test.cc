#include "fuelrail/pack/image_preparer.h"

#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/pack/jpeg_encoder.h"
#include "fuelrail/testing/photographs.h"

namespace fuelrail {
namespace {

std::vector<std::byte> copied(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// A 2 x 2 PNG of one colour, as written by Pillow 11.
std::vector<std::byte> small_png() {
  static constexpr unsigned char kPng[] = {
      0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48,
      0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00,
      0x00, 0xFD, 0xD4, 0x9A, 0x73, 0x00, 0x00, 0x00, 0x16, 0x49, 0x44, 0x41, 0x54, 0x78,
      0x9C, 0x63, 0x3C, 0x91, 0x62, 0xC4, 0xC0, 0xC0, 0xC0, 0xC4, 0xC0, 0xC0, 0xC0, 0xC0,
      0xC0, 0x00, 0x00, 0x11, 0x28, 0x01, 0x62, 0xA6, 0x20, 0x2A, 0xA0, 0x00, 0x00, 0x00,
      0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82};
  return copied(std::as_bytes(std::span(kPng)));
}

// The JPEG with an EXIF block that holds nothing but the orientation.
std::vector<std::byte> oriented(const std::vector<std::byte>& jpeg, int orientation) {
  const unsigned char exif[] = {
      0xFF, 0xE1, 0x00, 0x22, 'E', 'x', 'i', 'f', 0, 0,
      'M',  'M',  0,    42,   0,   0,   0,   8,   0, 1,
      1,    0x12, 0,    3,    0,   0,   0,   1,   0, static_cast<unsigned char>(orientation),
      0,    0,    0,    0,    0,   0};
  std::vector<std::byte> out(jpeg.begin(), jpeg.begin() + 2);
  const Bytes block = std::as_bytes(std::span(exif));
  out.insert(out.end(), block.begin(), block.end());
  out.insert(out.end(), jpeg.begin() + 2, jpeg.end());
  return out;
}

std::vector<uint8_t> decoded(Bytes encoded) {
  const ImageInfo info = probe(encoded);
  const Size size = info.stored;
  std::vector<uint8_t> pixels(static_cast<size_t>(size.height * size.width * 3));
  DecodeJob job{.encoded = encoded,
                .info = info,
                .box = whole(size),
                .output = {pixels.data(), size.height, size.width, 3, size.width * 3}};
  make_decoder()->decode({&job, 1});
  if (job.error) std::rethrow_exception(job.error);
  return pixels;
}

TEST(ImagePreparer, bytes_pass_through_untouched_by_default) {
  const std::vector<std::byte> jpeg = make_jpeg(30, 40, 1);
  ImagePreparer preparer({});
  const Bytes out = preparer.prepare(jpeg);
  EXPECT_EQ(out.data(), jpeg.data());
  EXPECT_EQ(out.size(), jpeg.size());
}

TEST(ImagePreparer, the_shorter_side_is_made_as_long_as_asked) {
  ImagePreparer preparer({.resize = 32});
  EXPECT_EQ(probe(preparer.prepare(make_jpeg(100, 64, 1))).stored, (Size{50, 32}));
  EXPECT_EQ(probe(preparer.prepare(make_jpeg(64, 100, 1))).stored, (Size{32, 50}));
  EXPECT_EQ(probe(preparer.prepare(make_jpeg(33, 33, 1))).stored, (Size{32, 32}));
}

TEST(ImagePreparer, a_jpeg_is_never_enlarged_and_then_keeps_its_bytes) {
  ImagePreparer preparer({.resize = 32});
  const std::vector<std::byte> jpeg = make_jpeg(32, 200, 1);
  EXPECT_EQ(copied(preparer.prepare(jpeg)), jpeg);
}

TEST(ImagePreparer, a_given_quality_encodes_every_image_anew) {
  const std::vector<std::byte> jpeg = make_jpeg(40, 30, 1, 95);
  ImagePreparer preparer({.quality = 20});
  const Bytes out = preparer.prepare(jpeg);
  EXPECT_EQ(probe(out).stored, (Size{40, 30}));
  EXPECT_LT(out.size(), jpeg.size());
  ImagePreparer both({.resize = 64, .quality = 20});
  EXPECT_EQ(copied(both.prepare(jpeg)), copied(out));
}

TEST(ImagePreparer, resized_pixels_are_those_of_decode_resample_encode) {
  const std::vector<std::byte> jpeg = make_jpeg(90, 120, 5);
  ImagePreparer preparer({.resize = 40, .quality = 90});
  const std::vector<std::byte> out = copied(preparer.prepare(jpeg));

  const std::vector<uint8_t> pixels = decoded(jpeg);
  std::vector<uint8_t> smaller(40 * 53 * 3);
  const ImageView to{smaller.data(), 40, 53, 3, 53 * 3};
  Resampler().resample(ConstImageView{pixels.data(), 90, 120, 3, 360}, {0, 0, 90, 120},
                       {.box = {0, 0, 90, 120}, .scaled = {40, 53}, .window = {0, 0, 40, 53}}, to);
  std::vector<std::byte> expected;
  encode_jpeg(to, 90, expected);
  EXPECT_EQ(out, expected);
}

TEST(ImagePreparer, an_oriented_image_is_turned_upright_before_it_is_encoded) {
  const std::vector<std::byte> jpeg = make_jpeg(60, 90, 6);
  const std::vector<uint8_t> stored = decoded(jpeg);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::vector<std::byte> turned = oriented(jpeg, orientation);
    ASSERT_EQ(probe(turned).orientation, orientation);
    ImagePreparer preparer({.quality = 95});
    const std::vector<std::byte> out = copied(preparer.prepare(turned));
    const Size size = orientation >= 5 ? Size{90, 60} : Size{60, 90};
    EXPECT_EQ(probe(out).stored, size);
    EXPECT_EQ(probe(out).orientation, 1);

    std::vector<uint8_t> pixels(stored.size());
    const ImageView to{pixels.data(), size.height, size.width, 3, size.width * 3};
    turn_upright(ConstImageView{stored.data(), 60, 90, 3, 270}, orientation, to);
    std::vector<std::byte> expected;
    encode_jpeg(to, 95, expected);
    EXPECT_EQ(out, expected) << orientation;
  }
}

TEST(ImagePreparer, a_png_passes_through_unless_it_is_encoded_anew) {
  const std::vector<std::byte> png = small_png();
  ASSERT_EQ(probe(png).format, ImageFormat::kPng);
  EXPECT_EQ(copied(ImagePreparer({}).prepare(png)), png);
  ImagePreparer resize({.resize = 8});
  EXPECT_EQ(probe(resize.prepare(png)).format, ImageFormat::kJpeg);
  EXPECT_EQ(probe(resize.prepare(png)).stored, (Size{2, 2}));
  ImagePreparer quality({.quality = 90});
  EXPECT_EQ(probe(quality.prepare(png)).format, ImageFormat::kJpeg);
}

TEST(ImagePreparer, what_is_no_image_is_refused_unless_it_need_not_be_one) {
  const Bytes text = as_bytes("this is no image at all");
  EXPECT_THROW(ImagePreparer({}).prepare(text), Error);
  EXPECT_THROW(ImagePreparer({}).prepare({}), Error);
  EXPECT_THROW(ImagePreparer({.resize = 8}).prepare(text), Error);
  EXPECT_EQ(ImagePreparer({.verify_images = false}).prepare(text).data(), text.data());
}

TEST(ImagePreparer, damage_behind_the_header_is_found_when_images_are_decoded) {
  std::vector<std::byte> jpeg = make_jpeg(64, 64, 1);
  jpeg.resize(jpeg.size() / 2);
  EXPECT_EQ(ImagePreparer({}).prepare(jpeg).size(), jpeg.size());
  EXPECT_THROW(ImagePreparer({.resize = 32}).prepare(jpeg), Error);
  EXPECT_THROW(ImagePreparer({.resize = 100}).prepare(jpeg), Error);
  EXPECT_THROW(ImagePreparer({.quality = 90}).prepare(jpeg), Error);
}

TEST(ImagePreparer, a_bad_image_leaves_the_preparer_usable) {
  ImagePreparer preparer({.resize = 16});
  const std::vector<std::byte> jpeg = make_jpeg(64, 64, 1);
  const std::vector<std::byte> before = copied(preparer.prepare(jpeg));
  EXPECT_THROW(preparer.prepare(Bytes(jpeg).first(jpeg.size() / 2)), Error);
  EXPECT_EQ(copied(preparer.prepare(jpeg)), before);
}

}  // namespace
}  // namespace fuelrail
