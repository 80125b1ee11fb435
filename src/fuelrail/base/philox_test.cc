#include "fuelrail/base/philox.h"

#include <gtest/gtest.h>

#include <array>

namespace fuelrail {
namespace {

// The known answers that Random123 publishes for philox4x32-10.
TEST(Philox, gives_the_published_answers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The published answer again, through seed, epoch, position, operation and draw.
TEST(Philox, puts_its_arguments_where_the_frozen_layout_says) {
  const uint64_t seed = 0x299f31d0'a4093822;
  const uint64_t position = 0x85a308d3'243f6a88;
  const uint32_t epoch = 0x13198a2e;
  const uint32_t operation = 0x0370;
  const uint32_t draw = 0x7344 << 2;
  const Philox random(seed, epoch, position);
  EXPECT_EQ(random.bits(operation, draw), 0xd16cfe09u);
  EXPECT_EQ(random.bits(operation, draw + 1), 0x94fdccebu);
  EXPECT_EQ(random.bits(operation, draw + 2), 0x5001e420u);
  EXPECT_EQ(random.bits(operation, draw + 3), 0x24126ea1u);
  EXPECT_NE(random.bits(operation, draw + 4), 0xd16cfe09u);
}

TEST(Philox, every_argument_counts) {
  const uint32_t base = Philox(1, 2, 3).bits(4, 5);
  EXPECT_EQ(base, Philox(1, 2, 3).bits(4, 5));
  EXPECT_NE(base, Philox(2, 2, 3).bits(4, 5));
  EXPECT_NE(base, Philox(1 | uint64_t{1} << 32, 2, 3).bits(4, 5));
  EXPECT_NE(base, Philox(1, 3, 3).bits(4, 5));
  EXPECT_NE(base, Philox(1, 2, 4).bits(4, 5));
  EXPECT_NE(base, Philox(1, 2, 3 | uint64_t{1} << 32).bits(4, 5));
  EXPECT_NE(base, Philox(1, 2, 3).bits(5, 5));
  EXPECT_NE(base, Philox(1, 2, 3).bits(4, 6));
}

TEST(Philox, uniform_and_below_are_exact_scalings_of_the_bits) {
  for (uint64_t position = 0; position < 1000; ++position) {
    const Philox random(7, 1, position);
    const uint32_t bits = random.bits(3, 9);
    EXPECT_EQ(random.uniform(3, 9), bits / 4294967296.0);
    EXPECT_LT(random.uniform(3, 9), 1.0);
    EXPECT_EQ(random.below(3, 9, 1), 0u);
    EXPECT_EQ(random.below(3, 9, 2), bits >> 31);
    EXPECT_EQ(random.below(3, 9, uint64_t{1} << 32), bits);
  }
}

TEST(Philox, below64_is_the_high_word_of_the_product) {
  __extension__ using Uint128 = unsigned __int128;
  for (uint64_t position = 0; position < 200; ++position) {
    const Philox random(7, 1, position);
    const uint64_t bits = random.bits(3, 10) | uint64_t{random.bits(3, 11)} << 32;
    for (const uint64_t bound : {uint64_t{1}, uint64_t{10}, uint64_t{0x100000001},
                                 uint64_t{0x123456789abcdef0}, ~uint64_t{0}}) {
      EXPECT_EQ(random.below64(3, 10, bound), static_cast<uint64_t>(Uint128{bits} * bound >> 64));
    }
  }
}

TEST(Philox, below_reaches_every_value_about_equally_often) {
  constexpr uint64_t kBound = 10;
  constexpr int kDraws = 100000;
  std::array<int, kBound> counts{};
  for (uint32_t position = 0; position < kDraws; ++position) {
    ++counts[Philox(11, 0, position).below(0, 0, kBound)];
  }
  double chi_square = 0;
  for (const int count : counts) {
    const double expected = double{kDraws} / kBound;
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 45.0);  // 9 degrees of freedom: one in a million
}

}  // namespace
}  // namespace fuelrail
