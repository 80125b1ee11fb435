#include "fuelrail/decode/codec_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/formats.h"
#include "fuelrail/testing/crop_job.h"
#include "fuelrail/testing/invented_codec.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRemedy = "Install the package 'invented'";

std::string error_of(const char* file) {
  return refusal_of<StateError>([file] { make_decoder_in({"Invented", file, kRemedy}); });
}

std::string error_of_one_that(const char* what) {
  ::setenv("FUELRAIL_INVENTED_CODEC", what, 1);
  std::string error = error_of(INVENTED_CODEC);
  ::unsetenv("FUELRAIL_INVENTED_CODEC");
  return error;
}

TEST(CodecLibrary, decodes_the_images_of_its_row) {
  constexpr Decoding kRow{&kInventedFormat, nullptr, [] {
                            return make_decoder_in({"Invented", INVENTED_CODEC, kRemedy});
                          }};
  const LentDecoding lent(kRow);
  constexpr std::byte kPixels[] = {std::byte{1}, std::byte{2}, std::byte{3}},
                      kKey[] = {std::byte{7}};
  const ImageCodec codec{.format = &kInventedFormat, .coded = {1, 1}, .parameters = kKey};
  EncodedImage image{Bytes(kPixels)};
  image.codec = &codec;
  CropJob job(image, probe(image), {0, 0, 1, 1});
  const std::unique_ptr<Decoder> decoder = make_decoder();
  job.decode_with(*decoder);
  EXPECT_EQ(job.error(), "");
  EXPECT_EQ(job.packed(), "\x06\x05\x04");
  job.job.encoded.bytes = Bytes(kPixels).first(2);
  job.decode_with(*decoder);
  EXPECT_TRUE(job.failed_with<TruncatedError>()) << job.error();  // made in the library
}

TEST(CodecLibrary, that_cannot_be_used_is_one_error_with_one_remedy) {
  const std::string absent = error_of("libfuelrail_absent.so");
  EXPECT_THAT(absent, HasSubstr("expected libfuelrail_absent.so, found libfuelrail_absent.so: "));
  const std::string another = error_of("libm.so.6");
  EXPECT_THAT(another,
              HasSubstr("expected the function fuelrail_codec_interface in libm.so.6, found none"));
  const std::string old = error_of_one_that("old");
  EXPECT_THAT(old, HasSubstr("with interface version 1, found interface version 0"));
  const std::string throws = error_of_one_that("throws");
  EXPECT_THAT(throws, HasSubstr("expected a decoder, found no licence"));
  const std::string throws_5 = error_of_one_that("throws 5");
  EXPECT_THAT(throws_5, HasSubstr("expected a decoder, found an exception of an unknown type"));
  const std::string none = error_of_one_that("none");
  EXPECT_THAT(none, HasSubstr("expected a decoder, found none"));
  for (const std::string& error : {absent, another, old, throws, throws_5, none}) {
    EXPECT_THAT(error, HasSubstr("the library that decodes Invented images cannot be used"));
    EXPECT_THAT(error, HasSubstr(kRemedy));
  }
}

}  // namespace
}  // namespace fuelrail::testing
