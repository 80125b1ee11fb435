#include "fuelrail/batch/batch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace fuelrail {
namespace {

std::shared_ptr<const BatchLayout> image_and_label() {
  return std::make_shared<BatchLayout>(
      std::vector<ColumnSpec>{{"image", DType::kUint8, {2, 3}}, {"label", DType::kInt64, {}}}, 4);
}

TEST(Batch, shape_has_the_rows_that_are_there) {
  const auto layout = image_and_label();
  SlotPool pool(layout->total_bytes(), 1);
  const Batch batch(layout, pool.take(), 3);
  EXPECT_EQ(batch.shape(0), (std::vector<int64_t>{3, 2, 3}));
  EXPECT_EQ(batch.shape(1), (std::vector<int64_t>{3}));
}

TEST(Batch, batch_without_rows_keeps_its_shape) {
  const auto layout = image_and_label();
  SlotPool pool(layout->total_bytes(), 1);
  const Batch batch(layout, pool.take(), 0);
  EXPECT_EQ(batch.shape(0), (std::vector<int64_t>{0, 2, 3}));
}

TEST(Batch, rows_follow_each_other_in_their_column) {
  const auto layout = image_and_label();
  SlotPool pool(layout->total_bytes(), 1);
  const Batch batch(layout, pool.take(), 4);
  EXPECT_EQ(batch.row(0, 2) - batch.column(0), 12);
  EXPECT_EQ(batch.row(1, 3) - batch.column(1), 24);
  EXPECT_EQ(batch.column(1) - batch.column(0), 64);
}

TEST(Batch, ragged_rows_have_sizes_of_their_own_and_live_as_long_as_the_batch) {
  const auto layout =
      std::make_shared<BatchLayout>(std::vector<ColumnSpec>{{"image", DType::kFloat32, {3, -1, -1}},
                                                            {"label", DType::kInt64, {}}},
                                    4);
  std::shared_ptr<Slot> owner;
  const std::byte* last = nullptr;
  {
    SlotPool pool(layout->total_bytes(), 1);
    const Batch batch(layout, pool.take(), 3);
    for (int64_t i = 0; i < 3; ++i) {
      const int64_t shape[] = {3, 10 + i, 20 - i};
      const auto row = static_cast<size_t>(i);
      std::byte* const elements = batch.make_row(0, row, shape);
      std::memset(elements, static_cast<int>(i), batch.row_bytes(row) - 8);
    }
    for (int64_t i = 0; i < 3; ++i) {
      const RaggedRow& row = batch.ragged_row(0, static_cast<size_t>(i));
      EXPECT_EQ(row.shape, (std::array<int64_t, 3>{3, 10 + i, 20 - i}));
      EXPECT_EQ(row.data[0], std::byte(i));
      EXPECT_EQ(row.data[3 * (10 + i) * (20 - i) * 4 - 1], std::byte(i));
    }
    EXPECT_EQ(batch.row_bytes(1), 3u * 11 * 19 * 4 + 8);
    EXPECT_EQ(batch.bytes(), 3u * (10 * 20 + 11 * 19 + 12 * 18) * 4 + 3 * 8);
    owner = batch.owner();
    last = batch.ragged_row(0, 2).data;
  }
  EXPECT_EQ(*last, std::byte{2});
}

TEST(Batch, row_of_more_bytes_than_size_t_holds_is_bad_alloc) {
  const auto layout =
      std::make_shared<BatchLayout>(std::vector<ColumnSpec>{{"x", DType::kFloat32, {-1, -1}}}, 1);
  SlotPool pool(layout->total_bytes(), 1);
  const Batch batch(layout, pool.take(), 1);
  const int64_t shape[] = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_THROW(batch.make_row(0, 0, shape), std::bad_alloc);
}

// The elements of an array.
template <typename T>
std::vector<T> elements(const std::byte* data, size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), data, count * sizeof(T));
  return values;
}

// A batch of one column, whose rows have the given shapes and count up: 1, 2, 3, ...
Batch counting_batch(const std::vector<int64_t>& row_shape, Ragged as,
                     const std::vector<std::vector<int64_t>>& shapes) {
  const auto layout = std::make_shared<BatchLayout>(
      std::vector<ColumnSpec>{
          {.name = "x", .dtype = DType::kInt16, .row_shape = row_shape, .as = as}},
      4);
  SlotPool pool(layout->total_bytes(), 1);
  Batch batch(layout, pool.take(), shapes.size());
  int16_t next = 1;
  for (size_t row = 0; row < shapes.size(); ++row) {
    std::byte* const to = batch.make_row(0, row, shapes[row]);
    int64_t count = 1;
    for (const int64_t extent : shapes[row]) count *= extent;
    for (int64_t i = 0; i < count; ++i, ++next) std::memcpy(to + i * 2, &next, 2);
  }
  batch.join();
  return batch;
}

