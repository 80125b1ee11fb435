// The worker of MXNet's record iterators: parses a record into labels and an encoded image, decodes
// and augments the image, and writes a row of the batch.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "fuelrail/engine/worker.h"
#include "fuelrail/mxnet/label_list.h"
#include "fuelrail/mxnet/record_files.h"
#include "fuelrail/mxnet/record_options.h"

namespace fuelrail::mxnet {

// The indices of a batch's columns: data [channels, height, width]; label float32, a scalar if its
// width is 1; index uint64, the record's id; valid bool.
struct RecordColumns {
  static constexpr size_t kData = 0;
  static constexpr size_t kLabel = 1;
  static constexpr size_t kIndex = 2;
  static constexpr size_t kValid = 3;
};

struct RecordWork {
  std::shared_ptr<const RecordFiles> files;
  std::shared_ptr<const LabelList> labels{};  // null: use the labels of the records
  RecordIterOptions options;  // if a mean image is used, output.mean_image is loaded
  size_t label_numbers = 1;   // number of values in a row's label
};

std::vector<ColumnSpec> record_columns(const RecordWork& work);

// A factory of workers that write record_columns(*work). Requires: entries come from a
// RecordSampler. Errors of the factory: those of check(AugmentOptions), check(DetOptions) and
// check(OutputOptions). Errors of a row: CorruptError if the number of labels differs from
// label_width; UnsupportedError for an image that cannot be converted to the channels of
// data_shape; those of decoding and augmenting.
WorkerFactory record_worker_factory(std::shared_ptr<const RecordWork> work);

}  // namespace fuelrail::mxnet
