#include "fuelrail/cli/verdict.h"

#include <fmt/format.h>

#include <cmath>

namespace fuelrail::cli {
namespace {

constexpr double kCentralPart = 0.875;   // side of the usual validation crop, relative to the image
constexpr double kMuchLarger = 1.25;     // times the size that crops need
constexpr double kLeastOwnShare = 0.75;  // of the CPU time that busy threads need
constexpr double kLeastGain = 1.05;      // by entry points
constexpr double kMostOfLimit = 1.15;    // that the loader reaches if nothing disturbs both
constexpr double kBusyThread = 0.75;     // share of the time above which a thread counts as busy

std::string after_storage(const Measured& measured) {
  if (measured.remote) {
    return "Storage limits the speed: copy the data to a local disk, or increase the loader's "
           "`prefetch`";
  }
  return std::string(
             "Storage limits the speed: use a faster disk, add memory for the page cache, or ") +
         (measured.crop > 0 ? "pack with --resize for smaller records" : "use smaller records");
}

// The suggestion if the threads use all of their processors.
std::string after_work(const Measured& measured) {
  if (measured.threads < measured.usable_threads) {
    return fmt::format("{} limits the speed: use {} threads, one per processor of this process",
                       measured.crop > 0 ? "Decoding" : "Checking and copying the bytes",
                       measured.usable_threads);
  }
  if (measured.crop == 0) {
    return "Checking and copying the bytes limits the speed: only more processors help";
  }
  const double gain = gain_of_entry_points(measured.limit);
  const std::string index =
      gain >= kLeastGain
          ? fmt::format("run 'fuelrail index {}', with which this limit is {:.2f} times as high",
                        measured.uri, gain)
          : "";
  const auto wanted =
      static_cast<int64_t>(std::lround(static_cast<double>(measured.crop) / kCentralPart));
  if (measured.limit.shorter_side > kMuchLarger * static_cast<double>(wanted)) {
    return fmt::format(
        "Decoding limits the speed: pack with --resize {} (the shorter side is {:.0f}, and crops "
        "are {}){}",
        wanted, measured.limit.shorter_side, measured.crop,
        index.empty() ? "" : "; to keep the images as they are, " + index);
  }
  if (measured.progressive) {
    return "Decoding limits the speed: pack with --baseline, because some JPEGs are progressive" +
           (index.empty() ? "" : "; or " + index);
  }
  if (!index.empty()) return "Decoding limits the speed: " + index;
  return "Decoding limits the speed, and the images are not too large: only more processors help";
}

// Whether the threads have work but get too little processor time for it.
bool shared_processors(const Measured& measured) {
  const LoaderSpeed& loader = measured.loader;
  const double busy = busy_share(loader.stats.process) * measured.threads * loader.seconds;
  return loader.cpu_seconds < kLeastOwnShare * busy;
}

// Whether the reading thread is always busy and does not wait for storage.
bool reading_thread_is_busy(const Measured& measured) {
  const LoaderSpeed& loader = measured.loader;
  const double workers = busy_share(loader.stats.process) * measured.threads * loader.seconds;
  return loader.cpu_seconds - workers >= kBusyThread * loader.seconds;
}

}  // namespace

double gain_of_entry_points(const LimitSpeed& limit) {
  if (limit.records == 0) return 0;
  return limit.with_entry_points.value_or(0) * limit.seconds / static_cast<double>(limit.records);
}

Verdict judge(const Measured& measured) {
  if (measured.loader.stats.limit == "fetch") {
    if (!reading_thread_is_busy(measured)) return {"storage", after_storage(measured)};
    return {"reading",
            "The reading thread, not storage, limits the speed: it is always busy; use fewer and "
            "longer records"};
  }
  const double speed = static_cast<double>(measured.loader.records) / measured.loader.seconds;
  const double most = static_cast<double>(measured.limit.records) / measured.limit.seconds;
  if (speed > kMostOfLimit * most) {
    return {"unknown",
            "The loader was faster than its limit, so the measurements do not agree: stop other "
            "programs, and measure again with more --seconds"};
  }
  if (shared_processors(measured)) {
    return {"processors",
            measured.threads > measured.usable_threads
                ? fmt::format("There are more threads than processors: use {} threads",
                              measured.usable_threads)
                : "Other programs use the processors: stop them and measure again"};
  }
  return {measured.crop > 0 ? "decoding" : "copying", after_work(measured)};
}

}  // namespace fuelrail::cli
