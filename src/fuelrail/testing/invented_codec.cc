// The invented codec as a library that is opened at run time. What it does wrong, if anything, the
// environment says.
#include "fuelrail/testing/invented_codec.h"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace {

bool is_told(std::string_view what) {
  const char* const told = std::getenv("FUELRAIL_INVENTED_CODEC");
  return told != nullptr && told == what;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) const char* fuelrail_codec_version() {
  return is_told("old") ? "0.0.1" : FUELRAIL_VERSION;
}

__attribute__((visibility("default"))) fuelrail::Decoder* fuelrail_make_decoder() {
  if (is_told("throws")) throw std::runtime_error("no licence");
  if (is_told("none")) return nullptr;
  return fuelrail::testing::make_invented_decoder().release();
}

}  // extern "C"
