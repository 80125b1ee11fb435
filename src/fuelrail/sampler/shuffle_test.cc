#include "fuelrail/sampler/shuffle.h"

#include <gtest/gtest.h>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

TEST(Shuffle, text_says_all_that_makes_the_order) {
  EXPECT_EQ(to_string(Shuffle{}), "none");
  EXPECT_EQ(to_string(Shuffle::kNone), "none");
  EXPECT_EQ(to_string(Shuffle::kFull), "full");
  EXPECT_EQ(to_string(Shuffle::window(256, 64)), "window(256, 64)");
  EXPECT_EQ(to_string(Shuffle::window(~uint64_t{0}, 1)), "window(18446744073709551615, 1)");
}

TEST(Shuffle, windows_of_nothing_are_refused) {
  for (const Shuffle& shuffle : {Shuffle::kNone, Shuffle::kFull, Shuffle::window(1, 1)}) {
    EXPECT_NO_THROW(check(shuffle));
  }
  EXPECT_THROW(check(Shuffle::window(0, 4)), InvalidArgumentError);
  EXPECT_THROW(check(Shuffle::window(4, 0)), InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail
