// Checks and the job loop that all decoders share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "fuelrail/base/endian.h"
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

inline std::string layout_text(ValueLayout layout) {
  return std::string(name_of(layout.dtype)) + ", " + std::to_string(layout.channels) + " channels";
}

// Errors: UnsupportedError, InvalidArgumentError.
inline void require_values(const DecodeJob& job) {
  const RawView& values = job.values;
  const ValueLayout layout = value_layout(job.info, job.encoding);
  if (job.eighths != 8) throw InvalidArgumentError("values are decoded at full size only");
  const ValueLayout given{values.dtype, values.channels};
  if (given != layout) {
    throw InvalidArgumentError("the array for the image's values has the wrong type",
                               {.expected = layout_text(layout), .found = layout_text(given)});
  }
  if (values.size() == job.box.size()) return;
  throw InvalidArgumentError(
      "the array for the image's values and the region to decode differ in size",
      {.expected = height_x_width(job.box.size()), .found = height_x_width(values.size())});
}

// `found`: the stored values according to the image's own header; empty if there are none. Errors:
// InvalidArgumentError if the caller's `info` has led to other values.
inline void require_stored_values(const DecodeJob& job, std::optional<ValueLayout> found) {
  const ValueLayout given{job.values.dtype, job.values.channels};
  if (given == found) return;
  throw InvalidArgumentError(
      "the image does not have the values in the job's `info`",
      {.expected = layout_text(given), .found = found ? layout_text(*found) : "colours"});
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
  if (job.values.data != nullptr) return require_values(job);
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

// Copies what a job says about its decoding to the job that it was made for.
inline void take_outcome(const DecodeJob& from, DecodeJob& to) {
  to.tolerated = from.tolerated;
  to.way = from.way;
}

// Decodes the RGB pixels of a job for kRgb, and combines them to numbers. Each row's pixels are
// first written to the end of its values, three quarters of its memory; a number never overwrites
// a pixel that is still to be read.
template <typename DecodeOne>
void decode_rgb_values(DecodeJob& job, DecodeOne decode_one) {
  DecodeJob colours = job;
  colours.values = {};
  colours.margin = 0;
  colours.output = job.values.bytes_image();
  colours.output.channels = 3;
  colours.output.data += job.box.width;
  decode_one(colours);
  take_outcome(colours, job);
  for (int64_t y = 0; y < job.box.height; ++y) {
    const uint8_t* from = colours.output.row(y);
    std::byte* to = job.values.row(y);
    for (int64_t x = 0; x < job.box.width; ++x, from += 3, to += sizeof(int32_t)) {
      store_le<int32_t>(to, from[0] | from[1] << 8 | from[2] << 16);
    }
  }
}

// Calls decode_one(job) for each job, and stores exceptions in the job. It is called with jobs for
// pixels or planes and, if the format has them (ImageInfo::values), for stored values.
template <typename DecodeOne>
void decode_each(std::span<DecodeJob> jobs, DecodeOne decode_one) {
  for (DecodeJob& job : jobs) {
    job.error = nullptr;
    job.tolerated = 0;
    job.way = DecodeWay::kOther;
    try {
      require_valid(job);
      if (job.values.data != nullptr && job.encoding == ValueEncoding::kRgb) {
        decode_rgb_values(job, decode_one);
      } else {
        decode_one(job);
      }
    } catch (...) {
      job.error = std::current_exception();
    }
  }
}

}  // namespace fuelrail
