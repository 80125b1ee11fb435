// JPEG: header, EXIF and XMP, the region that a box needs.
#include "image_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  fuzzing::check_image(fuzzing::as_bytes(data, size), &kJpegFormat);
  return 0;
}
