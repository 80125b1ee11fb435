// Warns of what images lose in the conversion to 8-bit RGB, and of entry points that are wrong.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/container.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {

// One object for each loader, shared by its workers. Threads: any.
class LossWarnings {
 public:
  // If `warn` is empty, no warning is given. Lifetime: the container must outlive the object.
  LossWarnings(const Container& container, Warn warn);

  // Warns of the first image with more than 8 bits per channel and of the first that may have
  // alpha. `field`: in the container's schema.
  void look_at(const ImageInfo& info, size_t field, uint64_t record) {
    if (info.bits > 8 || info.alpha) look_closer(info, field, record);
  }

  // Warns of the first image whose entry points were not used because they are damaged or not its
  // own.
  void tell_of_refused_hints(uint64_t record);

 private:
  void look_closer(const ImageInfo& info, size_t field, uint64_t record);
  void warn(size_t field, uint64_t record, const std::string& loss);

  const Container& container_;
  const Warn warn_;
  std::atomic<bool> told_of_bits_ = false;
  std::atomic<bool> told_of_alpha_ = false;
  std::atomic<bool> told_of_hints_ = false;
};

}  // namespace fuelrail