TEST(Batch, padded_rows_are_filled_with_zeros_and_their_lengths_are_kept) {
  const Batch batch = counting_batch({-1, 2, -1}, Ragged::kPad, {{1, 2, 3}, {2, 2, 1}, {0, 2, 2}});
  EXPECT_EQ(batch.shape(0), (std::vector<int64_t>{3, 2, 2, 3}));
  EXPECT_EQ(elements<int16_t>(batch.joined(0).data, 36),
            (std::vector<int16_t>{1, 2, 3, 4, 5, 6, 0, 0, 0, 0,  0, 0,     // 1 x 2 x 3
                                  7, 0, 0, 8, 0, 0, 9, 0, 0, 10, 0, 0,     // 2 x 2 x 1
                                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  0, 0}));  // 0 x 2 x 2
  const int64_t* const lengths = batch.joined(0).index;
  EXPECT_EQ(std::vector(lengths, lengths + 6), (std::vector<int64_t>{1, 3, 2, 1, 0, 2}));
}

TEST(Batch, packed_rows_follow_one_another_and_their_offsets_are_kept) {
  const Batch batch = counting_batch({-1, 2}, Ragged::kPacked, {{2, 2}, {0, 2}, {1, 2}});
  EXPECT_EQ(batch.shape(0), (std::vector<int64_t>{3, 2}));
  EXPECT_EQ(elements<int16_t>(batch.joined(0).data, 6), (std::vector<int16_t>{1, 2, 3, 4, 5, 6}));
  const int64_t* const offsets = batch.joined(0).index;
  EXPECT_EQ(std::vector(offsets, offsets + 4), (std::vector<int64_t>{0, 2, 2, 3}));
}

TEST(Batch, joined_columns_without_rows_or_elements_keep_their_dimensions) {
  EXPECT_EQ(counting_batch({-1, 4}, Ragged::kPad, {}).shape(0), (std::vector<int64_t>{0, 0, 4}));
  EXPECT_EQ(counting_batch({-1, 4}, Ragged::kPad, {{0, 4}, {0, 4}}).shape(0),
            (std::vector<int64_t>{2, 0, 4}));
  const Batch none = counting_batch({-1, 4}, Ragged::kPacked, {});
  EXPECT_EQ(none.shape(0), (std::vector<int64_t>{0, 4}));
  EXPECT_EQ(none.joined(0).index[0], 0);
}

TEST(Batch, padding_to_more_bytes_than_size_t_holds_is_bad_alloc) {
  const int64_t huge = int64_t{1} << 40;
  EXPECT_THROW(counting_batch({-1, -1}, Ragged::kPad, {{huge, 0}, {0, huge}}), std::bad_alloc);
}

TEST(Batch, items_of_a_list_have_sizes_of_their_own) {
  const auto layout = std::make_shared<BatchLayout>(
      std::vector<ColumnSpec>{
          {.name = "x", .dtype = DType::kInt16, .row_shape = {-1}, .list = true}},
      2);
  SlotPool pool(layout->total_bytes(), 1);
  const Batch batch(layout, pool.take(), 2);
  batch.make_list(0, 0, 0);
  batch.make_list(0, 1, 2);
  for (const int64_t count : {3, 0}) {
    const int64_t shape[] = {count};
    std::memset(batch.make_item(0, 1, count == 3 ? 0 : 1, shape), 7,
                static_cast<size_t>(count) * 2);
  }
  EXPECT_TRUE(batch.items(0, 0).empty());
  ASSERT_EQ(batch.items(0, 1).size(), 2u);
  EXPECT_EQ(batch.items(0, 1)[0].shape, (std::array<int64_t, 1>{3}));
  EXPECT_EQ(batch.items(0, 1)[0].data[5], std::byte{7});
  EXPECT_EQ(batch.items(0, 1)[1].shape, (std::array<int64_t, 1>{0}));
  EXPECT_EQ(batch.row_bytes(0), 0u);
  EXPECT_EQ(batch.row_bytes(1), 6u);
}

TEST(Batch, memory_outlives_pool_layout_and_copies) {
  std::shared_ptr<Slot> owner;
  std::byte* last = nullptr;
  {
    auto layout = image_and_label();
    SlotPool pool(layout->total_bytes(), 1);
    const Batch batch(layout, pool.take(), 4);
    const Batch copy = batch;
    owner = copy.owner();
    last = copy.row(1, 3);
    std::memset(last, 0x5a, 8);
  }
  EXPECT_EQ(last[7], std::byte{0x5a});
  EXPECT_EQ(owner.use_count(), 1);
}

}  // namespace
}  // namespace fuelrail
