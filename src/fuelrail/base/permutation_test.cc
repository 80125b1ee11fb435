#include "fuelrail/base/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "fuelrail/base/philox.h"

namespace fuelrail {
namespace {

std::vector<uint64_t> order_of(const Permutation& permutation) {
  std::vector<uint64_t> order(permutation.size());
  for (uint64_t i = 0; i < order.size(); ++i) order[i] = permutation(i);
  return order;
}

// Positions spread over [0, n), and a run of neighbours at its beginning, middle and end.
std::vector<uint64_t> sampled_positions(uint64_t n, uint64_t seed) {
  constexpr uint64_t kEach = 500;
  std::vector<uint64_t> positions;
  for (uint32_t i = 0; i < kEach; ++i) {
    positions.push_back(i % n);
    positions.push_back((n / 2 + i) % n);
    positions.push_back(n - 1 - i % n);
    const Philox random(seed, i, 0);
    positions.push_back((uint64_t{random.bits(0, 0)} << 32 | random.bits(0, 1)) % n);
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

TEST(Permutation, is_a_bijection_for_every_size_to_10000) {
  std::vector<uint32_t> seen(10001, 0);
#ifdef FUELRAIL_SANITIZED
  constexpr uint32_t kStep = 17;
#else
  constexpr uint32_t kStep = 1;
#endif
  for (uint32_t n = 1; n <= 10000; n += kStep) {
    const Permutation permutation(n, n * uint64_t{0x9E3779B97F4A7C15}, n % 7);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t image = permutation(i);
      ASSERT_LT(image, n);
      ASSERT_NE(seen[image], n) << "two positions of " << n << " map to " << image;
      seen[image] = n;
    }
  }
}

TEST(Permutation, is_injective_wherever_sampled_for_sizes_to_2_to_the_62) {
  for (uint32_t bits = 1; bits <= 62; ++bits) {
    const uint64_t power = uint64_t{1} << bits;
    const uint64_t between =
        power / 2 + Philox(bits, 0, 0).below(0, 0, std::min<uint64_t>(power / 2, 1u << 31)) + 1;
    for (const uint64_t n : {power, power - 1, power / 2 + 1, between}) {
      const Permutation permutation(n, 42, bits);
      std::vector<uint64_t> images = sampled_positions(n, bits);
      for (uint64_t& image : images) image = permutation(image);
      std::sort(images.begin(), images.end());
      ASSERT_LT(images.back(), n);
      ASSERT_EQ(std::adjacent_find(images.begin(), images.end()), images.end()) << n;
    }
  }
}

// Frozen. If this fails, every user's shuffled epochs have changed.
TEST(Permutation, gives_the_golden_values) {
  EXPECT_EQ(order_of(Permutation(10, 1, 0)), (std::vector<uint64_t>{0, 2, 7, 3, 8, 4, 9, 6, 5, 1}));
  const auto first_four = [](const Permutation& permutation, bool from_the_end) {
    std::vector<uint64_t> images;
    for (uint64_t i = 0; i < 4; ++i) {
      images.push_back(permutation(from_the_end ? permutation.size() - 1 - i : i));
    }
    return images;
  };
  EXPECT_EQ(first_four(Permutation(1024, 0x0123456789abcdef, 1), false),
            (std::vector<uint64_t>{866, 469, 397, 61}));
  EXPECT_EQ(first_four(Permutation(1281167, 42, 7), false),
            (std::vector<uint64_t>{1246657, 574099, 485383, 213030}));
  EXPECT_EQ(first_four(Permutation((uint64_t{1} << 33) + 1, ~uint64_t{0}, 0xffffffff), true),
            (std::vector<uint64_t>{7590664990, 682279517, 6209387846, 6595974372}));
  EXPECT_EQ(first_four(Permutation(uint64_t{1} << 62, 5, uint64_t{1} << 40), true),
            (std::vector<uint64_t>{3941859527623474064, 3165901215548661806, 4554858654211434213,
                                   4492208295372226137}));
}

// At 10^6 records and above, a bijection can still be checked as a whole.
TEST(Permutation, is_a_bijection_of_millions) {
  for (const uint64_t n : {uint64_t{1'000'003}, uint64_t{1} << 21}) {
    const Permutation permutation(n, 3, 1);
    std::vector<bool> seen(n, false);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t image = permutation(i);
      ASSERT_LT(image, n);
      ASSERT_FALSE(seen[image]);
      seen[image] = true;
    }
  }
}

// The value that chi-square with `degrees` degrees of freedom exceeds once in a million times
// (Wilson and Hilferty's approximation, which errs upwards for few degrees).
double one_in_a_million(double degrees) {
  const double spread = 2 / (9 * degrees);
  return degrees * std::pow(1 - spread + 4.753 * std::sqrt(spread), 3);
}

double chi_square(const std::vector<uint32_t>& counts, double expected) {
  double sum = 0;
  for (const uint32_t count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// The keys of a test's k-th permutation: successive epochs of one seed, or successive seeds of one
// epoch.
enum class Vary { kEpoch, kSeed };
Permutation keyed(uint64_t n, Vary vary, uint64_t k) {
  return vary == Vary::kEpoch ? Permutation(n, 2024, k) : Permutation(n, k, 3);
}

class PermutationStatistics : public ::testing::TestWithParam<Vary> {
 protected:
  void SetUp() override {
#ifdef FUELRAIL_SANITIZED
    GTEST_SKIP() << "it takes long, and asks about numbers, not about memory or threads";
#endif
  }
};
INSTANTIATE_TEST_SUITE_P(, PermutationStatistics, ::testing::Values(Vary::kEpoch, Vary::kSeed),
                         [](const auto& suite) {
                           return suite.param == Vary::kEpoch ? "epochs" : "seeds";
                         });

TEST_P(PermutationStatistics, every_record_comes_at_every_position_equally_often) {
  for (uint64_t n = 2; n <= 100; ++n) {
    const uint64_t trials = std::max<uint64_t>(10 * n, 1000);
    std::vector<uint32_t> counts(n * n);
    for (uint64_t k = 0; k < trials; ++k) {
      const Permutation permutation = keyed(n, GetParam(), k);
      for (uint64_t i = 0; i < n; ++i) ++counts[i * n + permutation(i)];
    }
    // Rows and columns of the table have fixed sums, hence the degrees of freedom and the factor.
    const double m = static_cast<double>(n);
    const double statistic = (m - 1) / m * chi_square(counts, static_cast<double>(trials) / m);
    EXPECT_LT(statistic, one_in_a_million((m - 1) * (m - 1))) << "n = " << n;
  }
}

TEST_P(PermutationStatistics, every_ordered_pair_is_equally_likely) {
  for (uint64_t n = 2; n <= 100; ++n) {
    // First and second position; first and last; two in the middle.
    const uint64_t positions[3][2] = {{0, 1}, {0, n - 1}, {(n - 1) / 2, (n - 1) / 2 + 1}};
    const uint64_t trials = std::max<uint64_t>(5 * n * (n - 1), 20000);
    std::vector<std::vector<uint32_t>> counts(3, std::vector<uint32_t>(n * n));
    for (uint64_t k = 0; k < trials; ++k) {
      const Permutation permutation = keyed(n, GetParam(), k);
      for (size_t p = 0; p < 3; ++p) {
        ++counts[p][permutation(positions[p][0]) * n + permutation(positions[p][1])];
      }
    }
    const double cells = static_cast<double>(n * (n - 1));
    const double expected = static_cast<double>(trials) / cells;
    for (std::vector<uint32_t>& table : counts) {
      for (uint64_t record = n; record-- > 0;) {  // no record is its own neighbour
        ASSERT_EQ(table[record * n + record], 0u);
        table.erase(table.begin() + static_cast<ptrdiff_t>(record * n + record));
      }
      EXPECT_LT(chi_square(table, expected), one_in_a_million(cells - 1)) << "n = " << n;
    }
  }
}

// Finds faults that positions and pairs do not show, such as orders that are always even.
TEST_P(PermutationStatistics, every_order_of_a_few_records_is_equally_likely) {
  uint64_t orders = 1;
  for (uint64_t n = 2; n <= 7; ++n) {
    orders *= n;
    const uint64_t trials = std::max<uint64_t>(20 * orders, 60000);
    std::map<std::vector<uint64_t>, uint32_t> seen;
    for (uint64_t k = 0; k < trials; ++k) ++seen[order_of(keyed(n, GetParam(), k))];
    ASSERT_EQ(seen.size(), orders) << "n = " << n;
    std::vector<uint32_t> counts;
    for (const auto& [order, count] : seen) counts.push_back(count);
    const double expected = static_cast<double>(trials) / static_cast<double>(orders);
    EXPECT_LT(chi_square(counts, expected), one_in_a_million(static_cast<double>(orders - 1)))
        << "n = " << n;
  }
}

TEST_P(PermutationStatistics, odd_and_even_orders_are_equally_likely) {
  constexpr uint32_t kTrials = 1000;
  for (uint64_t n = 2; n <= 100; ++n) {
    std::vector<uint32_t> counts(2);
    for (uint64_t k = 0; k < kTrials; ++k) {
      std::vector<uint64_t> order = order_of(keyed(n, GetParam(), k));
      uint32_t swaps = 0;
      for (uint64_t i = 0; i < n; ++i) {
        for (; order[i] != i; ++swaps) std::swap(order[i], order[order[i]]);
      }
      ++counts[swaps % 2];
    }
    EXPECT_LT(chi_square(counts, kTrials / 2.0), one_in_a_million(1)) << "n = " << n;
  }
}

// The record that follows another in one epoch is no more likely to follow it in the next.
TEST(Permutation, successive_epochs_are_independent) {
  constexpr uint64_t kSize = 12;
  constexpr uint64_t kTrials = 20000;
  std::vector<uint32_t> counts(kSize * kSize);
  for (uint64_t epoch = 0; epoch < kTrials; ++epoch) {
    ++counts[Permutation(kSize, 9, epoch)(5) * kSize + Permutation(kSize, 9, epoch + 1)(5)];
  }
  EXPECT_LT(chi_square(counts, double{kTrials} / (kSize * kSize)),
            one_in_a_million(kSize * kSize - 1));
}

TEST(Permutation, scatters_neighbours_of_a_large_domain) {
  constexpr uint64_t kSize = uint64_t{1} << 33;
  constexpr size_t kBins = 64;
  constexpr uint64_t kTrials = 64000;
  std::vector<uint32_t> images(kBins);
  std::vector<uint32_t> steps(kBins);
  const Permutation permutation(kSize, 5, 8);
  for (uint64_t i = 0; i < kTrials; ++i) {
    const uint64_t image = permutation(i);
    const uint64_t step = (permutation(i + 1) - image) & (kSize - 1);
    ++images[image / (kSize / kBins)];
    ++steps[step / (kSize / kBins)];
  }
  EXPECT_LT(chi_square(images, double{kTrials} / kBins), one_in_a_million(kBins - 1));
  EXPECT_LT(chi_square(steps, double{kTrials} / kBins), one_in_a_million(kBins - 1));
}

TEST(Permutation, epochs_and_seeds_differ_from_20_records_on) {
  for (uint64_t n = 20; n <= 200; ++n) {
    std::vector<std::vector<uint64_t>> orders;
    for (uint64_t k = 0; k < 10; ++k) {
      orders.push_back(order_of(Permutation(n, 1, k)));
      orders.push_back(order_of(Permutation(n, 2 + k, 0)));
      orders.push_back(order_of(Permutation(n, 1, (k + 1) << 32)));
      orders.push_back(order_of(Permutation(n, (k + 1) << 32, 0)));
    }
    std::sort(orders.begin(), orders.end());
    EXPECT_EQ(std::adjacent_find(orders.begin(), orders.end()), orders.end()) << "n = " << n;
  }
}

}  // namespace
}  // namespace fuelrail
