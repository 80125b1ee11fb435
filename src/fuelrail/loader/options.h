// What a user says of a loader. What changes results stands apart from what changes only speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/decode/probe.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/sampler/shard.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

enum class Orientation : uint8_t { kApply, kIgnore };

struct LoaderOptions {
  // Results.
  uint64_t batch_size = 1;  // rows a rank
  Shuffle shuffle = Shuffle::kNone;
  uint64_t seed = 0;
  Shard shard{};
  LastBatch last_batch = LastBatch::kShort;
  Transforms transforms{};
  DType dtype = DType::kFloat32;  // of the image column
  ImageLayout layout = ImageLayout::kNchw;
  Orientation orientation = Orientation::kApply;
  // Decode JPEGs at 1/8, 1/4 or 1/2 of their size where the first resampling makes them at least as
  // much smaller: faster, and not the pixels of the full decode.
  bool scaled_decode = false;
  int64_t max_pixels = kDefaultMaxPixels;
  std::vector<std::string> fields{"image", "label"};  // of image, label, id, position, valid

  // Speed.
  int threads = 0;      // 0 = default_threads()
  size_t prefetch = 2;  // batches
  int read_threads = 4;
};

}  // namespace fuelrail
