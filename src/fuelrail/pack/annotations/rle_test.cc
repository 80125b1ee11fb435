// Run lengths, polygons and masks of instances.
#include "fuelrail/pack/annotations/rle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/annotations/instance_mask.h"
#include "fuelrail/pack/annotations/polygon.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal_of;

// tests/golden/coco/make.py describes the lines.
struct GoldenRuns {
  std::string kind;
  Size image;
  std::string compressed;
  std::vector<double> numbers;
};

std::vector<GoldenRuns> golden_runs() {
  std::istringstream lines(file_contents(FUELRAIL_SOURCE_DIR "/tests/golden/coco/runs.tsv"));
  std::vector<GoldenRuns> all;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line);
    GoldenRuns runs;
    parts >> runs.kind >> runs.image.height >> runs.image.width >> runs.compressed;
    for (double number = 0; parts >> number;) runs.numbers.push_back(number);
    all.push_back(runs);
  }
  return all;
}

TEST(RunLengths, polygons_equal_those_of_pycocotools) {
  size_t polygons = 0;
  for (const GoldenRuns& runs : golden_runs()) {
    if (runs.kind != "polygon") continue;
    ++polygons;
    const RunLengths lengths = rasterise(runs.numbers, runs.image);
    EXPECT_EQ(lengths, parse_run_lengths(runs.compressed)) << "polygon " << polygons;
    check_run_lengths(lengths, runs.image);
  }
  EXPECT_EQ(polygons, 400u);
}

TEST(RunLengths, an_outline_that_is_drawn_twice_covers_nothing) {
  EXPECT_THAT(rasterise(std::vector<double>{0, 0, 2, 0, 2, 2}, {2, 3}), ElementsAre(2, 1, 3));
  EXPECT_THAT(rasterise(std::vector<double>{0, 0, 2, 0, 2, 2, 0, 0, 2, 0, 2, 2}, {2, 3}),
              ElementsAre(6));
}

TEST(RunLengths, an_outline_whose_walk_would_take_too_long_is_refused) {
  std::vector<double> zigzag;
  for (int i = 0; i < 600; ++i) zigzag.insert(zigzag.end(), {i % 2 * kFarthestCorner, 1});
  EXPECT_EQ(refusal_of<CorruptError>([&] {
              rasterise(zigzag, {2, 3});
            }),
            "the outline of the polygon is too long: expected at most 67108864 pixels, found "
            "78643200");
}

TEST(RunLengths, compressed_strings_equal_the_lists_of_pycocotools) {
  size_t masks = 0;
  for (const GoldenRuns& runs : golden_runs()) {
    if (runs.kind != "mask") continue;
    ++masks;
    const RunLengths lengths(runs.numbers.begin(), runs.numbers.end());
    EXPECT_EQ(parse_run_lengths(runs.compressed), lengths);
    check_run_lengths(lengths, runs.image);
  }
  EXPECT_EQ(masks, 12u);
}

TEST(RunLengths, damaged_strings_are_refused_with_the_place) {
  const auto refusal = [](const char* text) {
    return refusal_of<CorruptError>([&] { parse_run_lengths(text); });
  };
  EXPECT_THAT(refusal("22p"), HasSubstr("have a wrong character at character 2: found byte 112"));
  EXPECT_THAT(refusal("2 2"), HasSubstr("found byte 32"));
  EXPECT_THAT(refusal("22P"), HasSubstr("end inside a number at character 3"));
  EXPECT_THAT(refusal("2PPPPPPP0"), HasSubstr("a number that is too long at character 8"));
  EXPECT_THAT(refusal("@"), HasSubstr("an invalid length at character 0: found -16"));
  EXPECT_THAT(parse_run_lengths("oooooo3"), ElementsAre(4294967295));
  EXPECT_THAT(refusal("oooooo7"), HasSubstr("an invalid length at character 0: found 8589934591"));
}

TEST(RunLengths, the_sum_must_be_the_number_of_pixels) {
  check_run_lengths({2, 3, 1}, {2, 3});
  EXPECT_EQ(refusal_of<CorruptError>([] {
              check_run_lengths({2, 3}, {2, 3});
            }),
            "the sum of the run lengths is not the number of pixels: expected 6 (2 x 3), found 5");
  EXPECT_THROW(check_run_lengths({2, 3, 2}, {2, 3}), CorruptError);
}

TEST(InstanceMasks, the_later_object_wins_and_lost_pixels_are_counted) {
  InstanceMask mask;
  mask.reset({2, 3});
  mask.paint({2, 3, 1}, 1);  // as in rle.h
  EXPECT_EQ(mask.overlapped(), 0u);
  mask.paint({4, 2}, 300);  // the last column
  mask.paint({4, 2}, 300);  // another part of the same object
  EXPECT_EQ(mask.overlapped(), 1u);
  std::vector<std::byte> pixels;
  mask.copy_to(pixels, 2);
  const auto* numbers = reinterpret_cast<const uint8_t*>(pixels.data());
  EXPECT_THAT(std::vector<uint8_t>(numbers, numbers + pixels.size()),
              ElementsAre(0, 0, 1, 0, 44, 1, 0, 0, 1, 0, 44, 1));
}

}  // namespace
}  // namespace fuelrail::pack
