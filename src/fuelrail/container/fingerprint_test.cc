#include "fuelrail/container/fingerprint.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace fuelrail {
namespace {

Fingerprint of(std::span<const uint64_t> lengths) {
  FingerprintBuilder builder;
  for (const uint64_t length : lengths) builder.add(length);
  return builder.result();
}

std::vector<uint64_t> random_lengths(size_t count) {
  std::mt19937_64 random(count);
  std::vector<uint64_t> lengths(count);
  for (uint64_t& length : lengths) length = random() % 1'000'000;
  return lengths;
}

TEST(Fingerprint, has_frozen_values) {
  EXPECT_EQ(to_string(of({})), "0-0-00000000");
  // zlib.crc32(struct.pack("<3Q", 1, 2, 3)), and the fingerprint as text.
  const std::vector<uint64_t> lengths{1, 2, 3};
  EXPECT_EQ(to_string(of(lengths)), "3-6-2bcb8d87");
  const std::vector<uint64_t> indices{0, 2, 2, 1};
  EXPECT_EQ(to_string(select(of(lengths), indices)), "4-6-3189383b");
}

TEST(Fingerprint, joined_parts_are_as_one_file) {
  const auto lengths = random_lengths(1'000);
  const std::span all(lengths);
  for (const size_t cut : {0u, 1u, 2u, 500u, 999u, 1'000u}) {
    EXPECT_EQ(join(of(all.first(cut)), of(all.subspan(cut))), of(all)) << cut;
  }
}

TEST(Fingerprint, order_and_lengths_matter) {
  const std::vector<uint64_t> a{10, 20, 30};
  const std::vector<uint64_t> swapped{20, 10, 30};
  const std::vector<uint64_t> other{10, 21, 29};
  EXPECT_NE(of(a), of(swapped));
  EXPECT_NE(of(a), of(other));
}

TEST(Fingerprint, a_slice_is_as_the_same_indices_listed) {
  const Fingerprint parent = of(random_lengths(100));
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    const auto step = static_cast<int64_t>(random() % 13) - 6;
    if (step == 0) continue;
    const uint64_t begin = 500 + random() % 100;
    const uint64_t count = random() % 60;
    std::vector<uint64_t> indices;
    for (uint64_t n = 0; n < count; ++n) indices.push_back(begin + n * static_cast<uint64_t>(step));
    EXPECT_EQ(select(parent, begin, count, step), select(parent, indices));
  }
}

TEST(Fingerprint, everything_in_order_is_the_parent) {
  const Fingerprint parent = of(random_lengths(50));
  std::vector<uint64_t> indices(50);
  std::iota(indices.begin(), indices.end(), uint64_t{0});
  EXPECT_EQ(select(parent, indices), parent);
  EXPECT_EQ(select(parent, 0, 50, 1), parent);
  EXPECT_NE(select(parent, 0, 49, 1), parent);
  EXPECT_NE(select(parent, 49, 50, -1), parent);
  EXPECT_EQ(select(Fingerprint{}, {}), Fingerprint{});
  const std::vector<uint64_t> one{77};
  EXPECT_EQ(select(of(one), 0, 1, -1), of(one));
}

TEST(Fingerprint, different_selections_and_parents_differ) {
  const Fingerprint parent = of(random_lengths(50));
  const std::vector<uint64_t> a{1, 2, 3};
  const std::vector<uint64_t> b{1, 3, 2};
  const std::vector<uint64_t> c{1, 2};
  EXPECT_NE(select(parent, a), select(parent, b));
  EXPECT_NE(select(parent, a), select(parent, c));
  EXPECT_NE(select(parent, a), select(of(random_lengths(51)), a));
  EXPECT_EQ(select(parent, {}).records, 0u);
}

// Frozen: saved states contain it.
TEST(Fingerprint, of_class_names_knows_each_and_their_order) {
  const auto print = [](const std::vector<std::string>& names) {
    return fingerprint_of_classes(names);
  };
  EXPECT_EQ(print({}), "");
  EXPECT_EQ(print({"ant", "bee"}), "2-a4396de0");
  EXPECT_NE(print({"ant", "bee"}), print({"bee", "ant"}));
  EXPECT_NE(print({"ant", "bee"}), print({"an", "tbee"}));
}

}  // namespace
}  // namespace fuelrail
