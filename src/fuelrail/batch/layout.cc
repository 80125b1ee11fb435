#include "fuelrail/batch/layout.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr size_t kColumnAlignment = 64;  // cache line, widest vector register
constexpr size_t kMaxBytes = std::numeric_limits<size_t>::max() - kColumnAlignment;

[[noreturn]] void too_large(const ColumnSpec& column) {
  throw InvalidArgumentError("the batch's column '" + column.name + "' is too large",
                             {.remedy = "Use a smaller batch size or a smaller output size"});
}

size_t checked_product(size_t a, size_t b, const ColumnSpec& column) {
  if (b != 0 && a > kMaxBytes / b) too_large(column);
  return a * b;
}

size_t checked_row_bytes(const ColumnSpec& column) {
  const auto bad = std::find_if(column.row_shape.begin(), column.row_shape.end(),
                                [](int64_t extent) { return extent < -1; });
  if (bad != column.row_shape.end()) {
    throw InvalidArgumentError(
        "a dimension of the batch's column '" + column.name + "' is out of range",
        {.expected = "at least 0, or -1 for a size that differs between rows",
         .found = std::to_string(*bad)});
  }
  if (column.ragged()) {
    if (column.row_shape.size() > Extents::kMostDimensions) {
      throw InvalidArgumentError(
          "the batch's ragged column '" + column.name + "' has too many dimensions",
          {.expected = "at most " + std::to_string(Extents::kMostDimensions),
           .found = std::to_string(column.row_shape.size())});
    }
    return sizeof(RaggedRow);
  }
  size_t bytes = size_in_bytes(column.dtype);
  for (const int64_t extent : column.row_shape) {
    bytes = checked_product(bytes, static_cast<size_t>(extent), column);
  }
  return bytes;
}

}  // namespace

bool ColumnSpec::ragged() const {
  return list || std::find(row_shape.begin(), row_shape.end(), -1) != row_shape.end();
}

size_t ColumnSpec::row_bytes() const {
  if (ragged()) return sizeof(RaggedRow);
  size_t bytes = size_in_bytes(dtype);
  for (const int64_t extent : row_shape) bytes *= static_cast<size_t>(extent);
  return bytes;
}

BatchLayout::BatchLayout(std::vector<ColumnSpec> columns, size_t rows)
    : columns_(std::move(columns)), rows_(rows) {
  if (rows_ == 0) throw InvalidArgumentError("a batch needs at least one row");
  if (columns_.empty()) throw InvalidArgumentError("a batch needs at least one column");
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ColumnSpec& column = columns_[i];
    for (size_t j = 0; j < i; ++j) {
      if (columns_[j].name == column.name) {
        throw InvalidArgumentError("two columns of the batch are named '" + column.name + "'");
      }
    }
    const size_t row = checked_row_bytes(column);
    size_t bytes = checked_product(row, rows_, column);
    if (column.joined()) bytes += sizeof(JoinedRows);  // after the rows
    if (bytes > kMaxBytes - total_bytes_) too_large(column);
    offsets_.push_back(total_bytes_);
    total_bytes_ += bytes;
    total_bytes_ += (kColumnAlignment - total_bytes_ % kColumnAlignment) % kColumnAlignment;
    row_bytes_ += row;
    ragged_ = ragged_ || column.ragged();
    joined_ = joined_ || column.joined();
  }
}

size_t BatchLayout::index_of(std::string_view name) const {
  std::vector<std::string> known;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].name == name) return i;
    known.push_back(columns_[i].name);
  }
  const std::string given(name);
  throw InvalidArgumentError("the batch has no column '" + given + "'",
                             {.remedy = suggest(given, known)});
}

}  // namespace fuelrail
