// JPEG: header, EXIF and XMP, decoding the region of a box.
#include "image_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  fuzzing::check_image(fuzzing::as_bytes(data, size), &kJpegFormat);
  return 0;
}
