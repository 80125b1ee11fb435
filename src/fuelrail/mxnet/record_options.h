// The parameters of MXNet's record iterators, with MXNet's names and defaults, grouped as in
// MXNet's note on data loaders. The tables describe them.
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

// The parameters that ImageDetRecordIter has instead of `label_width` and `augment`.
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
  OutputOptions output{};  // the iterator sets output.detection to detection.has_value()
  std::string mean_img{};  // the iterator loads this file into output.mean_image
  std::optional<int32_t> seed_aug{};

  // Backend. These do not change results.
  int64_t preprocess_threads = 4;
  int64_t prefetch_buffer = 4;

  // The parameters of ImageDetRecordIter if `detection` is true, otherwise those of
  // ImageRecordIter.
  static const OptionTable<RecordIterOptions>& table(bool detection);
};

}  // namespace fuelrail::mxnet
