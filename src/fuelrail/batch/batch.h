// A batch: named columns in one slot of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fuelrail/batch/layout.h"
#include "fuelrail/batch/slot_pool.h"

namespace fuelrail {

// Cheap to copy: copies share the memory. Lifetime: the memory stays unchanged until the last copy,
// and the last holder of `owner()`, is gone.
class Batch {
 public:
  // Requires: rows <= layout->rows(), slot->size_bytes() >= layout->total_bytes().
  Batch(std::shared_ptr<const BatchLayout> layout, std::shared_ptr<Slot> slot, size_t rows)
      : layout_(std::move(layout)), slot_(std::move(slot)), rows_(rows) {}

  const BatchLayout& layout() const { return *layout_; }
  size_t rows() const { return rows_; }

  // The first byte of a column, and of one of its rows. A batch with fewer rows than the layout has
  // its columns at the same offsets. Requires: index < layout().columns().size(), row <
  // layout().rows(). Threads: any number at once, if no two write the same row.
  std::byte* column(size_t index) const { return slot_->data() + layout_->offset(index); }
  std::byte* row(size_t index, size_t row) const {
    return column(index) + row * layout_->columns()[index].row_bytes();
  }

  // [rows, row_shape...]. Requires: as column; the column is not ragged.
  std::vector<int64_t> shape(size_t index) const;

  // Allocates memory for a row of a ragged column, and stores its address and shape. Returns: the
  // memory for the elements. Requires: as row; `shape` has the column's number of dimensions, none
  // negative. Errors: std::bad_alloc. Threads: as row.
  std::byte* make_row(size_t index, size_t row, std::span<const int64_t> shape) const;
  // A row that make_row has allocated.
  const RaggedRow& ragged_row(size_t index, size_t row) const {
    return *reinterpret_cast<const RaggedRow*>(this->row(index, row));
  }

  // The size of one row's elements in all columns, in bytes. Requires: the row was written.
  size_t row_bytes(size_t row) const;
  size_t bytes() const;  // of all rows

  const std::shared_ptr<Slot>& owner() const { return slot_; }

 private:
  std::shared_ptr<const BatchLayout> layout_;
  std::shared_ptr<Slot> slot_;
  size_t rows_;
};

}  // namespace fuelrail
