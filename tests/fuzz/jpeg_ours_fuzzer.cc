// Our own JPEG decoder beside libjpeg-turbo: what ours decodes, libjpeg-turbo decodes without a
// warning, to the same pixels. Half of the mutations change the scan alone.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <random>

#include "fuelrail/decode/jpeg/baseline_decoder.h"
#include "fuelrail/decode/jpeg/libjpeg_decoder.h"
#include "image_fuzzing.h"

namespace {

using namespace fuelrail;

// Decodes a box to pixels that are 0x5a before; false if `decode` reports that it cannot.
template <typename Decode>
bool pixels_of(Bytes encoded, const ImageInfo& info, Box box, int64_t channels,
               std::vector<uint8_t>& pixels, Decode decode) {
  pixels.assign(static_cast<size_t>(box.height * box.width * channels), 0x5a);
  DecodeJob job;
  job.encoded = encoded;
  job.info = info;
  job.box = box;
  job.output = {pixels.data(), box.height, box.width, channels, box.width * channels};
  return decode(job);
}

// Printed at the end: most inputs are damaged, and tell nothing.
struct Counts {
  uint64_t compared = 0;
  ~Counts() { std::fprintf(stderr, "compared the pixels of %" PRIu64 " boxes\n", compared); }
};
Counts counts;

void compare(Bytes encoded, const ImageInfo& info, Box box, int64_t channels) {
  static jpeg::BaselineDecoder ours;
  static const std::unique_ptr<Decoder> libjpeg = make_libjpeg_decoder();
  static std::vector<uint8_t> own, reference;
  if (!pixels_of(encoded, info, box, channels, own,
                 [&](DecodeJob& job) { return ours.decode(job); })) {
    return;
  }
  const bool is_clean = pixels_of(encoded, info, box, channels, reference, [&](DecodeJob& job) {
    libjpeg->decode({&job, 1});
    return !job.error && job.tolerated == 0;
  });
  fuzzing::require(is_clean, "libjpeg-turbo finds nothing in what ours decodes");
  fuzzing::require(own == reference, "the pixels are those of libjpeg-turbo");
  ++counts.compared;
}

// Returns: the byte at which the data of the first scan begin; 0 if there is no scan.
size_t scan_of(const uint8_t* data, size_t size) {
  for (size_t at = 2; at + 4 <= size && data[at] == 0xff;) {
    const size_t length = size_t{data[at + 2]} << 8 | data[at + 3];
    const size_t next = at + 2 + length;
    if (data[at + 1] == 0xda) return next < size ? next : 0;
    at = next;
  }
  return 0;
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  const size_t scan = seed % 2 == 0 ? scan_of(data, size) : 0;
  if (scan == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::minstd_rand random(seed);
  const size_t at = scan + random() % (size - scan);
  switch (random() % 4) {
    case 0:
      data[at] = static_cast<uint8_t>(data[at] ^ 1u << random() % 8);
      return size;
    case 1: {  // remove some bytes
      const size_t count = std::min<size_t>(1 + random() % 4, size - at);
      std::memmove(data + at, data + at + count, size - at - count);
      return size - count;
    }
    case 2: {  // repeat some bytes
      const size_t count = std::min({size_t{1} + random() % 16, size - at, max_size - size});
      std::memmove(data + at + count, data + at, size - at);
      return size + count;
    }
    default:
      return scan + LLVMFuzzerMutate(data + scan, size - scan, max_size - scan);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes encoded = fuzzing::as_bytes(data, size);
  ImageInfo info;
  if (!fuzzing::succeeds([&] { info = probe(encoded, fuzzing::kMaxPixels); })) return 0;
  if (info.format != &kJpegFormat) return 0;
  compare(encoded, info, whole(info.stored), 3);
  compare(encoded, info, fuzzing::some_box(encoded, info.stored), 3);
  compare(encoded, info, fuzzing::some_box(encoded, info.stored), 1);
  return 0;
}
