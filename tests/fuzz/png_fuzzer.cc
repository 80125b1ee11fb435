// PNG. Runs a second time with the checksums of the chunks corrected, to reach damage inside
// chunks.
#include "image_fuzzing.h"
#include "png_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const Bytes encoded = fuzzing::as_bytes(data, size);
  fuzzing::check_image(encoded, &kPngFormat);
  std::vector<std::byte> mended = fuzzing::copied(encoded);
  fuzzing::mend_checksums(mended);
  fuzzing::check_image(mended, &kPngFormat);
  return 0;
}
