// Decodes the whole images of samples, to find damage.
#pragma once

#include <memory>

#include "fuelrail/base/scratch.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail::pack {

// How the numbers of a mask or map are stored.
ValueEncoding value_encoding_of(const FieldSpec& field);

// Threads: one. Keep it from image to image, for its memory.
class WholeDecoder {
 public:
  WholeDecoder() : decoder_(make_decoder()) {}

  // Decodes all pixels of an image, or all values of a mask or map. `info`: the result of `probe`.
  // Returns: the finished job, whose memory is valid until the next call. Errors: thrown, as in
  // DecodeJob::error; those of value_layout.
  DecodeJob decode(const FieldSpec& field, const EncodedImage& encoded, const ImageInfo& info);

 private:
  std::unique_ptr<Decoder> decoder_;
  Scratch memory_;
};

}  // namespace fuelrail::pack
