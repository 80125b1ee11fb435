// For tests of ImageRecordIter: the contents of its batches.
#pragma once

#include <cstddef>

#include "fuelrail/mxnet/record_iter.h"
#include "fuelrail/mxnet/record_worker.h"

namespace fuelrail {

// The mean of all pixels of an epoch, without padding rows. Requires: float32.
inline double mean_of_epoch(mxnet::ImageRecordIter& iterator) {
  double sum = 0;
  size_t count = 0;
  while (const auto made = iterator.next()) {
    const size_t numbers =
        made->batch.layout().columns()[mxnet::RecordColumns::kData].row_bytes() / sizeof(float);
    for (size_t row = 0; row < made->batch.rows() - made->pad; ++row) {
      const auto* values =
          reinterpret_cast<const float*>(made->batch.row(mxnet::RecordColumns::kData, row));
      for (size_t i = 0; i < numbers; ++i) sum += values[i];
      count += numbers;
    }
  }
  return sum / static_cast<double>(count);
}

}  // namespace fuelrail
