#include "fuelrail/mxnet/draws.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

namespace fuelrail::mxnet {
namespace {

// Returns the words that the test gave it.
class WrittenDraws final : public Draws {
 public:
  explicit WrittenDraws(std::vector<uint32_t> words) : words_(std::move(words)) {}
  uint32_t bits() override { return words_.at(taken_++); }
  Philox counted() const override { return {0, 0, 0}; }
  size_t taken() const { return taken_; }

 private:
  std::vector<uint32_t> words_;
  size_t taken_ = 0;
};

TEST(Draws, seed_gives_words_of_the_standard_generator) {
  SeededDraws draws(5489u);  // the standard fixes the 10000th word of this seed
  uint32_t last = 0;
  for (int i = 0; i < 10000; ++i) last = draws.bits();
  EXPECT_EQ(last, 4123659995u);
}

TEST(Draws, augmentation_seed_counts_samples_from_111) {
  SeededDraws draws(3, 2);
  SeededDraws same(116u);
  EXPECT_EQ(draws.bits(), same.bits());
  SeededDraws negative(-111, 0);
  SeededDraws zero(0u);
  EXPECT_EQ(negative.bits(), zero.bits());
}

TEST(Draws, unit_is_a_word_over_two_to_the_32_and_below_one) {
  WrittenDraws draws({0, 0x80000000u, 0xffffffffu, 1});
  EXPECT_EQ(draws.unit(), 0.0f);
  EXPECT_EQ(draws.unit(), 0.5f);
  EXPECT_EQ(draws.unit(), std::nextafter(1.0f, 0.0f));
  EXPECT_EQ(draws.unit(), 0x1p-32f);
}

TEST(Draws, integer_cuts_the_words_into_pieces_and_draws_what_is_left_over_again) {
  WrittenDraws draws({0, 1431655764, 1431655765, 0xfffffffeu, 0xffffffffu, 5});
  EXPECT_EQ(draws.integer(10, 12), 10);
  EXPECT_EQ(draws.integer(10, 12), 10);
  EXPECT_EQ(draws.integer(10, 12), 11);
  EXPECT_EQ(draws.integer(10, 12), 12);
  EXPECT_EQ(draws.integer(-7, -7), -7);  // a range of one draws a word too; the largest is refused
  EXPECT_EQ(draws.taken(), 6u);
}

TEST(Draws, coin_takes_two_words_and_the_second_decides) {
  WrittenDraws draws({0xffffffffu, 0x7ffffffeu, 0, 0x80000000u, 0xffffffffu, 0x7fffffffu});
  EXPECT_TRUE(draws.coin());
  EXPECT_FALSE(draws.coin());
  EXPECT_FALSE(draws.coin());  // rounds up to one half
}

TEST(Draws, normal_numbers_come_in_pairs_of_which_the_second_coordinate_is_first) {
  // (x, y) = (1/2, 1/2), after a pair outside the circle.
  WrittenDraws draws({0, 0, 0xc0000000u, 0xc0000000u, 0xc0000000u, 0x40000000u});
  std::array<float, 3> numbers{};
  draws.normal(2.0f, numbers);
  const float factor = std::sqrt(-2.0f * std::log(0.5f) / 0.5f);
  EXPECT_NEAR(numbers[0], factor, 1e-6);
  EXPECT_NEAR(numbers[1], factor, 1e-6);
  EXPECT_NEAR(numbers[2], -factor, 1e-6);
  EXPECT_EQ(draws.taken(), 6u);
}

TEST(Draws, shuffle_takes_one_number_an_item) {
  WrittenDraws draws({0, 0xf0000000u, 0});
  std::array<int, 4> items{0, 1, 2, 3};
  draws.shuffle(items);  // swaps 1 with 0, 2 with itself, 3 with 0
  EXPECT_EQ(items, (std::array<int, 4>{3, 0, 2, 1}));
}

TEST(Draws, counted_words_are_a_function_of_the_sample) {
  const Philox sample(7, 1, 42);
  CountedDraws draws(sample);
  EXPECT_EQ(draws.bits(), sample.bits(0, 0));
  EXPECT_EQ(draws.bits(), sample.bits(0, 1));
  EXPECT_EQ(draws.counted().bits(1, 0), sample.bits(1, 0));
}

}  // namespace
}  // namespace fuelrail::mxnet
