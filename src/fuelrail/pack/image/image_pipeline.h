// Turns an image file's bytes, or pixels, into the bytes to pack: the file's bytes unchanged or
// re-coded (ImageSteps::baseline), or the encoded result of the steps. Also returns the result as
// pixels.
#pragma once

#include <cstdint>
#include <memory>

#include "fuelrail/base/encoded_image.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/pack/image/image_steps.h"

namespace fuelrail::pack {

// Returns the image's own bytes. Errors: UnsupportedError if these bytes are not enough to decode
// the image, because its codec has a size or parameters, or its format has no signature.
Bytes bytes_to_store(const EncodedImage& encoded);

// Prepares images one by one. If an image is encoded again, its metadata (EXIF, ICC profile) is
// dropped, and only the high byte of 16-bit samples is kept. Four channels can be stored only as
// PNG.
// Threads: one pipeline for each thread; it keeps its working memory between calls.
class ImagePipeline {
 public:
  // Requires: check(steps) has passed. Lifetime: `steps` outlives the pipeline.
  explicit ImagePipeline(const ImageSteps& steps);
  ~ImagePipeline();
  ImagePipeline& operator=(ImagePipeline&&) = delete;

  // `place`: the image's index in its source, which selects its random numbers.
  // Returns: the bytes to pack, a view into `encoded` or into memory that is valid until the next
  // call.
  // Errors: those of `probe`, of decoding, of `bytes_to_store` and of the stages; UnsupportedError
  // for a height or width that the encoding does not allow; StepsError.
  Bytes prepare(const EncodedImage& encoded, uint64_t place);

  // As above, for pixels of 1, 3 or 4 channels. ImageSteps::keep and `color` do not apply.
  Bytes prepare(ConstImageView pixels, uint64_t place);

  // Whether the bytes that `prepare` returned last are a re-coded JPEG (ImageSteps::baseline).
  bool recoded() const;

  // The result of the steps before it is encoded, valid until the next call; ImageSteps::keep does
  // not apply. Errors: those of `probe`, of decoding and of the stages.
  ConstImageView pixels(const EncodedImage& encoded, uint64_t place);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail::pack
