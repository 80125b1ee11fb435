// EXIF and XMP blocks, as stored in JPEG, PNG and WebP.
#include "fuelrail/decode/exif.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const Bytes block = fuzzing::as_bytes(data, size);
  const int orientation = orientation_from(block, block);
  fuzzing::require(orientation >= 1 && orientation <= 8, "an orientation is one of the eight");
  const auto xmp = xmp_orientation(block);
  fuzzing::require(!xmp || (*xmp >= 0 && *xmp <= 9), "XMP's orientation is one digit");
  return 0;
}
