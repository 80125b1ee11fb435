#include "fuelrail/sampler/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

std::vector<double> counts_of(const Weights& weights, uint64_t draws, uint64_t seed) {
  std::vector<double> counts(weights.size());
  for (uint64_t i = 0; i < draws; ++i) ++counts[weights.draw(Philox(seed, 0, i), 1, 0)];
  return counts;
}

double chi_square(const std::vector<double>& weights, const std::vector<double>& counts) {
  double total = 0;
  double draws = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    total += weights[i];
    draws += counts[i];
  }
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) {
      EXPECT_EQ(counts[i], 0) << "record " << i << " has no weight";
      continue;
    }
    const double expected = draws * weights[i] / total;
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

// With k degrees of freedom, chi-square exceeds k + 3.1 sqrt(2k) + 10 for fewer than one seed in a
// thousand (k from 1 to 1,000); the seeds are fixed.
TEST(Weights, records_come_as_often_as_their_weights_say) {
  std::vector<std::vector<double>> cases{
      {1}, {1, 1}, {0, 3, 0, 1}, {1, 2, 3, 4, 5, 6, 7}, {1e-3, 1, 1e3}, {1e300, 2e300, 5e299}};
  std::vector<double> many(500);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<double>((i * i + 3 * i) % 17);
  cases.push_back(many);
  for (const auto& weights : cases) {
    for (const uint64_t seed : {1u, 2u, 3u}) {
      const double freedom = static_cast<double>(weights.size());
      EXPECT_LT(chi_square(weights, counts_of(Weights(weights), 100'000, seed)),
                freedom + 3.1 * std::sqrt(2 * freedom) + 10);
    }
  }
}

TEST(Weights, tiny_and_huge_weights_are_taken_in_proportion) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  const double huge = std::numeric_limits<double>::max();
  EXPECT_LT(chi_square({1, 3}, counts_of(Weights(std::vector{tiny, 3 * tiny}), 10'000, 1)), 11);
  EXPECT_LT(chi_square({1, 1}, counts_of(Weights(std::vector{huge, huge}), 10'000, 1)), 11);
  EXPECT_EQ(counts_of(Weights(std::vector{tiny, huge}), 10'000, 1)[0], 0);
}

TEST(Weights, scale_does_not_matter) {
  const Weights one(std::vector{0.1, 0.7, 0.2});
  const Weights scaled(std::vector{0.1 * 1024, 0.7 * 1024, 0.2 * 1024});
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(one.draw(Philox(5, 1, i), 0, 0), scaled.draw(Philox(5, 1, i), 0, 0));
  }
}

TEST(Weights, checksum_tells_weights_apart) {
  const uint32_t sum = Weights(std::vector{1.0, 2.0}).checksum();
  EXPECT_EQ(sum, Weights(std::vector{1.0, 2.0}).checksum());
  EXPECT_NE(sum, Weights(std::vector{2.0, 1.0}).checksum());
  EXPECT_NE(sum, Weights(std::vector{2.0, 4.0}).checksum());
}

std::string refusal(const std::vector<double>& weights) {
  return testing::refusal_of<InvalidArgumentError>([&] { const Weights made(weights); });
}

TEST(Weights, what_is_no_weight_is_named) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal({1, 2, -0.5, -1}),
            "weight 2 is out of range: expected a finite number of at least 0, found -0.5");
  EXPECT_THAT(refusal({kNan}), HasSubstr("weight 0"));
  EXPECT_THAT(refusal({0, kInfinity}), HasSubstr("weight 1"));
  EXPECT_THAT(refusal({0, -kInfinity}), HasSubstr("weight 1"));
  EXPECT_THAT(refusal({0, 0, 0}), HasSubstr("all weights are 0"));
  EXPECT_THAT(refusal({}), HasSubstr("`weights` is empty"));
}

// Frozen: changing these numbers changes every weighted epoch of every user.
TEST(Weights, golden_values) {
  const Weights weights(std::vector{0.5, 3.25, 0.0, 1e-3, 7.0, 2.5});
  std::vector<uint64_t> drawn;
  for (uint64_t i = 0; i < 16; ++i) drawn.push_back(weights.draw(Philox(42, 3, i), 0xfffd, 4));
  EXPECT_EQ(drawn, (std::vector<uint64_t>{1, 5, 1, 5, 4, 5, 5, 4, 5, 1, 5, 1, 4, 4, 4, 1}));
}

}  // namespace
}  // namespace fuelrail
