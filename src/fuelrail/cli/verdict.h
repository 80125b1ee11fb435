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
  int usable_threads = 0;    // default_threads()
  bool remote = false;       // reads wait for a server
  bool progressive = false;  // some images are progressive JPEGs that can be re-coded
  LoaderSpeed loader{};
  LimitSpeed limit{};
};

struct Verdict {
  std::string bottleneck;  // "storage", "reading" (the reading thread, not storage), "decoding"
                           // ("copying" if there are no images), "processors" (too few, or in
                           // use by other programs) or "unknown" (the measurements do not agree)
  std::string suggestion;  // one sentence
};

// The limit with the entry points that 'fuelrail index' would make, relative to that without; 0 if
// it makes none.
double gain_of_entry_points(const LimitSpeed& limit);

// Requires: both measurements have records.
Verdict judge(const Measured& measured);

}  // namespace fuelrail::cli
