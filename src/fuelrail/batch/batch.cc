#include "fuelrail/batch/batch.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace fuelrail {
namespace {

// Requires: the array is in memory.
size_t bytes_of(DType dtype, std::span<const int64_t> shape) {
  size_t bytes = size_in_bytes(dtype);
  for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
  return bytes;
}

// The shape in which every row fits: the largest extents, or 0 without rows.
Extents largest(const Batch& batch, size_t index) {
  std::vector<int64_t> shape = batch.layout().columns()[index].row_shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] >= 0) continue;
    shape[d] = 0;
    for (size_t row = 0; row < batch.rows(); ++row) {
      shape[d] = std::max(shape[d], batch.ragged_row(index, row).shape[d]);
    }
  }
  return Extents(shape);
}

// Copies an array into a larger array, and zeros the rest of that. Requires: both have the same
// number of dimensions, at least one. Returns: the end of `from`.
const std::byte* copy_padded(const std::byte* from, std::span<const int64_t> shape, DType dtype,
                             std::byte* to, std::span<const int64_t> padded) {
  const size_t rest = bytes_of(dtype, padded.subspan(1));  // after the first dimension
  const size_t used = rest * static_cast<size_t>(shape[0]);
  const size_t all = rest * static_cast<size_t>(padded[0]);
  if (std::equal(shape.begin() + 1, shape.end(), padded.begin() + 1)) {
    if (used > 0) std::memcpy(to, from, used);
    from += used;
  } else {
    for (std::byte* part = to; part != to + used; part += rest) {
      from = copy_padded(from, shape.subspan(1), dtype, part, padded.subspan(1));
    }
  }
  std::memset(to + used, 0, all - used);
  return from;
}

}  // namespace

std::vector<int64_t> Batch::shape(size_t index) const {
  const ColumnSpec& column = layout_->columns()[index];
  std::vector<int64_t> result;
  if (column.as != Ragged::kPacked || !column.joined()) {
    result.push_back(static_cast<int64_t>(rows_));
  }
  if (column.joined()) {
    const Extents& extents = joined(index).shape;
    result.insert(result.end(), extents.begin(), extents.end());
  } else {
    result.insert(result.end(), column.row_shape.begin(), column.row_shape.end());
  }
  return result;
}

std::byte* Batch::allocate(DType dtype, std::span<const int64_t> shape) const {
  size_t bytes = size_in_bytes(dtype);
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes)) throw std::bad_alloc();
  }
  return slot_->arena().allocate(bytes);
}

std::byte* Batch::make_row(size_t index, size_t row, std::span<const int64_t> shape) const {
  std::byte* const data = allocate(layout_->columns()[index].dtype, shape);
  new (this->row(index, row)) RaggedRow{data, Extents(shape)};
  return data;
}

void Batch::make_list(size_t index, size_t row, size_t items) const {
  const int64_t shape[] = {static_cast<int64_t>(items)};
  std::byte* const data = slot_->arena().allocate(items * sizeof(RaggedRow));
  new (this->row(index, row)) RaggedRow{data, Extents(shape)};
}

std::byte* Batch::make_item(size_t index, size_t row, size_t item,
                            std::span<const int64_t> shape) const {
  std::byte* const data = allocate(layout_->columns()[index].dtype, shape);
  new (ragged_row(index, row).data + item * sizeof(RaggedRow)) RaggedRow{data, Extents(shape)};
  return data;
}

std::span<const RaggedRow> Batch::items(size_t index, size_t row) const {
  const RaggedRow& list = ragged_row(index, row);
  return {reinterpret_cast<const RaggedRow*>(list.data), static_cast<size_t>(list.shape[0])};
}

JoinedRows Batch::padded(size_t index) const {
  const ColumnSpec& column = layout_->columns()[index];
  JoinedRows made{.shape = largest(*this, index)};
  const auto rows = static_cast<int64_t>(rows_);
  const auto differing = std::count(column.row_shape.begin(), column.row_shape.end(), -1);
  const int64_t lengths[] = {rows, differing};
  made.index = reinterpret_cast<int64_t*>(allocate(DType::kInt64, lengths));
  std::vector<int64_t> whole{rows};
  whole.insert(whole.end(), made.shape.begin(), made.shape.end());
  made.data = allocate(column.dtype, whole);
  const size_t bytes = rows_ == 0 ? 0 : bytes_of(column.dtype, made.shape);
  int64_t* length = made.index;
  for (size_t i = 0; i < rows_; ++i) {
    const RaggedRow& from = ragged_row(index, i);
    copy_padded(from.data, from.shape, column.dtype, made.data + i * bytes, made.shape);
    for (size_t d = 0; d < from.shape.size(); ++d) {
      if (column.row_shape[d] < 0) *length++ = from.shape[d];
    }
  }
  return made;
}

JoinedRows Batch::packed(size_t index) const {
  const ColumnSpec& column = layout_->columns()[index];
  const int64_t positions[] = {static_cast<int64_t>(rows_) + 1};
  JoinedRows made{.index = reinterpret_cast<int64_t*>(allocate(DType::kInt64, positions))};
  made.index[0] = 0;
  for (size_t i = 0; i < rows_; ++i) {
    made.index[i + 1] = made.index[i] + ragged_row(index, i).shape[0];
  }
  std::vector<int64_t> shape = column.row_shape;
  shape[0] = made.index[rows_];
  made.shape = Extents(shape);
  made.data = allocate(column.dtype, shape);
  std::byte* to = made.data;
  for (size_t i = 0; i < rows_; ++i) {
    const RaggedRow& from = ragged_row(index, i);
    const size_t bytes = bytes_of(column.dtype, from.shape);
    if (bytes > 0) std::memcpy(to, from.data, bytes);
    to += bytes;
  }
  return made;
}

void Batch::join() const {
  for (size_t i = 0; i < layout_->columns().size(); ++i) {
    const ColumnSpec& column = layout_->columns()[i];
    if (!column.joined()) continue;
    new (row(i, layout_->rows())) JoinedRows(column.as == Ragged::kPad ? padded(i) : packed(i));
  }
}

size_t Batch::row_bytes(size_t row) const {
  size_t bytes = layout_->row_bytes();
  if (!layout_->ragged()) return bytes;
  const std::vector<ColumnSpec>& columns = layout_->columns();
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].ragged()) continue;
    bytes -= sizeof(RaggedRow);
    const std::span<const RaggedRow> parts =
        columns[i].list ? items(i, row) : std::span(&ragged_row(i, row), 1);
    for (const RaggedRow& part : parts) bytes += bytes_of(columns[i].dtype, part.shape);
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
