// The errors of decoding, and what is checked before and after the plugin decodes.
// encode/hevc_encoder_test.cc decodes real pictures.
#include "fuelrail/decode/hevc/hevc_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/formats.h"
#include "fuelrail/mp4/nested_file_writer.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/invented_hevc.h"
#include "fuelrail/testing/made_hevc.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::testing {
namespace {

using ::testing::HasSubstr;

// A picture of the invented plugin, whose luma is `value`.
class HevcDecoder : public ::testing::Test {
 protected:
  HevcDecoder() {
    codec.format = &kHevcFormat;
    codec.coded = {2, 4};
    set_parameters({sps, kMadePps});
    sample = with_length(made_slice("\x21"), 4);
  }

  void set_parameters(const std::vector<std::string>& units) {
    box = made_hvcc(units);
    codec.parameters = as_bytes(box);
  }

  std::string decode(const char* what = "", int64_t channels = 3) {
    const SelectedPlugin selected(INVENTED_HEVC, what);
    EncodedImage image{as_bytes(sample)};
    image.codec = &codec;
    CropJob job(image, ImageInfo{.format = codec.format, .stored = {2, 4}, .channels = 3},
                {0, 1, 1, 2}, 0x5a, 0, channels);
    job.decode_with(*decoder());
    pixels = job.packed();
    return job.error();
  }

  Decoder* decoder() {
    if (!made_) made_ = make_decoder();
    return made_.get();
  }

  std::string sps = MadeSps{.coded = {8, 8}, .crop_right = 2, .crop_bottom = 3}.unit();
  std::string box, sample, pixels;
  ImageCodec codec;

 private:
  std::unique_ptr<Decoder> made_;
};

TEST_F(HevcDecoder, decodes_a_box_of_the_picture) {
  EXPECT_EQ(decode(), "");
  EXPECT_EQ(pixels, std::string(6, '\x21'));
  sample = with_length(made_slice("\x43"), 4);
  EXPECT_EQ(decode("", 1), "");
  EXPECT_EQ(pixels, std::string(2, '\x43'));
}

TEST_F(HevcDecoder, planes_are_passed_on_instead_of_pixels) {
  const SelectedPlugin selected(INVENTED_HEVC, "");
  EncodedImage image{as_bytes(sample)};
  image.codec = &codec;
  int calls = 0;
  DecodeJob job{.encoded = image,
                .info = {.format = codec.format, .stored = {2, 4}, .channels = 3},
                .box = {0, 0, 2, 4},
                .output = {}};
  job.take_planes = [&](const Planes& planes) {
    ++calls;
    EXPECT_EQ(planes.planes[0].size, (Size{2, 4}));
    EXPECT_EQ(*planes.planes[0].first, std::byte{0x21});
  };
  decoder()->decode({&job, 1});
  EXPECT_EQ(job.error, nullptr);
  EXPECT_EQ(calls, 1);

  codec.format = nullptr;
  const std::string jpeg = "\xff\xd8\xff";
  DecodeJob other{.encoded = as_bytes(jpeg),
                  .info = {.format = &kJpegFormat, .stored = {2, 4}, .channels = 3},
                  .box = {0, 0, 2, 4},
                  .output = {},
                  .take_planes = job.take_planes};
  decoder()->decode({&other, 1});
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { std::rethrow_exception(other.error); }),
              HasSubstr("not stored as planes of luma and chroma"));
  EXPECT_EQ(calls, 1);
}

TEST_F(HevcDecoder, parameter_sets_may_be_in_the_sample) {
  set_parameters({});
  EXPECT_THAT(decode(), HasSubstr("the image lacks parameter sets"));
  sample = with_length(sps, 4) + with_length(kMadePps, 4) + sample;
  EXPECT_EQ(decode(), "");
  set_parameters({MadeSps{}.unit(), kMadePps});
  EXPECT_THAT(decode(), HasSubstr("different sequence parameter sets"));
}

TEST_F(HevcDecoder, a_picture_of_another_size_is_an_error) {
  codec.coded = {4, 4};
  EXPECT_THAT(decode(), HasSubstr("the image does not have the size that the dataset declares: "
                                  "expected 4 x 4 (height x width), found 2 x 4 (height x width) "
                                  "of 8 x 8 (height x width) in its parameter sets"));
  codec.coded = {2, 4};
  set_parameters(
      {MadeSps{.coded = {32768, 65528}, .crop_right = 32762, .crop_bottom = 16383}.unit(),
       kMadePps});
  EXPECT_THAT(decode(), HasSubstr("found 2 x 4 (height x width) of 32768 x 65528"));
  set_parameters({sps, kMadePps});
  EXPECT_THAT(decode("wide"), HasSubstr("found 2 x 5 (height x width)"));
}

TEST_F(HevcDecoder, the_librarys_errors_are_the_images) {
  EXPECT_EQ(decode("damaged"), "an invented failure");
  EXPECT_EQ(decode("unsupported"), "an invented failure");
  EXPECT_EQ(decode("no memory"), std::bad_alloc().what());
  EXPECT_EQ(decode(), "");
  EXPECT_THAT(decode("", 4), HasSubstr("no alpha"));
  sample.resize(6);
  EXPECT_THAT(decode(), HasSubstr("ends inside a NAL unit"));
}

TEST_F(HevcDecoder, an_image_in_an_mp4_file_has_the_callers_limit_of_pixels) {
  const Size coded{16384, 16384};
  set_parameters({MadeSps{.coded = coded}.unit(), kMadePps});
  std::vector<std::byte> file;
  mp4::write_nested_file({.input = {.bitstream = as_bytes(sample),
                                    .parameters = codec.parameters,
                                    .coded = coded,
                                    .visible = {2, 4}}},
                         file);
  EXPECT_THAT(refusal_of<DecodeError>([&] { probe(file); }),
              HasSubstr("too many pixels: expected at most 178956970, found 16384 x 16384"));
  const ImageInfo info = probe(file, 16384 * 16384);
  EXPECT_EQ(info.format, &kMp4Format);
  EXPECT_EQ(info.stored, (Size{2, 4}));
  const SelectedPlugin selected(INVENTED_HEVC, "");
  CropJob job(file, info, {0, 0, 1, 1});
  job.decode_with(*decoder());
  EXPECT_THAT(job.error(), HasSubstr("found 2 x 4"));  // the size of the invented picture
}

TEST_F(HevcDecoder, that_the_plugin_cannot_make_is_an_error) {
  const SelectedPlugin selected(INVENTED_HEVC, "no decoder");
  EXPECT_THAT(refusal_of<MissingCodecError>([] { make_hevc_decoder(); }), HasSubstr("no licence"));
}

TEST_F(HevcDecoder, h264_needs_a_plugin_with_libavcodec) {
  codec.format = &kH264Format;
  EXPECT_THAT(decode(), HasSubstr("the plugin for H.265 images cannot decode H.264 images: "
                                  "expected a plugin built with libavcodec, found invented 1.0"));
}

}  // namespace
}  // namespace fuelrail::testing
