#include "fuelrail/batch/batch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
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
