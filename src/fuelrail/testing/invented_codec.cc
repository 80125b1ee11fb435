// The invented codec as a library that is opened at run time. An environment variable selects a
// fault of the library.
#include "fuelrail/testing/invented_codec.h"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "fuelrail/decode/codec_library.h"

namespace {

bool is_told(std::string_view what) {
  const char* const told = std::getenv("FUELRAIL_INVENTED_CODEC");
  return told != nullptr && told == what;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int fuelrail_codec_interface() {
  return fuelrail::kCodecInterface - (is_told("old") ? 1 : 0);
}

__attribute__((visibility("default"))) fuelrail::Decoder* fuelrail_make_decoder() {
  if (is_told("throws")) throw std::runtime_error("no licence");
  if (is_told("throws 5")) throw 5;
  if (is_told("none")) return nullptr;
  return fuelrail::testing::make_invented_decoder().release();
}

}  // extern "C"
