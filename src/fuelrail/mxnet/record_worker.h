// The worker of MXNet's record iterators: record -> labels and encoded image -> pixels -> augmented
// -> row of the batch.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "fuelrail/engine/worker.h"
#include "fuelrail/mxnet/label_list.h"
#include "fuelrail/mxnet/record_files.h"
#include "fuelrail/mxnet/record_options.h"

namespace fuelrail::mxnet {

// Where its columns are in a batch: data [channels, height, width]; label float32, a scalar where
// its width is 1; index uint64, the record's id; valid bool.
struct RecordColumns {
  static constexpr size_t kData = 0;
  static constexpr size_t kLabel = 1;
  static constexpr size_t kIndex = 2;
  static constexpr size_t kValid = 3;
};

struct RecordWork {
  std::shared_ptr<const RecordFiles> files;
  std::shared_ptr<const LabelList> labels{};  // null: those of the records
  RecordIterOptions options;                  // output.mean_image is there, if it is wanted
  size_t label_numbers = 1;                   // of a row
};

std::vector<ColumnSpec> record_columns(const RecordWork& work);

// A factory of workers that write those columns. An entry's position is what RecordSampler makes of
// it. Errors of the factory: those of check(AugmentOptions), check(DetOptions),
// check(OutputOptions). Of a row: CorruptError for another number of labels than asked for;
// UnsupportedError for an image without the channels that are asked for; those of decoding and
// augmenting.
WorkerFactory record_worker_factory(std::shared_ptr<const RecordWork> work);

}  // namespace fuelrail::mxnet
