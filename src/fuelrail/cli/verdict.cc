#include "fuelrail/cli/verdict.h"

#include <fmt/format.h>

#include <cmath>

namespace fuelrail::cli {
namespace {

constexpr double kCentralPart = 0.875;   // of the image: the usual validation crop
constexpr double kMuchLarger = 1.25;     // than what crops want
constexpr double kLeastOwnShare = 0.75;  // of the processors that busy threads should have
constexpr double kBusyThread = 0.75;     // of the time, by which a thread does nothing else

std::string after_storage(const Measured& measured) {
  if (measured.remote) {
    return "Storage limits: copy the data to a local disk, or give the loader more prefetch";
  }
  return std::string("Storage limits: use a faster disk, more memory for the page cache, or ") +
         (measured.crop > 0 ? "pack with --resize for smaller records" : "smaller records");
}

// Of threads that use all that the processors give.
std::string after_work(const Measured& measured) {
  if (measured.threads < measured.usable_threads) {
    return fmt::format("{} limits: use {} threads, as many as this process has processors",
                       measured.crop > 0 ? "Decoding" : "Checking and copying the bytes",
                       measured.usable_threads);
  }
  if (measured.crop == 0) {
    return "Checking and copying the bytes limits: only more processors make it faster";
  }
  const auto wanted =
      static_cast<int64_t>(std::lround(static_cast<double>(measured.crop) / kCentralPart));
  if (measured.limit.shorter_side > kMuchLarger * static_cast<double>(wanted)) {
    return fmt::format(
        "Decoding limits: pack with --resize {} (the shorter side is {:.0f} now, and crops are {})",
        wanted, measured.limit.shorter_side, measured.crop);
  }
  return "Decoding limits, on images of a good size: only more processors make it faster";
}

// Threads that are busy, and do not get the processors for it.
bool shared_processors(const Measured& measured) {
  const LoaderSpeed& loader = measured.loader;
  const double busy = busy_share(loader.stats.process) * measured.threads * loader.seconds;
  return loader.cpu_seconds < kLeastOwnShare * busy;
}

// The thread that reads has all that it can do, and waits for no storage.
bool reading_thread_is_busy(const Measured& measured) {
  const LoaderSpeed& loader = measured.loader;
  const double workers = busy_share(loader.stats.process) * measured.threads * loader.seconds;
  return loader.cpu_seconds - workers >= kBusyThread * loader.seconds;
}

}  // namespace

Verdict judge(const Measured& measured) {
  if (measured.loader.stats.limit == "fetch") {
    if (!reading_thread_is_busy(measured)) return {"storage", after_storage(measured)};
    return {
        "reading",
        "Reading limits, and not storage: one thread reads, and is busy all the time; fewer and "
        "longer records make it faster"};
  }
  if (shared_processors(measured)) {
    return {
        "processors",
        measured.threads > measured.usable_threads
            ? fmt::format("There are more threads than processors: use {}", measured.usable_threads)
            : "Other programs use the processors: measure again when they have ended"};
  }
  return {measured.crop > 0 ? "decoding" : "copying", after_work(measured)};
}

}  // namespace fuelrail::cli
