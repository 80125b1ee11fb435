// From an image file's bytes, or pixels, to the bytes that are packed: the same bytes, or what a
// list of steps makes of the image, encoded anew.
#pragma once

#include <cstdint>
#include <memory>

#include "fuelrail/base/encoded_image.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/pack/image/image_steps.h"

namespace fuelrail::pack {

// The image's own bytes. Errors: UnsupportedError where more is needed to decode them: a codec that
// says a size or parameters, or whose format has no signature.
Bytes bytes_to_store(const EncodedImage& encoded);

// What an encoded image says beside its pixels (EXIF, ICC profile) is dropped where it is encoded
// anew. 16-bit samples keep their high byte. Four channels are stored as PNG alone.
// Threads: one pipeline a thread; it keeps its working memory between calls.
class ImagePipeline {
 public:
  // Requires: check(steps) has passed. Lifetime: `steps` outlives the pipeline.
  explicit ImagePipeline(const ImageSteps& steps);
  ~ImagePipeline();
  ImagePipeline(ImagePipeline&&) noexcept;

  // `place`: the image's index in its source, for its random numbers.
  // Returns: the bytes to pack, a view of `encoded` or of memory that lives until the next call.
  // Errors: those of probe, of decoding and of bytes_to_store; UnsupportedError for a side that is
  // too long for the encoding; those of the stages; StepsError.
  Bytes prepare(const EncodedImage& encoded, uint64_t place);

  // The same of pixels of 1, 3 or 4 channels, which ImageSteps::keep and `color` do not change.
  Bytes prepare(ConstImageView pixels, uint64_t place);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::pack
