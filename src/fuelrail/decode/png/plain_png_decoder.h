// Decodes PNGs that are not interlaced and have nothing odd, at once: libdeflate inflates the whole
// image into memory that is kept, and vector code undoes the filters.
#pragma once

#include <memory>

#include "fuelrail/base/scratch.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/png/plain_png.h"

struct libdeflate_decompressor;

namespace fuelrail::png {

// Threads: one. Keep it from image to image, for its memory; blocks above Scratch::kKeptBytes are
// freed after each image.
class PlainPngDecoder {
 public:
  PlainPngDecoder();
  PlainPngDecoder& operator=(PlainPngDecoder&&) = delete;

  // Decodes the job's pixels or stored values: those that libspng decodes. Returns: false, with
  // undefined content of the output, if libspng must decode the image from the start. `way` is then
  // kSuspect if something in the image, also below the box, is not what encoders write. Otherwise
  // it is kLibspng: the image is of another kind or above 128 MiB, the output does not fit it, or
  // there is no memory. Requires: a PNG, and a job for pixels or stored values that require_valid
  // (decode/job.h) accepts. Errors: StateError if the job was cancelled, which is not checked while
  // the image is inflated.
  [[nodiscard]] bool decode(DecodeJob& job);

  // The memory for pixels and data that is kept for the next image.
  size_t kept_bytes() const { return joined_.capacity() + inflated_.capacity() + rows_.capacity(); }

 private:
  uint64_t inflated_bytes() const;
  bool inflate();
  bool has_known_filters() const;
  void write_rows(const DecodeJob& job, uint8_t* scratch_rows) const;
  int64_t first_row(int64_t top) const;
  uint8_t filter_of(int64_t y) const { return filtered_[y * (png_.row_bytes + 1)]; }
  int64_t scratch_row_bytes() const;

  PlainPng png_;
  std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflater_;
  Scratch joined_;    // the data of several IDAT chunks
  Scratch inflated_;  // all rows, each behind the byte of its filter
  Scratch rows_;      // kScratchRows unfiltered ones
  const uint8_t* filtered_ = nullptr;
};

}  // namespace fuelrail::png
