// MXNet's ImageRecordIter and ImageDetRecordIter over fuelrail's engine: RecordIO files of images
// in, batches out.
//
//   ImageRecordIter iterator({.path_imgrec = "train.rec", .data_shape = {3, 224, 224},
//                             .batch_size = 256, .augment = {.rand_crop = true}});
//   for (int epoch = 0; epoch < 90; ++epoch, iterator.reset())
//     while (auto batch = iterator.next()) train(*batch);
//
// Unlike upstream's: `index` has the records' ids; `pad` is right with round_batch=false too;
// `reset` gives the same whenever it is called; an error says file, record and offset, and the
// iterator can go on behind it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "fuelrail/batch/batch.h"
#include "fuelrail/container/open.h"
#include "fuelrail/engine/engine.h"
#include "fuelrail/engine/stats.h"
#include "fuelrail/mxnet/record_options.h"

namespace fuelrail::mxnet {

// What a batch of these iterators holds, besides the rows themselves.
struct RecordBatch {
  // Columns: data [batch, channels, height, width] of output.dtype; label float32 [batch] where
  // label_width is 1, else [batch, numbers]; index uint64 [batch], ids of the records; valid bool
  // [batch].
  Batch batch;
  size_t pad = 0;  // rows at the end that are no part of the epoch
};

// Threads: `stats` and `stop` from any, at any time; everything else from one at a time. Fork: as
// Engine.
class ImageRecordIter {
 public:
  // Opens the files (and scans those without a sidecar), reads index and list, and makes the mean
  // image where it is missing; threads start with the first batch. `open`: what is said and asked
  // meanwhile. Errors: InvalidArgumentError, naming the parameter; those of opening RecordIO files,
  // of check_index, LabelList and read_mean_image; for detection, CorruptError for a label that is
  // none.
  explicit ImageRecordIter(RecordIterOptions options, const OpenOptions& open = {});
  ~ImageRecordIter();
  ImageRecordIter& operator=(ImageRecordIter&&) = delete;

  // The next batch, always full; empty at the end of the epoch, and from then on until `reset`.
  // Errors: Engine::next's, in place of a batch; the next call goes on behind it.
  std::optional<RecordBatch> next();

  struct Next {
    Engine::Status status = Engine::Status::kTimeout;
    std::optional<RecordBatch> batch{};  // with kBatch
  };
  Next next_for(std::chrono::milliseconds timeout);

  // Begins the next epoch. Behind the last batch it goes on with the record that follows those
  // which round_batch borrowed; inside an epoch, what is left of it is passed over, and the next
  // pass begins at its beginning; before the first batch it does nothing.
  void reset();

  const RecordIterOptions& options() const;
  const BatchLayout& layout() const;
  uint64_t records() const;  // of the part
  Stats stats() const;
  void stop();  // a `next` that waits in another thread throws StateError

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::mxnet
