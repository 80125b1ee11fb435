// What both programs of this folder measure with: CPU time, medians, and the loader.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "fuelrail/container/container.h"
#include "fuelrail/engine/engine.h"
#include "fuelrail/loader/sample_worker.h"
#include "fuelrail/sampler/epoch_sampler.h"

namespace fuelrail {

// The CPU time of this process so far, in seconds.
inline double cpu_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Random-resized-crop 224, flip, normalise, batches of 256, in a full shuffle.
inline std::unique_ptr<Engine> make_loader(const std::shared_ptr<const Container>& container,
                                           const ReadOptions& read) {
  constexpr uint64_t kBatch = 256;
  const ImageOptions images{
      .transforms = {RandomResizedCrop{.size = {224, 224}}, HorizontalFlip{.p = 0.5},
                     Normalize{{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}}}};
  const EpochSamplerOptions order{
      .records = container->size(),
      .order = {.seed = 1, .shuffle = Shuffle::kFull, .batch_size = kBatch}};
  const auto work = sample_work(container, images);
  return std::make_unique<Engine>(container, std::make_unique<EpochSampler>(order),
                                  std::make_shared<BatchLayout>(work.columns, kBatch),
                                  work.make_worker, EngineOptions{.read = read});
}

}  // namespace fuelrail
