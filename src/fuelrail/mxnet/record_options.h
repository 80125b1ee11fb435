// What MXNet's record iterators are told: their parameters under their own names, with their
// defaults, in the groups of MXNet's note on data loaders. What each means: its row of the table.
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
  int64_t label_width = -1;
  int64_t label_pad_width = 0;
  float label_pad_value = -1;
};

struct RecordIterOptions {
  // Dataset.
  std::string path_imgrec{};  // required
  std::string path_imgidx{};
  std::string path_imglist{};
  int64_t label_width = 1;
  MxShape data_shape{};  // required
  int64_t num_parts = 1;
  int64_t part_index = 0;
  bool shuffle = false;
  int64_t shuffle_chunk_size = 0;
  int64_t shuffle_chunk_seed = 0;
  int64_t seed = 0;

  // Batch.
  int64_t batch_size = 0;  // required
  bool round_batch = true;

  // Augmentation.
  AugmentOptions augment{};
  std::optional<DetectionOptions> detection{};
  OutputOptions output{};  // its `detection` is whether there is the one above
  std::string mean_img{};  // becomes output.mean_image
  std::optional<int32_t> seed_aug{};

  // Backend. Neither changes results.
  int64_t preprocess_threads = 4;
  int64_t prefetch_buffer = 4;

  // The parameters of the plain iterator, or of detection's.
  static const OptionTable<RecordIterOptions>& table(bool detection);
};

}  // namespace fuelrail::mxnet
