// What a user says of a loader. What changes results stands apart from what changes only speed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "fuelrail/decode/probe.h"
#include "fuelrail/engine/error_policy.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/sampler/shard.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

enum class Orientation : uint8_t { kApply, kIgnore };

// How many bad records an epoch may have in this rank's share before the run stops: a count, or a
// fraction of that share (of a fed order: of the container's records), rounded down. Default: 1 %,
// but at least 10.
using MaxBad = std::variant<std::monostate, uint64_t, double>;

struct LoaderOptions {
  // Results.
  uint64_t batch_size = 1;  // rows a rank
  Shuffle shuffle = Shuffle::kNone;
  std::shared_ptr<const Weights>
      weights{};         // draw records, with replacement, in place of a shuffle
  uint64_t samples = 0;  // in an epoch, with weights; 0: as many as records
  // Makes the order of `shard` from `start` on, in place of all of the above and `last_batch`,
  // which then mean nothing but to the function itself; `batch_size` is the most rows of a batch,
  // until Loader::reserve says more. Called at each restart; a sampler that waits (feed.h) must be
  // woken then, and before the loader is stopped or destroyed.
  std::function<std::unique_ptr<Sampler>(Progress start, const Shard& shard)> fed{};
  uint64_t seed = 0;
  Shard shard{};
  LastBatch last_batch = LastBatch::kShort;
  Transforms transforms{};        // none for a dataset without images: InvalidArgumentError
  DType dtype = DType::kFloat32;  // of the image column
  ImageLayout layout = ImageLayout::kNchw;
  Orientation orientation = Orientation::kApply;
  // Decode JPEGs at 1/8, 1/4 or 1/2 of their size where the first resampling makes them at least as
  // much smaller: faster, and not the pixels of the full decode.
  bool scaled_decode = false;
  int64_t max_pixels = kDefaultMaxPixels;
  uint64_t max_record_bytes = kDefaultMaxRecordBytes;  // ErrorPolicy::max_record_bytes
  // Of the loader's own (encoded: the encoded bytes of the field image; id, index,
  // position, valid, substituted) and of the dataset's: images, tensors, bytes.
  std::vector<std::string> fields{"image", "label"};
  OnError on_error = OnError::kRaise;
  MaxBad max_bad{};  // with kSkip

  // Speed.
  int threads = 0;      // 0 = default_threads()
  size_t prefetch = 2;  // batches
  int read_threads = 4;
  ReadBackend read_backend = ReadBackend::kAuto;
  // Past the page cache, where the file system permits it, of files that are held open: a folder's
  // are not.
  bool direct_reads = false;
  // EngineOptions::warn; also told once each, by a worker's thread, of the first image that loses
  // bits and of the first that loses alpha.
  std::function<void(const std::string&)> warn{};
};

}  // namespace fuelrail
