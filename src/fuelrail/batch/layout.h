// The offsets of a batch's columns in its memory slot. Decided once for each loader.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/dtype.h"

namespace fuelrail {

// What the elements of a column are.
enum class Content : uint8_t {
  kNumbers,
  kPixels,  // numbers: images, whose last three dimensions are in the order of the loader's layout
  kBytes,   // uint8, of one dimension
  kText,    // likewise; UTF-8
};

// How a ragged column is delivered.
enum class Ragged : uint8_t {
  kList,    // each row separately
  kPad,     // one array: zeros fill each row up to the largest extents in the batch
  kPacked,  // one array: the rows joined along their first dimension
};

struct ColumnSpec {
  std::string name;
  DType dtype = DType::kUint8;
  // Without the batch dimension; empty = one scalar per row. -1 = the size differs from row to row,
  // which makes the column ragged.
  std::vector<int64_t> row_shape{};
  Content content = Content::kNumbers;
  // Whether a row is a list of any number of items, each of the shape `row_shape`. Such a column is
  // ragged.
  bool list = false;
  Ragged as = Ragged::kList;  // no effect on columns that are not ragged

  bool ragged() const;
  bool joined() const { return as != Ragged::kList && ragged(); }  // Batch::join makes an array
  // Bytes of a row in the column itself, which holds the row's elements or a RaggedRow. Requires: a
  // BatchLayout has accepted the column.
  size_t row_bytes() const;
};

// The extents of a row.
class Extents {
 public:
  static constexpr size_t kMostDimensions = 8;
  using value_type = int64_t;
  using iterator = const int64_t*;
  using const_iterator = const int64_t*;

  Extents() = default;
  // Requires: extents.size() <= kMostDimensions.
  explicit Extents(std::span<const int64_t> extents) : size_(extents.size()) {
    std::copy(extents.begin(), extents.end(), extents_.begin());
  }

  size_t size() const { return size_; }
  const int64_t* begin() const { return extents_.data(); }
  const int64_t* end() const { return extents_.data() + size_; }
  int64_t operator[](size_t dimension) const { return extents_[dimension]; }
  friend bool operator==(const Extents& extents, std::span<const int64_t> others) {
    return std::equal(extents.begin(), extents.end(), others.begin(), others.end());
  }

 private:
  std::array<int64_t, kMostDimensions> extents_{};
  size_t size_ = 0;
};

// A row of a ragged column: the address of its elements in the slot's arena, and its shape. A row
// of a list column: the address of its items, which are RaggedRows, and their number.
struct RaggedRow {
  std::byte* data = nullptr;
  Extents shape{};
};

// The array of a joined column, in the slot's arena. kPad: `shape` is that of each row of the
// array, and `index` the original extents of each row in the dimensions that differ, int64 (rows,
// number of -1 in the row_shape). kPacked: `shape` is that of the array, and `index` the positions
// along its first dimension at which the rows begin, and the end of the last, int64 (rows + 1).
struct JoinedRows {
  std::byte* data = nullptr;
  Extents shape{};
  int64_t* index = nullptr;
};

class BatchLayout {
 public:
  // Each column begins at a multiple of 64 bytes. Errors: InvalidArgumentError for 0 rows, 0
  // columns, two columns with the same name, a dimension below -1, a ragged column with more than
  // eight dimensions, or more bytes than size_t can hold. Requires: a list column is not joined,
  // and of a packed column only the first dimension may be -1.
  BatchLayout(std::vector<ColumnSpec> columns, size_t rows);

  const std::vector<ColumnSpec>& columns() const { return columns_; }
  size_t rows() const { return rows_; }  // the capacity; a batch may have fewer
  // In bytes from the beginning of the slot. Requires: column < columns().size().
  size_t offset(size_t column) const { return offsets_[column]; }
  size_t total_bytes() const { return total_bytes_; }
  size_t row_bytes() const { return row_bytes_; }  // in all columns, without padding
  bool ragged() const { return ragged_; }          // whether any column is
  bool joined() const { return joined_; }          // likewise
  // Errors: InvalidArgumentError for an unknown name; suggests the nearest one.
  size_t index_of(std::string_view name) const;

 private:
  std::vector<ColumnSpec> columns_;
  std::vector<size_t> offsets_;
  size_t rows_;
  size_t total_bytes_ = 0;
  size_t row_bytes_ = 0;
  bool ragged_ = false;
  bool joined_ = false;
};

}  // namespace fuelrail
