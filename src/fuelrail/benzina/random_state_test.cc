#include "fuelrail/benzina/random_state.h"

#include <gtest/gtest.h>

namespace fuelrail::benzina {
namespace {

// All expected numbers are from NumPy 2.4's RandomState.

TEST(RandomState, words_are_those_of_randint) {
  RandomState random(0u);
  for (const uint32_t word : {2357136044u, 2546248239u, 3071714933u}) {
    EXPECT_EQ(random.word(), word);
  }
  RandomState largest(4294967295u);
  for (const uint32_t word : {419326371u, 479346978u, 3918654476u}) {
    EXPECT_EQ(largest.word(), word);
  }
}

TEST(RandomState, doubles_are_those_of_random_sample_and_uniform) {
  RandomState random(1234u);
  for (const uint32_t word : {822569775u, 2137449171u, 2671936806u}) {
    EXPECT_EQ(random.word(), word);
  }
  EXPECT_EQ(random.random_sample(), 0x1.a2bbb85c03bb3p-1);
  EXPECT_EQ(random.random_sample(), 0x1.3966baf24350ap-1);
  EXPECT_EQ(random.random_sample(), 0x1.8aefaff1eb1fap-1);
  EXPECT_EQ(random.uniform(-3.5, 8.25), 0x1.a739424f9fab2p+2);
  EXPECT_EQ(random.uniform(-3.5, 8.25), -0x1.bae24e500ca82p+0);
  EXPECT_EQ(random.uniform(-3.5, 8.25), -0x1.2adb06d27efe4p+0);
  EXPECT_EQ(random.uniform(10, -10), -0x1.936897194d634p+2);
  for (int i = 0; i < 1000; ++i) random.random_sample();
  EXPECT_EQ(random.random_sample(), 0x1.adb97b0cd62bdp-1);
  EXPECT_EQ(random.state().used, 147u);
}

}  // namespace
}  // namespace fuelrail::benzina
