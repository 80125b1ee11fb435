// The counts of workers that decode images: by which way images were decoded, and how often hints
// (EncodedImage::hints) were not used because they are not of the image.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <tuple>

#include "fuelrail/decode/decoder.h"
#include "fuelrail/engine/stats.h"
#include "fuelrail/engine/worker_counts.h"

namespace fuelrail {

// The names of DecodeWay in Python, and their places in WorkerCounts::others.
inline constexpr std::array<std::string_view, kDecodeWays> kDecodeWayNames{
    "other", "indexed", "restart_markers", "guessed", "libjpeg", "suspect", "png", "libspng"};
inline constexpr size_t kHintsRefused = kDecodeWays;
static_assert(kHintsRefused < std::tuple_size_v<decltype(WorkerCounts::others)>);

inline void count_image(const DecodeJob& job, WorkerCounts& counts) {
  counts.tolerated += job.tolerated;
  if (job.error) return;
  ++counts.others[static_cast<size_t>(job.way)];
  // Other ways never use hints, or do not show whether they are wrong (kSuspect).
  const bool tried = job.way == DecodeWay::kRestarts || job.way == DecodeWay::kGuessed;
  if (tried && !job.encoded.hints.empty()) ++counts.others[kHintsRefused];
}

// The table of `stats`, with a line of the images by way if there are any:
// "images: 12 indexed, 3 guessed (1 with entry points that do not fit)".
inline std::string table_with_images(const Stats& stats) {
  std::string images;
  const auto add = [&images](uint64_t count, std::string_view way) {
    if (count == 0) return;
    images += images.empty() ? "\nimages: " : ", ";
    images += std::to_string(count) + " " + std::string(way);
  };
  for (size_t i = 1; i < kDecodeWays; ++i) add(stats.counts.others[i], kDecodeWayNames[i]);
  add(stats.counts.others[0], kDecodeWayNames[0]);
  if (const uint64_t refused = stats.counts.others[kHintsRefused]; refused > 0) {
    images += " (" + std::to_string(refused) + " with entry points that do not fit)";
  }
  return to_table(stats) + images;
}

}  // namespace fuelrail
