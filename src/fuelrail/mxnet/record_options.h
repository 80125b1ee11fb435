// What MXNet's record iterators are told: their parameters under their own names, with their
// defaults, in the five groups of MXNet's note on data loaders.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuelrail/base/option.h"
#include "fuelrail/mxnet/augment_options.h"
#include "fuelrail/mxnet/det_options.h"
#include "fuelrail/mxnet/mx_shape.h"
#include "fuelrail/mxnet/output.h"

namespace fuelrail::mxnet {

// What ImageDetRecordIter has besides, in place of `label_width` and `augment`.
struct DetectionOptions {
  DetOptions augment{};
  // How many numbers of a row of `path_imglist` count, and what every packed label has; -1: any.
  int64_t label_width = -1;
  int64_t label_pad_width = 0;  // what a label is filled up to; 0, -1: what the longest one needs
  float label_pad_value = -1;
};

struct RecordIterOptions {
  // Dataset.
  std::string path_imgrec{};   // files divided by ';', directories, patterns (split/input_split.h)
  std::string path_imgidx{};   // of all files as one; with it parts are of equally many records
  std::string path_imglist{};  // its labels, by id, take the place of those in the records
  int64_t label_width = 1;     // labels of an image: as many as it has, exactly
  MxShape data_shape{};        // required
  int64_t num_parts = 1;
  int64_t part_index = 0;
  bool shuffle = false;            // with an index all records of the part, else those of a chunk
  int64_t shuffle_chunk_size = 0;  // MiB; 0: off
  int64_t shuffle_chunk_seed = 0;
  int64_t seed = 0;  // of the shuffle, and of the engine's own random numbers

  // Batch.
  int64_t batch_size = 0;  // required
  bool round_batch = true;

  // Augmentation.
  AugmentOptions augment{};
  std::optional<DetectionOptions> detection{};
  OutputOptions output{};  // its `detection` is whether there is the one above
  std::string mean_img{};  // becomes output.mean_image; made over the part where it is missing
  // With it, every sample's random numbers are MXNet's own of this seed, and come again in every
  // batch or chunk; without, the engine's: a function of (seed, epoch, position).
  std::optional<int32_t> seed_aug{};

  // Backend. Neither changes results.
  int64_t preprocess_threads = 4;  // at most; no more than the process has processors
  int64_t prefetch_buffer = 4;     // batches made ahead

  // The parameters of the plain iterator, or of detection's.
  static const OptionTable<RecordIterOptions>& table(bool detection);
};

}  // namespace fuelrail::mxnet
