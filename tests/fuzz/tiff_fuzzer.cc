// TIFF: directories, strips and tiles, the compressions of the libtiff at hand.
#include "image_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  fuzzing::check_image(fuzzing::as_bytes(data, size), &kTiffFormat);
  return 0;
}
