// Checks and the job loop that all decoders share.
#pragma once

#include <exception>
#include <span>
#include <string>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/formats.h"

namespace fuelrail {

// The size of the coded picture, of which `info.stored` may be a part.
inline Size coded_size(const DecodeJob& job) {
  return job.encoded.has_coded_size() ? job.encoded.codec->coded : job.info.stored;
}

inline std::string height_x_width(Size size) {
  return std::to_string(size.height) + " x " + std::to_string(size.width) + " (height x width)";
}

// `found`: the size in the image's own header. Errors, if the job expects a different size:
// DecodeError if the container declares it, InvalidArgumentError if it comes from the caller's
// `info`.
inline void require_size(const DecodeJob& job, Size found) {
  const Size expected = coded_size(job);
  if (found == expected) return;
  ErrorDetail detail{.expected = height_x_width(expected), .found = height_x_width(found)};
  if (job.encoded.codec == nullptr) {
    throw InvalidArgumentError("the image does not have the size in the job's `info`",
                               std::move(detail));
  }
  throw DecodeError("the image does not have the size that the dataset declares",
                    std::move(detail));
}

// Errors: UnsupportedError.
inline void require_planes(const DecodeJob& job) {
  const Decoding* const decoding = decoding_of(job.info.format);
  if (decoding != nullptr && decoding->has_planes) return;
  throw UnsupportedError("the image is not stored as planes of luma and chroma",
                         {.expected = "H.265 or H.264",
                          .found = std::string(job.info.format->title),
                          .remedy = "Load it with fuelrail.Loader"});
}

// Errors: DecodeError for an image whose format differs from the one that its container declares;
// InvalidArgumentError for a job that breaks the rules of DecodeJob.
inline void require_valid(const DecodeJob& job) {
  require_described_format(job.encoded);
  const bool scales = job.eighths == 1 || job.eighths == 2 || job.eighths == 4;
  if (job.eighths != 8 && !(scales && job.info.format == &kJpegFormat)) {
    throw InvalidArgumentError("the decoding scale is invalid for the image format",
                               {.expected = "8/8 or, for a JPEG, 1/8, 2/8 or 4/8",
                                .found = std::to_string(job.eighths) + "/8"});
  }
  if (job.box.height <= 0 || job.box.width <= 0 ||
      !job.box.inside(at_eighths(job.info.stored, job.eighths))) {
    throw InvalidArgumentError("the region to decode is empty or extends beyond the image");
  }
  if (job.take_planes) return require_planes(job);
  if (job.output.size() != job.box.size()) {
    throw InvalidArgumentError(
        "the output buffer and the region to decode differ in size",
        {.expected = height_x_width(job.box.size()), .found = height_x_width(job.output.size())});
  }
  const int64_t channels = job.output.channels;
  if (channels != 1 && channels != 3 && channels != 4) {
    throw InvalidArgumentError("the output does not have 1, 3 or 4 channels",
                               {.found = std::to_string(channels)});
  }
}

// Errors: StateError if the job has been cancelled.
inline void go_on(const DecodeJob& job) {
  if (job.stop.stop_requested())
    throw StateError("the decoding was cancelled", {.remedy = "Decode the image again"});
}

// Calls decode_one(job) for each job, and stores exceptions in the job.
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
