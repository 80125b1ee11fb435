// MXNet's ImageRecordIter and ImageDetRecordIter on fuelrail's engine: they read RecordIO files of
// images and return batches.
//
//   ImageRecordIter iterator({.path_imgrec = "train.rec", .data_shape = {3, 224, 224},
//                             .batch_size = 256, .augment = {.rand_crop = true}});
//   for (int epoch = 0; epoch < 90; ++epoch, iterator.reset())
//     while (auto batch = iterator.next()) train(*batch);
//
// Differences from MXNet: `index` has the records' ids; `pad` is correct even with
// round_batch=false; the effect of `reset` does not depend on how far the iterator has read ahead;
// an error names the file, record and offset, and the iterator continues after the error.
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

// A batch and its padding.
struct RecordBatch {
  // Columns: data [batch, channels, height, width] of output.dtype; label float32 [batch] if
  // label_width is 1, otherwise [batch, label_width], or for detection [batch, length of a label
  // row]; index uint64 [batch], the records' ids; valid bool [batch].
  Batch batch;
  size_t pad = 0;  // number of rows at the end that are not part of the epoch
};

// Threads: `stats` and `stop` may be called from any thread at any time; all else from one thread
// at a time. Fork: as for Engine.
class ImageRecordIter {
 public:
  // Opens the files (and scans those without a sidecar), reads the index and the list, and creates
  // the mean image if it does not exist. Threads start at the first batch. `open` has the callbacks
  // for warnings and interruption. Errors: InvalidArgumentError that names the parameter; those of
  // RecordFiles, check_index, LabelList::read and read_mean_image; for detection, those of
  // RecordFiles::most_labels.
  explicit ImageRecordIter(RecordIterOptions options, const OpenOptions& open = {});
  ~ImageRecordIter();
  ImageRecordIter& operator=(ImageRecordIter&&) = delete;

  // The next batch, which is always full; nullopt at the end of the epoch, until `reset` is called.
  // Errors: those of Engine::next. An error takes the place of one batch; the next call returns the
  // following batch.
  std::optional<RecordBatch> next();

  struct Next {
    Engine::Status status = Engine::Status::kTimeout;
    std::optional<RecordBatch> batch{};  // set if status is kBatch
  };
  // As `next`, but waits at most `timeout`; if no batch is ready by then, `status` is kTimeout.
  Next next_for(std::chrono::milliseconds timeout);

  // Begins the next epoch. After an epoch's last batch, the next epoch begins after the records
  // that filled this batch (round_batch). Inside an epoch, the rest of the epoch is skipped, and
  // the next epoch begins with the first record of its pass. Before the first batch, `reset` does
  // nothing.
  void reset();

  const RecordIterOptions& options() const;
  const BatchLayout& layout() const;
  uint64_t records() const;  // number of records in the part
  Stats stats() const;
  void stop();  // makes a `next` that waits in another thread throw StateError

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::mxnet
