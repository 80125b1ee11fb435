// The offsets of a batch's columns in its memory slot. Decided once for each loader.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/dtype.h"

namespace fuelrail {

struct ColumnSpec {
  std::string name;
  DType dtype = DType::kUint8;
  // Without the batch dimension; empty = one scalar per row. -1 = the size differs from row to row,
  // which makes the column ragged.
  std::vector<int64_t> row_shape{};

  bool ragged() const;
  // Bytes of a row in the column itself, which holds the row's elements or a RaggedRow. Requires: a
  // BatchLayout has accepted the column.
  size_t row_bytes() const;
};

// A row of a ragged column: the address of its elements in the slot's arena, and its shape. Only as
// many dimensions as the column has are used.
struct RaggedRow {
  static constexpr size_t kMaxDimensions = 3;
  std::byte* data = nullptr;
  std::array<int64_t, kMaxDimensions> shape{};
};

class BatchLayout {
 public:
  // Each column begins at a multiple of 64 bytes. Errors: InvalidArgumentError for 0 rows, 0
  // columns, two columns with the same name, a dimension below -1, a ragged column with more than
  // three dimensions, or more bytes than size_t can hold.
  BatchLayout(std::vector<ColumnSpec> columns, size_t rows);

  const std::vector<ColumnSpec>& columns() const { return columns_; }
  size_t rows() const { return rows_; }  // the capacity; a batch may have fewer
  // In bytes from the beginning of the slot. Requires: column < columns().size().
  size_t offset(size_t column) const { return offsets_[column]; }
  size_t total_bytes() const { return total_bytes_; }
  size_t row_bytes() const { return row_bytes_; }  // in all columns, without padding
  bool ragged() const { return ragged_; }          // whether any column is
  // Errors: InvalidArgumentError for an unknown name; suggests the nearest one.
  size_t index_of(std::string_view name) const;

 private:
  std::vector<ColumnSpec> columns_;
  std::vector<size_t> offsets_;
  size_t rows_;
  size_t total_bytes_ = 0;
  size_t row_bytes_ = 0;
  bool ragged_ = false;
};

}  // namespace fuelrail
