#include "fuelrail/mxnet/python_random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace fuelrail::mxnet {
namespace {

using ::testing::ElementsAre;

std::vector<int> shuffled(uint64_t seed, int count) {
  std::vector<int> items(static_cast<size_t>(count));
  std::iota(items.begin(), items.end(), 0);
  PythonRandom(seed).shuffle(items);
  return items;
}

// All expected numbers are from CPython 3.11.

TEST(PythonRandom, words_are_those_of_getrandbits) {
  PythonRandom random(100);
  for (const uint64_t word : {625644691u, 1973661107u, 1953896601u, 4087596401u}) {
    EXPECT_EQ(random.bits(32), word);
  }
  PythonRandom large(~uint64_t{0});
  for (const uint64_t word : {93740670u, 1068495656u, 1452108352u}) EXPECT_EQ(large.bits(32), word);
}

TEST(PythonRandom, other_widths_take_upper_bits_and_low_words_first) {
  PythonRandom random(100);
  EXPECT_EQ(random.bits(1), 0u);
  EXPECT_EQ(random.bits(5), 14u);
  EXPECT_EQ(random.bits(31), 976948300u);
  EXPECT_EQ(random.bits(32), 4087596401u);
  EXPECT_EQ(random.bits(33), 3310491232u);
  EXPECT_EQ(random.bits(47), 55313618994140u);
  EXPECT_EQ(random.bits(64), 6451506507730233805u);
  EXPECT_EQ(random.bits(64), 9350009385662467419u);
}

TEST(PythonRandom, below_is_randrange) {
  PythonRandom random((uint64_t{1} << 40) + 7);
  EXPECT_EQ(random.below(1), 0u);
  EXPECT_EQ(random.below(2), 1u);
  EXPECT_EQ(random.below(3), 2u);
  EXPECT_EQ(random.below(1000), 129u);
  EXPECT_EQ(random.below(uint64_t{1} << 32), 2219701726u);
  EXPECT_EQ(random.below((uint64_t{1} << 32) + 1), 1559734921u);
  EXPECT_EQ(random.below(uint64_t{1} << 50), 1012016456604488u);
}

TEST(PythonRandom, shuffles_are_those_of_shuffle) {
  EXPECT_THAT(shuffled(100, 10), ElementsAre(4, 0, 5, 9, 3, 1, 6, 8, 7, 2));
  EXPECT_THAT(shuffled(0, 10), ElementsAre(7, 8, 1, 5, 3, 4, 2, 0, 9, 6));
  const std::vector<int> many = shuffled(100, 2000);
  EXPECT_THAT(std::vector<int>(many.begin(), many.begin() + 5),
              ElementsAre(1055, 30, 1188, 926, 916));
  EXPECT_THAT(std::vector<int>(many.end() - 5, many.end()), ElementsAre(1578, 1949, 931, 941, 298));
}

TEST(PythonRandom, nothing_and_one_are_left_alone) {
  EXPECT_TRUE(shuffled(100, 0).empty());
  EXPECT_THAT(shuffled(100, 1), ElementsAre(0));
}

}  // namespace
}  // namespace fuelrail::mxnet
