#include "fuelrail/pack/image/image_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/encode/jpeg_encoder.h"
#include "fuelrail/pack/plan.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/transform/resize.h"

namespace fuelrail::pack {
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

// The JPEG with an EXIF block that contains only the orientation.
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

// The steps for the options of `pack`.
class Preparer {
 public:
  explicit Preparer(const StoredImages& images)
      : steps_(image_steps({.images = images})), pipeline_(steps_) {}
  Bytes prepare(Bytes encoded) { return pipeline_.prepare(encoded, 0); }

 private:
  ImageSteps steps_;
  ImagePipeline pipeline_;
};

TEST(PackedImages, bytes_pass_through_untouched_by_default) {
  const std::vector<std::byte> jpeg = make_jpeg(30, 40, 1);
  Preparer preparer({});
  const Bytes out = preparer.prepare(jpeg);
  EXPECT_EQ(out.data(), jpeg.data());
  EXPECT_EQ(out.size(), jpeg.size());
}

TEST(PackedImages, the_shorter_side_is_made_as_long_as_asked) {
  Preparer preparer({.resize = 32});
  EXPECT_EQ(probe(preparer.prepare(make_jpeg(100, 64, 1))).stored, (Size{50, 32}));
  EXPECT_EQ(probe(preparer.prepare(make_jpeg(64, 100, 1))).stored, (Size{32, 50}));
  EXPECT_EQ(probe(preparer.prepare(make_jpeg(33, 33, 1))).stored, (Size{32, 32}));
}

TEST(PackedImages, a_jpeg_is_never_enlarged_and_then_keeps_its_bytes) {
  Preparer preparer({.resize = 32});
  const std::vector<std::byte> jpeg = make_jpeg(32, 200, 1);
  EXPECT_EQ(copied(preparer.prepare(jpeg)), jpeg);
}

TEST(PackedImages, a_given_quality_encodes_every_image_anew) {
  const std::vector<std::byte> jpeg = make_jpeg(40, 30, 1, 95);
  Preparer preparer({.quality = 20});
  const Bytes out = preparer.prepare(jpeg);
  EXPECT_EQ(probe(out).stored, (Size{40, 30}));
  EXPECT_LT(out.size(), jpeg.size());
  Preparer both({.resize = 64, .quality = 20});
  EXPECT_EQ(copied(both.prepare(jpeg)), copied(out));
}

TEST(PackedImages, resized_pixels_are_those_of_decode_resample_encode) {
  const std::vector<std::byte> jpeg = make_jpeg(90, 120, 5);
  Preparer preparer({.resize = 40, .quality = 90});
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

TEST(PackedImages, an_oriented_image_is_turned_upright_before_it_is_encoded) {
  const std::vector<std::byte> jpeg = make_jpeg(60, 90, 6);
  const std::vector<uint8_t> stored = decoded(jpeg);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::vector<std::byte> turned = oriented(jpeg, orientation);
    ASSERT_EQ(probe(turned).orientation, orientation);
    Preparer preparer({.quality = 95});
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

TEST(PackedImages, a_png_passes_through_unless_it_is_encoded_anew) {
  const std::vector<std::byte> png = small_png();
  ASSERT_EQ(probe(png).format, &kPngFormat);
  EXPECT_EQ(copied(Preparer({}).prepare(png)), png);
  Preparer resize({.resize = 8});
  EXPECT_EQ(probe(resize.prepare(png)).format, &kJpegFormat);
  EXPECT_EQ(probe(resize.prepare(png)).stored, (Size{2, 2}));
  Preparer quality({.quality = 90});
  EXPECT_EQ(probe(quality.prepare(png)).format, &kJpegFormat);
}

TEST(PackedImages, what_is_no_image_is_refused_unless_it_need_not_be_one) {
  const Bytes text = as_bytes("this is no image at all");
  EXPECT_THROW(Preparer({}).prepare(text), Error);
  EXPECT_THROW(Preparer({}).prepare({}), Error);
  EXPECT_THROW(Preparer({.resize = 8}).prepare(text), Error);
  EXPECT_EQ(Preparer({.verify_images = false}).prepare(text).data(), text.data());
}

TEST(PackedImages, damage_behind_the_header_is_found_when_images_are_decoded) {
  std::vector<std::byte> jpeg = make_jpeg(64, 64, 1);
  jpeg.resize(jpeg.size() / 2);
  EXPECT_EQ(Preparer({}).prepare(jpeg).size(), jpeg.size());
  EXPECT_THROW(Preparer({.resize = 32}).prepare(jpeg), Error);
  EXPECT_THROW(Preparer({.resize = 100}).prepare(jpeg), Error);
  EXPECT_THROW(Preparer({.quality = 90}).prepare(jpeg), Error);
}

TEST(PackedImages, a_bad_image_leaves_the_pipeline_usable) {
  Preparer preparer({.resize = 16});
  const std::vector<std::byte> jpeg = make_jpeg(64, 64, 1);
  const std::vector<std::byte> before = copied(preparer.prepare(jpeg));
  EXPECT_THROW(preparer.prepare(Bytes(jpeg).first(jpeg.size() / 2)), Error);
  EXPECT_EQ(copied(preparer.prepare(jpeg)), before);
}

// --- Steps as MXNet's im2rec has them ---

Size size_after(const ImageSteps& steps, Bytes encoded, uint64_t place = 0) {
  check(steps);
  return probe(ImagePipeline(steps).prepare(encoded, place)).stored;
}

TEST(ImagePipeline, resizing_goes_up_and_down_and_cuts_the_other_side) {
  const ImageSteps steps{.shorter_side = 100};
  EXPECT_EQ(size_after(steps, make_jpeg(60, 77, 1)), (Size{100, 128}));
  EXPECT_EQ(size_after(steps, make_jpeg(333, 250, 1)), (Size{133, 100}));
  EXPECT_EQ(size_after({.resize = {20, 30}}, make_jpeg(60, 77, 1)), (Size{20, 30}));
}

TEST(ImagePipeline, the_middle_square_is_cut_out_before_resizing) {
  EXPECT_EQ(size_after({.center_crop = true}, make_jpeg(61, 40, 1)), (Size{40, 40}));
  EXPECT_EQ(size_after({.center_crop = true, .shorter_side = 16}, make_jpeg(40, 61, 1)),
            (Size{16, 16}));
}

TEST(ImagePipeline, the_file_is_turned_upright_unless_it_is_to_be_unchanged) {
  const std::vector<std::byte> turned = oriented(make_jpeg(60, 90, 6), 6);
  EXPECT_EQ(size_after({}, turned), (Size{90, 60}));
  EXPECT_EQ(size_after({.color = ColorMode::kGrey}, turned), (Size{90, 60}));
  EXPECT_EQ(size_after({.color = ColorMode::kUnchanged}, turned), (Size{60, 90}));
}

TEST(ImagePipeline, grey_is_one_channel_in_either_encoding) {
  for (const ImageEncoding encoding : {ImageEncoding::kJpeg, ImageEncoding::kPng}) {
    const ImageSteps steps{.color = ColorMode::kGrey,
                           .stages = {Transforms{CenterCrop{{16, 16}}, HorizontalFlip{1}}},
                           .encoding = encoding};
    ImagePipeline pipeline(steps);
    EXPECT_EQ(probe(pipeline.prepare(make_jpeg(30, 40, 1), 0)).channels, 1);
  }
}

TEST(ImagePipeline, random_transforms_depend_on_the_seed_and_the_place_alone) {
  const std::vector<std::byte> jpeg = make_jpeg(90, 120, 5);
  const auto made = [&](uint64_t seed, uint64_t place) {
    const ImageSteps steps{.stages = {Transforms{RandomCrop{.size = {16, 16}}}}, .seed = seed};
    return copied(ImagePipeline(steps).prepare(jpeg, place));
  };
  EXPECT_EQ(made(1, 2), made(1, 2));
  EXPECT_NE(made(1, 2), made(2, 2));
  EXPECT_NE(made(1, 2), made(1, 3));
}

// For each of the first 40 places, which of the five interpolations was used.
std::vector<int> rules_of_places(uint64_t seed) {
  const std::vector<std::byte> jpeg = make_jpeg(90, 120, 5);
  const auto resized = [&](ResizeRule rule, uint64_t place) {
    const ImageSteps steps{
        .shorter_side = 40, .rule = rule, .encoding = ImageEncoding::kPng, .seed = seed};
    return copied(ImagePipeline(steps).prepare(jpeg, place));
  };
  std::vector<std::vector<std::byte>> fixed;
  for (int rule = 0; rule < 5; ++rule) fixed.push_back(resized(static_cast<ResizeRule>(rule), 0));
  std::vector<int> rules;
  for (uint64_t place = 0; place < 40; ++place) {
    const auto found = std::find(fixed.begin(), fixed.end(), resized(ResizeRule::kRandom, place));
    rules.push_back(static_cast<int>(found - fixed.begin()));  // 5: none of them
  }
  return rules;
}

TEST(ImagePipeline, a_random_interpolation_is_any_of_the_five_by_the_seed_and_the_place) {
  const std::vector<int> rules = rules_of_places(1);
  EXPECT_EQ(std::set<int>(rules.begin(), rules.end()), (std::set<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(rules_of_places(1), rules);
  EXPECT_NE(rules_of_places(2), rules);
}

TEST(ImagePipeline, a_function_may_change_size_and_channels) {
  const ImageSteps steps{.stages = {PixelFunction([](ConstImageView from, OwnedPixels& to) {
                           to.size = {2, from.width};
                           to.channels = 1;
                           to.pixels.assign(static_cast<size_t>(2 * from.width), 7);
                         })},
                         .encoding = ImageEncoding::kPng};
  ImagePipeline pipeline(steps);
  const ImageInfo info = probe(pipeline.prepare(make_jpeg(30, 40, 1), 0));
  EXPECT_EQ(info.stored, (Size{2, 40}));
  EXPECT_EQ(info.channels, 1);
}

TEST(ImagePipeline, a_function_that_gives_no_image_is_refused) {
  for (const int64_t channels : {0, 2, 3}) {
    const ImageSteps steps{
        .stages = {PixelFunction([channels](ConstImageView, OwnedPixels& to) {
          to = {.pixels = std::vector<uint8_t>(5), .size = {2, 2}, .channels = channels};
        })}};
    ImagePipeline pipeline(steps);
    EXPECT_THROW(pipeline.prepare(make_jpeg(30, 40, 1), 0), InvalidArgumentError) << channels;
  }
}

TEST(ImagePipeline, steps_that_cannot_be_are_refused) {
  EXPECT_THROW(check(ImageSteps{.stages = {Transforms{Normalize{}}}}), InvalidArgumentError);
  EXPECT_THROW(check(ImageSteps{.shorter_side = -1}), InvalidArgumentError);
  EXPECT_THROW(check(ImageSteps{.shorter_side = 5, .resize = {5, 5}}), InvalidArgumentError);
  EXPECT_THROW(check(ImageSteps{.resize = {5, 0}}), InvalidArgumentError);
  EXPECT_THROW(check(ImageSteps{.quality = 0}), InvalidArgumentError);
  EXPECT_THROW(check(ImageSteps{.quality = 101}), InvalidArgumentError);
  EXPECT_THROW(check(ImageSteps{.encoding = ImageEncoding::kPng, .quality = -1}),
               InvalidArgumentError);
  check(ImageSteps{.encoding = ImageEncoding::kPng, .quality = 0});
}

}  // namespace
}  // namespace fuelrail::pack
