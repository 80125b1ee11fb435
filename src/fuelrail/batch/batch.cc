#include "fuelrail/batch/batch.h"

#include <algorithm>
#include <new>

namespace fuelrail {
namespace {

size_t elements_bytes(const ColumnSpec& column, const RaggedRow& row) {
  size_t bytes = size_in_bytes(column.dtype);
  for (size_t i = 0; i < column.row_shape.size(); ++i) bytes *= static_cast<size_t>(row.shape[i]);
  return bytes;
}

}  // namespace

std::vector<int64_t> Batch::shape(size_t index) const {
  const std::vector<int64_t>& row_shape = layout_->columns()[index].row_shape;
  std::vector<int64_t> result{static_cast<int64_t>(rows_)};
  result.insert(result.end(), row_shape.begin(), row_shape.end());
  return result;
}

std::byte* Batch::make_row(size_t index, size_t row, std::span<const int64_t> shape) const {
  size_t bytes = size_in_bytes(layout_->columns()[index].dtype);
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes)) throw std::bad_alloc();
  }
  auto* const made = new (this->row(index, row)) RaggedRow{.data = slot_->arena().allocate(bytes)};
  std::copy(shape.begin(), shape.end(), made->shape.begin());
  return made->data;
}

size_t Batch::row_bytes(size_t row) const {
  size_t bytes = layout_->row_bytes();
  if (!layout_->ragged()) return bytes;
  const std::vector<ColumnSpec>& columns = layout_->columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].ragged()) continue;
    bytes += elements_bytes(columns[i], ragged_row(i, row)) - sizeof(RaggedRow);
  }
  return bytes;
}

size_t Batch::bytes() const {
  if (!layout_->ragged()) return rows_ * layout_->row_bytes();
  size_t bytes = 0;
  for (size_t row = 0; row < rows_; ++row) bytes += row_bytes(row);
  return bytes;
}

}  // namespace fuelrail
