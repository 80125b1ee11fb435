#include "fuelrail/container/scan_progress.h"

#include "fuelrail/base/listener.h"

namespace fuelrail {
namespace {

constexpr uint64_t kProgressRecords = 1024;
constexpr std::chrono::milliseconds kProgressInterval{50};
constexpr uint64_t kClockBytes = 16 * 1024;  // bytes between two reads of the clock

}  // namespace

ScanProgress progress_of(const OpenOptions& options) {
  if (!options.keep_going) return {};
  return [&options](uint64_t, uint64_t) { return options.keep_going(); };
}

ScanReporter::ScanReporter(const Source& source, const ScanProgress& progress)
    : source_(source), progress_(progress) {
  tell(0);
}

void ScanReporter::advance(uint64_t records, uint64_t bytes) {
  if (!progress_) return;
  if (records - told_records_ < kProgressRecords && !interval_is_over(bytes)) return;
  told_records_ = records;
  tell(bytes);
}

void ScanReporter::finish() { tell(source_.size_bytes()); }

bool ScanReporter::interval_is_over(uint64_t bytes) {
  if (bytes - clock_bytes_ < kClockBytes) return false;
  clock_bytes_ = bytes;
  return Clock::now() - told_ >= kProgressInterval;
}

void ScanReporter::tell(uint64_t bytes) {
  if (!progress_) return;
  if (!progress_(bytes, source_.size_bytes())) throw_interrupted(source_.uri());
  clock_bytes_ = bytes;
  told_ = Clock::now();
}

}  // namespace fuelrail
