// Boxes of images as they are meant to be seen: decodes and turns upright what is asked for, and no
// more.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/transform/pixel_buffer.h"

namespace fuelrail {

struct UprightJob {
  EncodedImage encoded;
  ImageInfo info;  // of `encoded`; an orientation of 1 leaves the pixels as they are stored
  Box box;         // of the image turned upright, at its eighths; inside it, not empty
  int64_t channels = PixelBuffer::kChannels;  // 1, 3 or 4
  int eighths = 8;         // as DecodeJob's. Requires: 8, unless info.orientation is 1
  std::stop_token stop{};  // as DecodeJob's
};

// Keeps its memory between images. Threads: one.
class UprightDecoder {
 public:
  // Returns: the pixels of job.box, with PixelBuffer's readable bytes behind. Lifetime: until the
  // next call. Adds to `tolerated` what was passed over. Errors: DecodeJob's, thrown.
  ConstImageView decode(const UprightJob& job, uint32_t& tolerated);

 private:
  const std::unique_ptr<Decoder> decoder_ = make_decoder();
  PixelBuffer stored_;
  PixelBuffer upright_;
};

}  // namespace fuelrail
