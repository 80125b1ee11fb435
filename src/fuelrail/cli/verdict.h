// Names a loader's bottleneck and one remedy, from the measurements of `fuelrail bench`.
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/cli/throughput.h"

namespace fuelrail::cli {

struct Measured {
  std::string uri;
  int64_t crop = 0;  // side in pixels; 0 if the records are not images
  int threads = 0;
  int usable_threads = 0;  // default_threads()
  bool remote = false;     // a file system whose reads wait for a server
  LoaderSpeed loader{};
  LimitSpeed limit{};
};

struct Verdict {
  std::string bottleneck;  // "storage", "reading" (the reading thread, not storage), "decoding"
                           // (for bytes "copying") or "processors" (too few, or used by others)
  std::string suggestion;  // one sentence
};

// A pure function. Requires: both measurements have records.
Verdict judge(const Measured& measured);

}  // namespace fuelrail::cli
