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
