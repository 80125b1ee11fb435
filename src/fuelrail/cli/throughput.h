// The measurements of `fuelrail bench`: the loader on a dataset, and the limit to compare it with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "fuelrail/container/container.h"
#include "fuelrail/loader/loader.h"

namespace fuelrail::cli {

// The options of a loader of images.
struct LoaderJob {
  LoaderOptions loading{};
  ImageOptions images{};
};

// When a measurement ends. Default: after 5 seconds.
struct Duration {
  double seconds = 5;
  std::optional<uint64_t> epochs{};  // instead of `seconds`
};

// Called about ten times a second with the progress. If it throws, the measurement ends.
using Watch = std::function<void(uint64_t records, double seconds)>;

struct LoaderSpeed {
  uint64_t records = 0;
  uint64_t batches = 0;
  double seconds = 0;
  double first_batch_seconds = 0;  // from construction to the first batch; not in `seconds`
  double cpu_seconds = 0;          // CPU time of the whole process during `seconds`
  Stats stats{};                   // of `seconds` only
  uint64_t bad_records = 0;        // skipped; each counted once
};

// Takes batches from a loader, and releases each at once. The clock starts after the first batch,
// so that the same number of batches is prefetched when it starts and when it stops. `epochs`: the
// measurement ends after as many batches as this number of epochs has. Errors: the loader's.
LoaderSpeed measure_loader(std::shared_ptr<const Container> container, const LoaderJob& job,
                           const Duration& duration, const Watch& watch);

struct LimitSpeed {
  uint64_t records = 0;
  double seconds = 0;
  uint64_t held = 0;        // records in memory, used repeatedly
  uint64_t unusable = 0;    // records that were tried but are unreadable or damaged
  double mean_bytes = 0;    // of the held records
  double shorter_side = 0;  // median of the images; 0 if the records are not images
  // Records per second if their images had entry points; empty if this was not measured.
  std::optional<double> with_entry_points{};
};

// Measures the speed of job.loading.engine.threads threads that do only the workers' part
// (checking, decoding, transforms) on records held in memory and spread evenly over the dataset,
// without storage, order, queue or batch memory. `may_index`: then measures for as long again with
// the entry points that 'fuelrail index' would make, which are in memory. Requires:
// job.loading.engine.threads is set; may_index only if records have exactly one image.
// Errors: the error of the first record if no record can be used; IoError if a thread cannot start.
LimitSpeed measure_limit(const std::shared_ptr<const Container>& container, const LoaderJob& job,
                         double seconds, bool may_index, const Watch& watch);

}  // namespace fuelrail::cli
