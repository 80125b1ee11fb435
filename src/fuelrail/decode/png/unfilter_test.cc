#include "fuelrail/decode/png/unfilter.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "fuelrail/testing/each_simd_target.h"
#include "fuelrail/testing/made_png.h"

namespace fuelrail::png {
namespace {

using Row = std::vector<uint8_t>;

// As the standard defines the filters (PNG, third edition, section 9.2).
Row unfiltered(int filter, const Row& filtered, const Row& above, size_t pixel, size_t bytes) {
  Row row(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    const int a = i >= pixel ? row[i - pixel] : 0;
    const int b = above[i];
    const int c = i >= pixel ? above[i - pixel] : 0;
    const int predicted[] = {0, a, b, (a + b) / 2, testing::paeth(a, b, c)};
    row[i] = static_cast<uint8_t>(filtered[i] + predicted[filter]);
  }
  return row;
}

// With the slack. Some rows are of few values, so that distances of Paeth are equal.
Row random_row(size_t bytes, std::mt19937_64& random) {
  Row row(bytes + kRowSlack);
  for (uint8_t& byte : row) byte = static_cast<uint8_t>(random() % (bytes % 3 == 0 ? 3 : 256));
  return row;
}

TEST(Unfilter, is_the_plain_form_with_every_instruction_set) {
  testing::on_each_simd_target([] {
    std::mt19937_64 random(1);
    for (const int pixel : {1, 2, 3, 4, 6, 8}) {
      for (uint8_t filter = 0; filter < kFilters; ++filter) {
        for (size_t bytes = 1; bytes < 150; ++bytes) {
          const Row filtered = random_row(bytes, random);
          const Row above = random_row(bytes, random);
          Row row = random_row(bytes, random);
          unfilter(filter, pixel,
                   {.filtered = filtered.data(),
                    .above = above.data(),
                    .to = row.data(),
                    .bytes = static_cast<int64_t>(bytes)});
          row.resize(bytes);
          ASSERT_EQ(row, unfiltered(filter, filtered, above, static_cast<size_t>(pixel), bytes))
              << fmt::format("filter {}, {} bytes a pixel, {} bytes", filter, pixel, bytes);
        }
      }
    }
  });
}

TEST(Unfilter, two_rows_of_paeth_are_as_one_after_the_other) {
  testing::on_each_simd_target([] {
    std::mt19937_64 random(2);
    for (const int pixel : {1, 2, 3, 4, 6, 8}) {
      for (size_t bytes = 1; bytes < 150; ++bytes) {
        const Row filtered[] = {random_row(bytes, random), random_row(bytes, random)};
        const Row above = random_row(bytes, random);
        Row rows[] = {random_row(bytes, random), random_row(bytes, random)};
        const auto row = [&](int i, const Row& over) {
          return FilteredRow{.filtered = filtered[i].data(),
                             .above = over.data(),
                             .to = rows[i].data(),
                             .bytes = static_cast<int64_t>(bytes)};
        };
        unfilter_paeth_rows(pixel, row(0, above), row(1, rows[0]));
        for (Row& made : rows) made.resize(bytes);
        const auto step = static_cast<size_t>(pixel);
        SCOPED_TRACE(fmt::format("{} bytes a pixel, {} bytes", pixel, bytes));
        ASSERT_EQ(rows[0], unfiltered(kPaeth, filtered[0], above, step, bytes));
        ASSERT_EQ(rows[1], unfiltered(kPaeth, filtered[1], rows[0], step, bytes));
      }
    }
  });
}

}  // namespace
}  // namespace fuelrail::png
