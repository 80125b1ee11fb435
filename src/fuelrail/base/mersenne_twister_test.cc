#include "fuelrail/base/mersenne_twister.h"

#include <gtest/gtest.h>

#include <random>

namespace fuelrail {
namespace {

TEST(MersenneTwister, words_of_a_number_are_those_of_the_standard_library) {
  for (const uint32_t seed : {0u, 1u, 5489u, 4294967295u}) {
    MersenneTwister twister(seed);
    std::mt19937 standard(seed);
    for (int i = 0; i < 2000; ++i) ASSERT_EQ(twister.next(), standard()) << seed << " " << i;
  }
}

// From the authors' mt19937ar.out.
TEST(MersenneTwister, words_of_an_array_are_those_of_the_authors) {
  const uint32_t key[] = {0x123, 0x234, 0x345, 0x456};
  MersenneTwister twister(key);
  for (const uint32_t word : {1067595299u, 955945823u, 477289528u, 4107218783u, 4228976476u}) {
    EXPECT_EQ(twister.next(), word);
  }
}

TEST(MersenneTwister, a_state_continues_where_it_was_read) {
  for (const int drawn : {0, 1, 623, 624, 1000}) {
    MersenneTwister first(7);
    for (int i = 0; i < drawn; ++i) first.next();
    MersenneTwister second(first.state());
    for (int i = 0; i < 700; ++i) ASSERT_EQ(first.next(), second.next()) << drawn << " " << i;
    EXPECT_EQ(first.state(), second.state());
  }
}

}  // namespace
}  // namespace fuelrail
