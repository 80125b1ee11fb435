// Says what images lose when they become 8-bit RGB.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "fuelrail/container/container.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {

// One a loader, shared by its workers. Threads: any.
class LossWarnings {
 public:
  // `warn` may be empty: nobody is told then.
  explicit LossWarnings(std::function<void(const std::string&)> warn) : warn_(std::move(warn)) {}

  // Tells of one image with more than 8 bits a channel, and of one that may have alpha.
  void look_at(const ImageInfo& info, const Container& container, uint64_t record) {
    if (info.bits > 8 && !told_of_bits_.exchange(true, std::memory_order_relaxed)) {
      tell_of_bits(info.bits, container.place(record));
    }
    if (info.alpha && !told_of_alpha_.exchange(true, std::memory_order_relaxed)) {
      tell_of_alpha(container.place(record));
    }
  }

 private:
  void tell_of_bits(int bits, const Place& place) const;
  void tell_of_alpha(const Place& place) const;

  const std::function<void(const std::string&)> warn_;
  std::atomic<bool> told_of_bits_ = false;
  std::atomic<bool> told_of_alpha_ = false;
};

}  // namespace fuelrail
