// What holds a loader back, and the one thing to do about it: from what `fuelrail bench` measured.
#pragma once

#include <cstdint>
#include <string>

#include "fuelrail/cli/throughput.h"

namespace fuelrail::cli {

struct Measured {
  std::string uri;
  int64_t crop = 0;  // pixels a side; 0 where the records are no images
  int threads = 0;
  int usable_threads = 0;  // default_threads()
  bool remote = false;     // a file system whose reads wait for a server
  LoaderSpeed loader{};
  LimitSpeed limit{};
};

struct Verdict {
  std::string bottleneck;  // "storage", "reading" (storage is not what takes the time), "decoding"
                           // (of bytes: "copying") or "processors" (other programs used them)
  std::string suggestion;  // one sentence
};

// A pure function. Requires: both measurements have records.
Verdict judge(const Measured& measured);

}  // namespace fuelrail::cli
