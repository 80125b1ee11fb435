// What every decoder does with the jobs that it is given.
#pragma once

#include <exception>
#include <span>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Errors: InvalidArgumentError for a job that breaks a promise of its caller's.
inline void require_valid(const DecodeJob& job) {
  const bool scales = job.eighths == 1 || job.eighths == 2 || job.eighths == 4;
  if (job.eighths != 8 && !(scales && job.info.format == &kJpegFormat)) {
    throw InvalidArgumentError("there is no decoding of this format at this scale");
  }
  if (job.box.height <= 0 || job.box.width <= 0 ||
      !job.box.inside(at_eighths(job.info.stored, job.eighths))) {
    throw InvalidArgumentError("the box to decode is empty or not inside the image");
  }
  if (job.output.size() != job.box.size()) {
    throw InvalidArgumentError("the output does not have the size of the box");
  }
  const int64_t channels = job.output.channels;
  if (channels != 1 && channels != 3 && channels != 4) {
    throw InvalidArgumentError("an image is decoded to 1, 3 or 4 channels",
                               {.found = std::to_string(channels)});
  }
}

// Errors: StateError once the pixels are not wanted any more.
inline void go_on(const DecodeJob& job) {
  if (job.stop.stop_requested())
    throw StateError("the decoding was stopped", {.remedy = "Decode the image anew"});
}

// Calls decode_one(job) for each, and keeps what it throws in the job.
template <typename DecodeOne>
void decode_each(std::span<DecodeJob> jobs, DecodeOne decode_one) {
  for (DecodeJob& job : jobs) {
    job.error = nullptr;
    job.tolerated = 0;
    try {
      require_valid(job);
      decode_one(job);
    } catch (...) {
      job.error = std::current_exception();
    }
  }
}

}  // namespace fuelrail
