#include "fuelrail/batch/batch.h"

namespace fuelrail {

std::vector<int64_t> Batch::shape(size_t index) const {
  const std::vector<int64_t>& row_shape = layout_->columns()[index].row_shape;
  std::vector<int64_t> result{static_cast<int64_t>(rows_)};
  result.insert(result.end(), row_shape.begin(), row_shape.end());
  return result;
}

}  // namespace fuelrail
