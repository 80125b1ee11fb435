// PNG. Runs a second time with the checksums of the chunks corrected, to reach damage inside
// chunks.
#include "image_fuzzing.h"

namespace {

void store_be32(std::byte* at, uint32_t value) {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(value >> (24 - 8 * i));
}

uint32_t load_be32(const std::byte* at) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<uint32_t>(at[i]);
  return value;
}

void mend_checksums(std::vector<std::byte>& png) {
  constexpr size_t kSignatureBytes = 8, kAroundPayload = 12;
  for (size_t at = kSignatureBytes; png.size() >= at + kAroundPayload;) {
    const size_t length = load_be32(png.data() + at);
    if (length > png.size() - at - kAroundPayload) return;
    const auto checked = fuelrail::Bytes(png).subspan(at + 4, length + 4);
    store_be32(png.data() + at + 8 + length, fuelrail::crc32(checked));
    at += length + kAroundPayload;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const Bytes encoded = fuzzing::as_bytes(data, size);
  fuzzing::check_image(encoded, &kPngFormat);
  std::vector<std::byte> mended = fuzzing::copied(encoded);
  mend_checksums(mended);
  fuzzing::check_image(mended, &kPngFormat);
  return 0;
}
