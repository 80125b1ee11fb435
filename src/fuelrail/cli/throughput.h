// What `fuelrail bench` measures: the loader on a dataset, and the limit that it is held against.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "fuelrail/container/container.h"
#include "fuelrail/loader/loader.h"

namespace fuelrail::cli {

// What a loader of images is told.
struct LoaderJob {
  LoaderOptions loading{};
  ImageOptions images{};
};

// When a measurement ends. Default: after 5 seconds.
struct Duration {
  double seconds = 5;
  std::optional<uint64_t> epochs{};  // in place of the seconds
};

// Called about ten times a second with what is done so far; it may throw, which ends the
// measurement.
using Watch = std::function<void(uint64_t records, double seconds)>;

struct LoaderSpeed {
  uint64_t records = 0;
  uint64_t batches = 0;
  double seconds = 0;
  double first_batch_seconds = 0;  // from making the loader to its first batch, not counted above
  double cpu_seconds = 0;          // of the whole process, in `seconds`
  Stats stats{};                   // of that time alone
  uint64_t bad_records = 0;        // passed over, each counted once
};

// Takes batches and lets them go at once. The clock starts when the first batch is there, so that
// as many batches are made ahead at its beginning as at its end; `epochs` are so many times the
// batches of one. Errors: the loader's.
LoaderSpeed measure_loader(std::shared_ptr<const Container> container, const LoaderJob& job,
                           const Duration& duration, const Watch& watch);

struct LimitSpeed {
  uint64_t records = 0;
  double seconds = 0;
  uint64_t held = 0;        // records in memory, used again and again
  uint64_t unusable = 0;    // of those looked at: unreadable or damaged
  double mean_bytes = 0;    // of those held
  double shorter_side = 0;  // the median of their images'; 0 where they are none
};

// The same threads doing nothing but the workers' part (checking, decoding, transforms), on records
// that lie evenly over the dataset and are held in memory: no storage, order, queue or batch
// memory. Requires: job.loading.engine.threads is given. Errors: that of the first record, when
// none can be used; IoError when no thread starts.
LimitSpeed measure_limit(const std::shared_ptr<const Container>& container, const LoaderJob& job,
                         double seconds, const Watch& watch);

}  // namespace fuelrail::cli
