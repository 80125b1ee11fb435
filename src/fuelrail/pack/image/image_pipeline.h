// Turns an image file's bytes, or pixels, into the bytes to pack: either the same bytes, or the
// encoded result of a list of steps.
#pragma once

#include <cstdint>
#include <memory>

#include "fuelrail/base/encoded_image.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/pack/image/image_steps.h"

namespace fuelrail::pack {

// Returns the image's own bytes. Errors: UnsupportedError if more than these bytes is needed to
// decode the image: the codec has a size or parameters, or its format has no signature.
Bytes bytes_to_store(const EncodedImage& encoded);

// Metadata of an image (EXIF, ICC profile) is dropped if the image is encoded again. 16-bit samples
// keep their high byte. Four channels can only be stored as PNG.
// Threads: one pipeline for each thread; it keeps its working memory between calls.
class ImagePipeline {
 public:
  // Requires: check(steps) has passed. Lifetime: `steps` outlives the pipeline.
  explicit ImagePipeline(const ImageSteps& steps);
  ~ImagePipeline();
  ImagePipeline(ImagePipeline&&) noexcept;

  // `place`: the image's index in its source, which selects its random numbers.
  // Returns: the bytes to pack: a view of `encoded`, or of memory that stays valid until the next
  // call.
  // Errors: those of `probe`, of decoding, of `bytes_to_store` and of the stages; UnsupportedError
  // for a side that is too long for the encoding; StepsError.
  Bytes prepare(const EncodedImage& encoded, uint64_t place);

  // The same for pixels of 1, 3 or 4 channels. ImageSteps::keep and `color` do not apply.
  Bytes prepare(ConstImageView pixels, uint64_t place);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::pack
