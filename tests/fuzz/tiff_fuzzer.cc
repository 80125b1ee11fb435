// TIFF: directories, strips and tiles, and the compressions of the installed libtiff.
#include "image_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  fuzzing::check_image(fuzzing::as_bytes(data, size), &kTiffFormat);
  return 0;
}
