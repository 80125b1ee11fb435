// The boxes hvcC and avcC and the samples of stills: length of the box u16, the box, the sample.
// The lowest bit of the first byte selects H.264.
#include <algorithm>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/decode/hevc/nal_units.h"
#include "fuelrail/decode/hevc/sps.h"
#include "fuzzing.h"

namespace {

using namespace fuelrail;

void check(const hevc::Sps& sps) {
  fuzzing::require(sps.window.inside(sps.coded), "the window is inside the picture");
  fuzzing::require(sps.chroma >= 0 && sps.chroma <= 3, "there are four chroma formats");
  fuzzing::require(sps.bits >= 8 && sps.bits <= 16, "a value has 8 to 16 bits");
}

void read(bool is_h264, Bytes box, Bytes sample) {
  hevc::DecoderConfiguration configuration = is_h264 ? hevc::read_avcc(box) : hevc::read_hvcc(box);
  if (is_h264) {
    hevc::append_h264_units(sample, configuration.length_bytes, configuration.units);
  } else {
    hevc::append_hevc_units(sample, configuration.length_bytes, configuration.units);
    check(hevc::read_sps(hevc::find_sps(configuration.units)));
  }
  for (const Bytes unit : configuration.units) {
    fuzzing::require(!unit.empty(), "a unit has a header");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeadBytes = 3;
  if (size < kHeadBytes) return 0;
  const Bytes all = fuzzing::as_bytes(data, size);
  const size_t box = std::min<size_t>(load_le<uint16_t>(all.data() + 1), size - kHeadBytes);
  try {
    read((data[0] & 1) != 0, all.subspan(kHeadBytes, box), all.subspan(kHeadBytes + box));
  } catch (const DecodeError&) {
  } catch (const TruncatedError&) {
  } catch (const UnsupportedError&) {
  }
  return 0;
}
