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

// Cheap to copy: copies share the memory. Lifetime: the memory is not reused until the last copy
// and the last holder of `owner()` are destroyed.
class Batch {
 public:
  // Requires: rows <= layout->rows(), slot->size_bytes() >= layout->total_bytes().
  Batch(std::shared_ptr<const BatchLayout> layout, std::shared_ptr<Slot> slot, size_t rows)
      : layout_(std::move(layout)), slot_(std::move(slot)), rows_(rows) {}

  const BatchLayout& layout() const { return *layout_; }
  size_t rows() const { return rows_; }

  // `column`: the first byte of a column; `row`: the first byte of one of its rows. In a batch with
  // fewer rows than the layout, the columns are still at the layout's offsets. Requires: index <
  // layout().columns().size(), row < layout().rows(). Threads: any number at once, if no two write
  // the same row.
  std::byte* column(size_t index) const { return slot_->data() + layout_->offset(index); }
  std::byte* row(size_t index, size_t row) const {
    return column(index) + row * layout_->columns()[index].row_bytes();
  }

  // [rows, row_shape...], or the shape of a joined column's array. Requires: as for `column`, and
  // the column is not ragged, or it is joined and `join` was called.
  std::vector<int64_t> shape(size_t index) const;

  // Allocates memory for a row of a ragged column, and stores its address and shape. Returns: the
  // memory for the elements. Requires: as for `row`, and `shape` has as many dimensions as the
  // column, none of them negative. Errors: std::bad_alloc. Threads: as for `row`.
  std::byte* make_row(size_t index, size_t row, std::span<const int64_t> shape) const;
  // A row that make_row has allocated.
  const RaggedRow& ragged_row(size_t index, size_t row) const {
    return *reinterpret_cast<const RaggedRow*>(this->row(index, row));
  }

  // A row of a list column: `make_list` allocates memory for its items, then `make_item` memory for
  // the elements of each item, and stores the item's address and shape. Requires, returns, errors
  // and threads: as for `make_row`; every item is made before the row is read.
  void make_list(size_t index, size_t row, size_t items) const;
  std::byte* make_item(size_t index, size_t row, size_t item, std::span<const int64_t> shape) const;
  std::span<const RaggedRow> items(size_t index, size_t row) const;

  // Copies the rows of all joined columns into arrays. Requires: all rows were written. Errors:
  // std::bad_alloc.
  void join() const;
  // Requires: the column is joined, and `join` was called.
  const JoinedRows& joined(size_t index) const {
    return *reinterpret_cast<const JoinedRows*>(row(index, layout_->rows()));
  }

  // The size of one row's elements in all columns, in bytes. Requires: the row was written.
  size_t row_bytes(size_t row) const;
  size_t bytes() const;  // of the elements of all rows

  const std::shared_ptr<Slot>& owner() const { return slot_; }

 private:
  std::byte* allocate(DType dtype, std::span<const int64_t> shape) const;
  JoinedRows padded(size_t index) const;
  JoinedRows packed(size_t index) const;

  std::shared_ptr<const BatchLayout> layout_;
  std::shared_ptr<Slot> slot_;
  size_t rows_;
};

}  // namespace fuelrail
