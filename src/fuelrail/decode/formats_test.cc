#include "fuelrail/decode/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/invented_codec.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::testing {
namespace {

using ::testing::HasSubstr;

EncodedImage described(Bytes bytes, const ImageCodec& codec, Size visible = {}) {
  EncodedImage image(bytes);
  image.codec = &codec;
  image.visible = visible;
  return image;
}

// The size of the golden images: 21 rows of 29 pixels.
std::string decoding_error(const EncodedImage& image) {
  CropJob job(image, {.format = image.codec->format, .stored = {21, 29}}, {0, 0, 4, 4});
  job.decode_with(*make_decoder());
  return job.error();
}

int makers_called = 0;

std::unique_ptr<Decoder> make_or_fail() {
  if (++makers_called < 3) throw std::runtime_error("the maker is tired");
  return make_invented_decoder();
}

// Pixels whose first bytes are those of a JPEG.
std::array<std::byte, 60> invented_pixels() {
  std::array<std::byte, 60> pixels{};
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = std::byte(i);
  pixels[0] = std::byte{0xff};
  pixels[1] = std::byte{0xd8};
  pixels[2] = std::byte{0xff};
  return pixels;
}

constexpr std::array kKey{std::byte{0x40}};
constexpr ImageCodec kInvented{.format = &kInventedFormat, .coded = {4, 5}, .parameters = kKey};

TEST(DescribedImage, is_decoded_as_its_container_says) {
  const LentDecoding lent(kInventedDecoding);
  const auto pixels = invented_pixels();
  const EncodedImage image = described(pixels, kInvented, {3, 2});
  const ImageInfo info = probe(image);
  EXPECT_EQ(info.format, &kInventedFormat);
  EXPECT_EQ(info.stored, (Size{3, 2}));
  EXPECT_EQ(info.channels, 3);
  EXPECT_EQ(info.bits, 8);
  CropJob job(image, info, {1, 0, 2, 2});
  job.decode_with(*make_decoder());
  ASSERT_EQ(job.error(), "");
  std::string expected;
  for (const int at : {15, 16, 17, 18, 19, 20, 30, 31, 32, 33, 34, 35}) {
    expected += static_cast<char>(at ^ 0x40);
  }
  EXPECT_EQ(job.packed(), expected);
}

TEST(DescribedImage, may_be_the_upper_left_part_of_its_picture) {
  for (const GoldenImage& image : golden_images()) {
    SCOPED_TRACE(image.name);
    if (image.name.ends_with(".tif") && libtiff_version().empty()) continue;
    const ImageInfo own = probe(image.bytes());
    const ImageCodec codec{own.format, own.stored, own.channels, own.bits};
    const EncodedImage part = described(image.bytes(), codec, {17, 11});
    const ImageInfo info = probe(part);
    EXPECT_EQ(info.stored, (Size{17, 11}));
    CropJob all(image.bytes(), own, {2, 1, 15, 10}), job(part, info, {2, 1, 15, 10});
    all.decode_with(*make_decoder());
    job.decode_with(*make_decoder());
    EXPECT_EQ(job.error(), "");
    EXPECT_EQ(job.packed(), all.packed());
  }
}

TEST(DescribedImage, of_another_format_is_refused) {
  const ImageCodec jpeg{.format = &kJpegFormat};
  const EncodedImage png = described(golden_image("rgb8.png").bytes(), jpeg);
  const std::string error = refusal_of<DecodeError>([&] { probe(png); });
  EXPECT_THAT(error, HasSubstr("the image does not have the format that the dataset declares"));
  EXPECT_THAT(error, HasSubstr("expected JPEG, found PNG"));
  EXPECT_EQ(decoding_error(png), error);
  EXPECT_THAT(decoding_error(described({}, jpeg)), HasSubstr("found an unknown format"));
}

TEST(DescribedImage, of_another_size_is_refused) {
  for (const auto& [name, format] : {std::pair{"s420.jpg", &kJpegFormat},
                                     {"rgb8.png", &kPngFormat},
                                     {"lossy.webp", &kWebpFormat},
                                     {"rgb24.bmp", &kBmpFormat}}) {
    const ImageCodec codec{.format = format, .coded = {24, 32}};
    const std::string error = decoding_error(described(golden_image(name).bytes(), codec));
    EXPECT_THAT(error, HasSubstr("the image does not have the size that the dataset declares"));
    EXPECT_THAT(error, HasSubstr("expected 24 x 32 (height x width), found 21 x 29"));
  }
}

TEST(DescribedImage, of_a_wrong_or_missing_size_is_refused) {
  const LentDecoding lent(kInventedDecoding);
  const auto error_of = [](Size coded, Size visible) {
    const ImageCodec codec{.format = &kInventedFormat, .coded = coded};
    return refusal_of<DecodeError>([&] { probe(described({}, codec, visible)); });
  };
  for (const auto& [coded, visible] : {std::pair{Size{4, 5}, Size{5, 5}},
                                       {Size{4, 5}, Size{4, 6}},
                                       {Size{4, 5}, Size{0, 5}},
                                       {Size{0, 5}, Size{}},
                                       {Size{4, -1}, Size{}}}) {
    EXPECT_THAT(error_of(coded, visible),
                HasSubstr("the size that the dataset declares for the image is out of range"));
  }
  EXPECT_THAT(error_of({INT64_MAX, INT64_MAX}, {1, 1}), HasSubstr("declares too many pixels"));
  EXPECT_THAT(error_of({1, 65536}, {}), HasSubstr("a height or width that is too large"));
  EXPECT_THAT(error_of({}, {}), HasSubstr("does not declare the size of its images"));
}

TEST(DescribedImage, of_a_wrong_number_of_channels_is_refused) {
  const LentDecoding lent(kInventedDecoding);
  for (const int channels : {0, 5}) {
    const ImageCodec codec{.format = &kInventedFormat, .coded = {4, 5}, .channels = channels};
    EXPECT_THAT(refusal_of<DecodeError>([&] { probe(described({}, codec)); }),
                HasSubstr("expected 1 to 4, found " + std::to_string(channels)));
  }
}

TEST(DescribedImage, with_a_visible_part_of_no_coded_size_is_refused) {
  const ImageCodec jpeg{.format = &kJpegFormat};
  EncodedImage image = described(golden_image("s420.jpg").bytes(), jpeg, {17, 11});
  const std::string error = refusal_of<DecodeError>([&] { probe(image); });
  EXPECT_THAT(
      error,
      HasSubstr("but not its full (coded) size: found a visible size of 17 x 11 (height x width)"));
  image.codec = nullptr;
  EXPECT_EQ(refusal_of<DecodeError>([&] { probe(image); }), error);
}

TEST(DescribedImage, of_a_format_without_decoder_is_refused_with_those_that_have_one) {
  const EncodedImage image = described({}, kInvented);
  const std::string error = refusal_of<UnsupportedError>([&] { probe(image); });
  EXPECT_THAT(error,
              HasSubstr("expected JPEG, PNG, WebP, BMP, TIFF, NumPy (.npy) or H.265 (MP4), found "
                        "Invented"));
  EXPECT_THAT(decoding_error(image),
              HasSubstr("the image format in the job's `info` has no decoder"));
}

TEST(Decodings, a_maker_is_called_at_the_first_image_and_after_it_has_failed) {
  constexpr Decoding kTired{&kInventedFormat, nullptr, make_or_fail};
  const LentDecoding lent(kTired);
  const auto pixels = invented_pixels();
  const EncodedImage image = described(pixels, kInvented);
  const ImageInfo info = probe(image);
  CropJob a(image, info, {0, 0, 1, 1}), b(image, info, {0, 0, 1, 1}), c(image, info, {0, 0, 1, 1});
  makers_called = 0;
  const std::unique_ptr<Decoder> decoder = make_decoder();
  EXPECT_EQ(makers_called, 0);
  std::array jobs{a.job, b.job, c.job};
  decoder->decode(jobs);
  for (const DecodeJob* job : {&jobs[0], &jobs[1]}) {
    EXPECT_THROW(std::rethrow_exception(job->error), std::runtime_error);
  }
  EXPECT_NE(jobs[0].error, jobs[1].error);
  EXPECT_EQ(jobs[2].error, nullptr);
  decoder->decode({jobs.data(), 2});
  EXPECT_EQ(jobs[0].error, nullptr);
  EXPECT_EQ(makers_called, 3);
}

// Expects that two jobs of one worker fail with this error.
template <typename Expected>
void expect_failures(Decoder& decoder, const std::string& text) {
  const auto pixels = invented_pixels();
  const EncodedImage image = described(pixels, kInvented);
  CropJob a(image, probe(image), {0, 0, 1, 1}), b(image, probe(image), {0, 0, 1, 1});
  std::array jobs{a.job, b.job};
  decoder.decode(jobs);
  EXPECT_NE(jobs[0].error, jobs[1].error);  // each error has its own place
  for (const DecodeJob& job : jobs) {
    EXPECT_THAT(refusal_of<Expected>([&] { std::rethrow_exception(job.error); }), HasSubstr(text));
  }
}

TEST(Decodings, a_maker_that_tells_of_this_machine_is_called_once_a_worker) {
  constexpr Decoding kMissing{&kInventedFormat, nullptr, []() -> std::unique_ptr<Decoder> {
                                ++makers_called;
                                throw MissingCodecError("no library");
                              }};
  const LentDecoding lent(kMissing);
  makers_called = 0;
  const std::unique_ptr<Decoder> decoder = make_decoder();
  expect_failures<MissingCodecError>(*decoder, "no library");
  expect_failures<MissingCodecError>(*decoder, "no library");
  EXPECT_EQ(makers_called, 1);
}

TEST(Decodings, a_maker_that_gives_none_is_an_error) {
  constexpr Decoding kNone{&kInventedFormat, nullptr, [] { return std::unique_ptr<Decoder>(); }};
  const LentDecoding lent(kNone);
  expect_failures<MissingCodecError>(*make_decoder(), "expected a decoder, found null");
}

TEST(Decodings, what_a_decoder_throws_is_no_error_of_a_job) {
  struct Broken : Decoder {
    void decode(std::span<DecodeJob>) override { throw std::runtime_error("broken"); }
  };
  constexpr Decoding kBroken{&kInventedFormat, nullptr, []() -> std::unique_ptr<Decoder> {
                               return std::make_unique<Broken>();
                             }};
  const LentDecoding lent(kBroken);
  const auto pixels = invented_pixels();
  const EncodedImage image = described(pixels, kInvented);
  CropJob job(image, probe(image), {0, 0, 1, 1});
  EXPECT_THROW(job.decode_with(*make_decoder()), std::runtime_error);
  EXPECT_EQ(job.error(), "");
}

TEST(Decodings, a_header_of_no_pixels_is_refused) {
  static constexpr ImageFormat kEmpty{"empty", "Empty", {}, {"EMPTY"}};
  constexpr Decoding kNoSize{&kEmpty, [](Bytes bytes) {
                               const int64_t side = static_cast<int64_t>(bytes.size()) - 5;
                               return ImageInfo{.format = &kEmpty, .stored = {1 - side, side}};
                             }};
  const LentDecoding lent(kNoSize);
  for (const char* image : {"EMPTY", "EMPTY1"}) {
    EXPECT_THAT(refusal_of<DecodeError>([&] { probe(as_bytes(image)); }),
                HasSubstr("the image declares a height or width of 0: found"));
  }
}

}  // namespace
}  // namespace fuelrail::testing
