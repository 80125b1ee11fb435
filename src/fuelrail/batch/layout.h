// Where the columns of a batch lie in its slot of memory. Decided once a loader.
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
  // Without the batch dimension; empty = a scalar a row. -1 = differs from row to row: the column
  // is ragged then.
  std::vector<int64_t> row_shape{};

  bool ragged() const;
  // Of what lies in the column: elements, or a RaggedRow. Requires: a column that a BatchLayout has
  // taken.
  size_t row_bytes() const;
};

// What a ragged column holds of a row: where its elements lie, in the slot's arena, and the extents
// of as many dimensions as the column has.
struct RaggedRow {
  static constexpr size_t kMaxDimensions = 3;
  std::byte* data = nullptr;
  std::array<int64_t, kMaxDimensions> shape{};
};

class BatchLayout {
 public:
  // Each column begins at a multiple of 64 bytes. Errors: InvalidArgumentError for no rows, no
  // columns, two columns of one name, a dimension below -1, a ragged column of more than three
  // dimensions, or more bytes than size_t holds.
  BatchLayout(std::vector<ColumnSpec> columns, size_t rows);

  const std::vector<ColumnSpec>& columns() const { return columns_; }
  size_t rows() const { return rows_; }  // capacity: a batch may have fewer
  // In bytes from the slot's beginning. Requires: column < columns().size().
  size_t offset(size_t column) const { return offsets_[column]; }
  size_t total_bytes() const { return total_bytes_; }
  size_t row_bytes() const { return row_bytes_; }  // of all columns, without padding
  bool ragged() const { return ragged_; }          // whether any column is
  // Errors: InvalidArgumentError that suggests the nearest name.
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
