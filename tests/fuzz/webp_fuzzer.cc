// WebP: chunks, EXIF and XMP, lossy and lossless, the first frame of an animation.
#include "image_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  fuzzing::check_image(fuzzing::as_bytes(data, size), &kWebpFormat);
  return 0;
}
