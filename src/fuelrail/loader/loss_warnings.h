// Says what images lose when they become 8-bit RGB.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/container.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {

// One a loader, shared by its workers. Threads: any.
class LossWarnings {
 public:
  // `warn` may be empty: no warning is given then.
  explicit LossWarnings(Warn warn) : warn_(std::move(warn)) {}

  // Warns of one image with more than 8 bits a channel, and of one that may have alpha.
  void look_at(const ImageInfo& info, const Container& container, uint64_t record);

 private:
  const Warn warn_;
  std::atomic<bool> told_of_bits_ = false;
  std::atomic<bool> told_of_alpha_ = false;
};

}  // namespace fuelrail
