// Decodes a box of an upright image, to pixels or values, without those outside the box.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/base/raw_view.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/decode/values.h"
#include "fuelrail/engine/worker_counts.h"
#include "fuelrail/transform/pixel_buffer.h"

namespace fuelrail {

struct UprightJob {
  EncodedImage encoded;
  ImageInfo info;  // of `encoded`; with orientation 1, pixels stay as they are stored
  Box box;         // in the upright image at `eighths`; inside the image, not empty
  int64_t channels = PixelBuffer::kChannels;  // 1, 3 or 4
  int eighths = 8;         // as in DecodeJob. Requires: 8, unless info.orientation is 1
  std::stop_token stop{};  // as in DecodeJob
};

// Keeps its working memory between images. Threads: one at a time.
class UprightDecoder {
 public:
  // Returns: the pixels of job.box, followed by PixelBuffer's readable bytes. Lifetime: until the
  // next call, and not longer than job.encoded. Adds to `counts` (image_counts.h).
  // Errors: thrown, as in DecodeJob::error.
  ConstImageView decode(const UprightJob& job, WorkerCounts& counts);

  // Returns: the values of job.box, in the layout of value_layout. job.channels is not used.
  // Requires: job.eighths is 8. Otherwise as `decode`.
  ConstRawView decode_values(const UprightJob& job, ValueEncoding encoding, WorkerCounts& counts);

 private:
  void decode_stored(DecodeJob& stored, WorkerCounts& counts);

  const std::unique_ptr<Decoder> decoder_ = make_decoder();
  PixelBuffer stored_;
  PixelBuffer upright_;
};

}  // namespace fuelrail
