// An image's own entry points, which change no pixel, and changed ones, with which an image that
// decodes still does.
#include <vector>

#include "fuelrail/decode/jpeg/baseline_decoder.h"
#include "image_fuzzing.h"

namespace {

using namespace fuelrail;

bool decode_with(Bytes encoded, Bytes hints, const ImageInfo& info, Box box,
                 std::vector<uint8_t>& pixels) {
  static jpeg::BaselineDecoder decoder;
  pixels.assign(static_cast<size_t>(box.height * box.width * 3), 0x5a);
  DecodeJob job;
  job.encoded = encoded;
  job.encoded.hints = hints;
  job.info = info;
  job.box = box;
  job.output = {pixels.data(), box.height, box.width, 3, box.width * 3};
  return decoder.decode(job);
}

}  // namespace

// The first two bytes are the size of the image, which follows. The bytes behind it are written
// over the image's own entry points; the first of them says from where on.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 4) return 0;
  const Bytes all = fuzzing::as_bytes(data, size).subspan(2);
  const size_t image_size = std::min<size_t>(all.size(), size_t{data[0]} << 8 | data[1]);
  const Bytes encoded = all.first(image_size);
  const Bytes changes = all.subspan(image_size);
  ImageInfo info;
  if (!fuzzing::succeeds([&] { info = probe(encoded, fuzzing::kMaxPixels); })) return 0;
  if (info.format != &kJpegFormat) return 0;
  static std::vector<uint8_t> with, without;
  const Box box = fuzzing::some_box(all, info.stored);
  const bool decodes = decode_with(encoded, {}, info, box, without);
  static const auto make_hints = hint_maker();
  const std::vector<std::byte> own = make_hints(encoded);
  if (!own.empty()) {
    fuzzing::require(decode_with(encoded, own, info, box, with) == decodes || !decodes,
                     "an image that decodes does so with its entry points");
    if (decodes) fuzzing::require(with == without, "entry points change no pixel");
  }
  std::vector<std::byte> forged = own;
  if (!changes.empty()) {
    const size_t at = forged.empty() ? 0 : std::to_integer<size_t>(changes[0]) % forged.size();
    forged.resize(std::max(forged.size(), at + changes.size() - 1));
    std::copy(changes.begin() + 1, changes.end(), forged.begin() + static_cast<std::ptrdiff_t>(at));
  }
  const bool decodes_forged = decode_with(encoded, forged, info, box, with);
  fuzzing::require(decodes_forged || !decodes, "an image that decodes does so with any hints");
  return 0;
}
