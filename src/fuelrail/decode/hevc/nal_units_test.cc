#include "fuelrail/decode/hevc/nal_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/made_hevc.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::hevc {
namespace {

using fuelrail::testing::kMadePps;
using fuelrail::testing::made_hvcc;
using fuelrail::testing::made_slice;
using fuelrail::testing::MadeSps;
using fuelrail::testing::refusal_of;
using fuelrail::testing::with_length;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kVps("\x40\x01\x0c", 3);
const std::string kSei("\x4e\x01\x05", 3);
const std::string kDelimiter("\x46\x01\x10", 3);

std::vector<std::string> texts(const std::vector<Bytes>& units) {
  std::vector<std::string> texts;
  for (const Bytes unit : units) texts.emplace_back(as_text(unit));
  return texts;
}

std::vector<std::string> hevc_units(const std::string& sample, size_t length_bytes = 4) {
  std::vector<Bytes> units;
  append_hevc_units(as_bytes(sample), length_bytes, units);
  return texts(units);
}

TEST(NalUnits, of_hvcc_are_its_parameter_sets) {
  const std::string sps = MadeSps{}.unit();
  for (const int length_bytes : {1, 2, 4}) {
    const std::string box = made_hvcc({kVps, sps, kMadePps, kSei}, length_bytes);
    const DecoderConfiguration configuration = read_hvcc(as_bytes(box));
    EXPECT_EQ(configuration.length_bytes, static_cast<size_t>(length_bytes));
    EXPECT_THAT(texts(configuration.units), ElementsAre(kVps, sps, kMadePps));
  }
  EXPECT_THAT(refusal_of<DecodeError>([&] { read_hvcc(as_bytes(made_hvcc({sps}, 3))); }),
              HasSubstr("expected 1, 2 or 4 bytes, found 3"));
  const std::string box = made_hvcc({kVps, sps});
  for (size_t length = 0; length < box.size(); ++length) {
    EXPECT_THROW(read_hvcc(as_bytes(box.substr(0, length))), DecodeError) << length;
  }
}

TEST(NalUnits, of_avcc_are_its_parameter_sets) {
  const std::string sps("\x67\x42", 2), pps("\x68\xce", 2);
  const std::string box =
      std::string("\1\x42\0\x1e\xff\xe1", 6) + with_length(sps, 2) + "\1" + with_length(pps, 2);
  const DecoderConfiguration configuration = read_avcc(as_bytes(box));
  EXPECT_EQ(configuration.length_bytes, 4u);
  EXPECT_THAT(texts(configuration.units), ElementsAre(sps, pps));
  EXPECT_THROW(read_avcc(as_bytes(box.substr(0, 9))), DecodeError);
}

TEST(NalUnits, of_a_sample_are_slices_and_parameter_sets) {
  const std::string first = made_slice("abc"), second = made_slice("de", false);
  for (const size_t length_bytes : {1, 2, 4}) {
    std::string sample;
    for (const std::string& unit : {kDelimiter, kMadePps, kSei, first, second}) {
      sample += with_length(unit, static_cast<int>(length_bytes));
    }
    EXPECT_THAT(hevc_units(sample, length_bytes), ElementsAre(kMadePps, first, second));
  }
}

TEST(NalUnits, damaged_samples_are_errors) {
  const std::string sample = with_length(made_slice("abc"), 4);
  EXPECT_THAT(refusal_of<DecodeError>([] { hevc_units(""); }), HasSubstr("has no bytes"));
  EXPECT_THAT(refusal_of<TruncatedError>([&] { hevc_units(sample + sample.substr(0, 6)); }),
              HasSubstr("the image ends inside a NAL unit, which begins after 10 bytes: expected "
                        "10 bytes, found 6"));
  EXPECT_THROW(hevc_units(sample + "ab"), TruncatedError);
  EXPECT_THAT(refusal_of<DecodeError>([&] { hevc_units(sample + with_length("", 4)); }),
              HasSubstr("a NAL unit of the image is too short, after 10 bytes"));
  EXPECT_THAT(refusal_of<DecodeError>([] { hevc_units(with_length(kSei, 4)); }),
              HasSubstr("has no picture"));
}

TEST(NalUnits, that_would_be_passed_over_are_errors) {
  EXPECT_THAT(refusal_of<DecodeError>([] { hevc_units(with_length(made_slice("a", false), 4)); }),
              HasSubstr("lacks its first slice"));
  for (const int bit : {0, 8, 9, 11, 15}) {
    std::string slice = made_slice("abc");
    slice[static_cast<size_t>(bit / 8)] ^= static_cast<char>(1 << bit % 8);
    EXPECT_THAT(refusal_of<DecodeError>([&] { hevc_units(with_length(slice, 4)); }),
                HasSubstr("the header of a slice is damaged"))
        << bit;
  }
}

TEST(NalUnits, with_a_start_code_are_errors) {
  const auto check = [](std::string_view text) { check_units({as_bytes(text)}); };
  check(std::string_view("a\0b\0\0\3", 6));
  for (const std::string_view text :
       {std::string_view("a\0\0\1b", 5), {"a\0\0\0", 4}, {"a\0\0", 3}}) {
    EXPECT_THAT(refusal_of<DecodeError>([&] { check(text); }),
                HasSubstr("contains a start code: found two bytes of 0 after 1 bytes"));
  }
}

TEST(NalUnits, are_sorted) {
  const std::string sps = MadeSps{}.unit(), slice = made_slice("abc");
  std::vector<Bytes> units{as_bytes(kMadePps), as_bytes(sps), as_bytes(kVps), as_bytes(slice),
                           as_bytes(sps)};
  sort_sets(units);
  EXPECT_THAT(texts(units), ElementsAre(kVps, sps, kMadePps, slice));
}

TEST(NalUnits, of_a_film_are_unsupported) {
  const std::string intra = with_length(made_slice("abc"), 4);
  const std::string predicted = with_length(std::string("\x02\x01\xff", 3), 4);
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { hevc_units(intra + intra); }),
              HasSubstr("is not a single still picture: expected one picture that needs no others, "
                        "found more than one picture"));
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { hevc_units(predicted); }),
              HasSubstr("found a picture that is predicted from others"));
  std::vector<Bytes> units;
  const std::string h264 = with_length("\x41\x9a", 4);
  EXPECT_THROW(append_h264_units(as_bytes(h264), 4, units), UnsupportedError);
}

TEST(NalUnits, of_a_picture_have_one_sps) {
  const std::string sps = MadeSps{}.unit(), other = MadeSps{.coded = {32, 32}}.unit();
  const auto find = [](const std::vector<std::string>& units) {
    std::vector<Bytes> views;
    for (const std::string& unit : units) views.push_back(as_bytes(unit));
    return std::string(as_text(find_sps(views)));
  };
  EXPECT_EQ(find({sps, kMadePps, sps}), sps);
  EXPECT_THAT(refusal_of<DecodeError>([&] {
                find({sps, kMadePps, other});
              }),
              HasSubstr("different sequence parameter sets"));
  EXPECT_THAT(refusal_of<DecodeError>([&] { find({sps}); }), HasSubstr("found no PPS"));
  EXPECT_THAT(refusal_of<DecodeError>([&] { find({kMadePps}); }), HasSubstr("found no SPS"));
}

}  // namespace
}  // namespace fuelrail::hevc
