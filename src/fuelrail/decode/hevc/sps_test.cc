#include "fuelrail/decode/hevc/sps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/made_hevc.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::hevc {
namespace {

using fuelrail::testing::MadeSps;
using fuelrail::testing::refusal_of;
using ::testing::HasSubstr;

Sps read(const MadeSps& made) { return read_sps(as_bytes(made.unit())); }

TEST(Sps, has_size_and_depth) {
  for (const bool has_lists : {false, true}) {
    const Sps sps = read({.coded = {1080, 1920}, .layers = 2, .has_lists = has_lists});
    EXPECT_EQ(sps.coded, (Size{1080, 1920}));
    EXPECT_EQ(sps.window, (Box{0, 0, 1080, 1920}));
    EXPECT_EQ(sps.chroma, 1);
    EXPECT_EQ(sps.bits, 8);
  }
  const Sps deep = read({.chroma = 3, .bits = 10, .chroma_bits = 10});
  EXPECT_EQ(deep.chroma, 3);
  EXPECT_EQ(deep.bits, 10);
}

TEST(Sps, the_window_counts_chroma_values) {
  const MadeSps made{.coded = {64, 64}, .crop_right = 2, .crop_bottom = 3};
  EXPECT_EQ(read(made).window, (Box{0, 0, 58, 60}));
  MadeSps finer = made;
  finer.chroma = 2;
  EXPECT_EQ(read(finer).window, (Box{0, 0, 61, 60}));
  finer.chroma = 3;
  EXPECT_EQ(read(finer).window, (Box{0, 0, 61, 62}));
}

TEST(Sps, what_the_vui_does_not_say_is_as_in_a_jpeg) {
  for (const MadeSps& made : {MadeSps{}, MadeSps{.full_range = true}, MadeSps{.siting = 1},
                              MadeSps{.full_range = true, .matrix = 2}}) {
    const Sps sps = read(made);
    EXPECT_TRUE(sps.full_range);
    EXPECT_EQ(sps.matrix, Matrix::kBt601);
    EXPECT_EQ(sps.siting, Siting::kCentre);
  }
}

TEST(Sps, range_matrix_and_siting_are_those_of_the_vui) {
  const Sps sps = read({.full_range = false, .matrix = 1, .siting = 0});
  EXPECT_FALSE(sps.full_range);
  EXPECT_EQ(sps.matrix, Matrix::kBt709);
  EXPECT_EQ(sps.siting, Siting::kLeft);
  EXPECT_EQ(read({.full_range = true, .matrix = 9, .siting = 2}).matrix, Matrix::kBt2020);
}

TEST(Sps, unsupported_pictures_are_named) {
  EXPECT_THAT(refusal_of<UnsupportedError>([] { read({.bits = 8, .chroma_bits = 10}); }),
              HasSubstr("a number of bits of chroma that is not supported: expected that of luma, "
                        "found 10"));
  EXPECT_THAT(refusal_of<UnsupportedError>([] { read({.full_range = true, .matrix = 8}); }),
              HasSubstr("a colour matrix that is not supported"));
  EXPECT_THAT(refusal_of<UnsupportedError>([] { read({.siting = 4}); }),
              HasSubstr("a chroma location that is not supported"));
}

TEST(Sps, damage_is_an_error) {
  EXPECT_THROW(read({.coded = {8, 8}, .crop_right = 4}), DecodeError);
  const std::string unit = MadeSps{.has_lists = true, .full_range = true, .matrix = 1}.unit();
  for (size_t length = 0; length + 2 < unit.size(); ++length) {
    EXPECT_THROW(read_sps(as_bytes(unit.substr(0, length))), DecodeError) << length;
  }
  for (size_t bit = 0; bit < 8 * unit.size(); ++bit) {
    std::string changed = unit;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    try {
      read_sps(as_bytes(changed));
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace fuelrail::hevc
