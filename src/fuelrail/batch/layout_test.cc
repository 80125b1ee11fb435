#include "fuelrail/batch/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;
using testing::refusal_of;

ColumnSpec image() { return {"image", DType::kFloat32, {3, 224, 224}}; }

TEST(BatchLayout, columns_begin_at_multiples_of_64_bytes) {
  const BatchLayout layout({{"valid", DType::kBool, {}}, image(), {"label", DType::kInt64, {}}}, 3);
  EXPECT_EQ(layout.offset(0), 0u);
  EXPECT_EQ(layout.offset(1), 64u);
  EXPECT_EQ(layout.offset(2), 64u + 3 * 3 * 224 * 224 * 4);
  EXPECT_EQ(layout.total_bytes(), layout.offset(2) + 64);
  EXPECT_EQ(layout.row_bytes(), 1u + 3 * 224 * 224 * 4 + 8);
}

TEST(BatchLayout, columns_never_overlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ColumnSpec> columns;
    const size_t count = 1 + random() % 5;
    for (size_t i = 0; i < count; ++i) {
      columns.push_back({std::to_string(i),
                         static_cast<DType>(random() % 6),
                         {static_cast<int64_t>(random() % 7), static_cast<int64_t>(random() % 9)}});
    }
    const size_t rows = 1 + random() % 33;
    const BatchLayout layout(columns, rows);
    size_t end = 0;
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(layout.offset(i) % 64, 0u);
      EXPECT_GE(layout.offset(i), end);
      end = layout.offset(i) + rows * columns[i].row_bytes();
    }
    EXPECT_GE(layout.total_bytes(), end);
  }
}

TEST(BatchLayout, scalar_column_has_the_size_of_its_type) {
  EXPECT_EQ((ColumnSpec{"label", DType::kInt64, {}}).row_bytes(), 8u);
}

TEST(BatchLayout, empty_dimension_takes_no_bytes) {
  const BatchLayout layout({{"nothing", DType::kFloat32, {0, 5}}}, 4);
  EXPECT_EQ(layout.total_bytes(), 0u);
}

TEST(BatchLayout, no_rows_are_refused) {
  EXPECT_THAT(refusal_of<InvalidArgumentError>([] { BatchLayout({image()}, 0); }),
              HasSubstr("at least one row"));
}

TEST(BatchLayout, no_columns_are_refused) {
  EXPECT_THAT(refusal_of<InvalidArgumentError>([] { BatchLayout({}, 1); }),
              HasSubstr("at least one column"));
}

TEST(BatchLayout, two_columns_of_one_name_are_refused) {
  EXPECT_THAT(refusal_of<InvalidArgumentError>([] {
                BatchLayout({image(), image()}, 1);
              }),
              HasSubstr("two columns of the batch are named 'image'"));
}

TEST(BatchLayout, negative_dimension_is_refused) {
  EXPECT_THAT(refusal_of<InvalidArgumentError>([] {
                BatchLayout({{"x", DType::kUint8, {4, -2}}}, 1);
              }),
              HasSubstr("found -2"));
}

TEST(BatchLayout, ragged_column_holds_where_its_rows_lie) {
  const BatchLayout layout({{"x", DType::kFloat32, {3, -1, -1}}, {"y", DType::kBool, {}}}, 5);
  EXPECT_TRUE(layout.ragged());
  EXPECT_TRUE(layout.columns()[0].ragged());
  EXPECT_FALSE(layout.columns()[1].ragged());
  EXPECT_EQ(layout.columns()[0].row_bytes(), sizeof(RaggedRow));
  EXPECT_GE(layout.offset(1), 5 * sizeof(RaggedRow));
  EXPECT_FALSE(BatchLayout({image()}, 1).ragged());
}

TEST(BatchLayout, ragged_column_of_nine_dimensions_is_refused) {
  const std::vector<int64_t> eight(8, -1);
  EXPECT_TRUE(BatchLayout({{"x", DType::kUint8, eight}}, 1).ragged());
  EXPECT_THAT(refusal_of<InvalidArgumentError>([] {
                BatchLayout({{"x", DType::kUint8, {1, 2, 3, 4, 5, 6, 7, 8, -1}}}, 1);
              }),
              HasSubstr("at most 8, found 9"));
}

TEST(BatchLayout, only_ragged_columns_are_joined) {
  const auto column = [](std::vector<int64_t> row_shape, Ragged as) {
    return ColumnSpec{
        .name = "x", .dtype = DType::kFloat32, .row_shape = std::move(row_shape), .as = as};
  };
  EXPECT_FALSE(BatchLayout({column({4}, Ragged::kPad)}, 3).joined());
  EXPECT_FALSE(BatchLayout({column({-1, 4}, Ragged::kList)}, 3).joined());
  const BatchLayout list({column({-1, 4}, Ragged::kList)}, 3);
  const BatchLayout packed({column({-1, 4}, Ragged::kPacked)}, 3);
  EXPECT_TRUE(packed.joined());
  EXPECT_GE(packed.total_bytes(), 3 * sizeof(RaggedRow) + sizeof(JoinedRows));
  EXPECT_EQ(packed.row_bytes(), list.row_bytes());
}

TEST(BatchLayout, more_bytes_than_size_t_holds_are_refused) {
  const int64_t huge = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] {
                BatchLayout({{"x", DType::kInt64, {huge}}}, 1);
              }),
              HasSubstr("too large"));
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] {
                BatchLayout({{"x", DType::kUint8, {huge}}}, 3);
              }),
              HasSubstr("too large"));
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] {
                BatchLayout({{"x", DType::kUint8, {huge}},
                             {"y", DType::kUint8, {huge}},
                             {"z", DType::kUint8, {64}}},
                            1);
              }),
              HasSubstr("too large"));
}

TEST(BatchLayout, unknown_name_suggests_the_nearest) {
  const BatchLayout layout({image(), {"label", DType::kInt64, {}}}, 1);
  EXPECT_EQ(layout.index_of("label"), 1u);
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { layout.index_of("lable"); }),
              HasSubstr("Did you mean 'label'?"));
}

}  // namespace
}  // namespace fuelrail
