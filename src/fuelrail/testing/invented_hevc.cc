// A plugin for H.265 (base/hevc_table.h) that decodes no H.265: each picture is 4 x 2 in 4:2:0, and
// the last byte of its last unit is the value of all luma. The environment variable
// FUELRAIL_INVENTED_HEVC selects a fault.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "fuelrail/base/hevc_table.h"

namespace {

bool is_told(std::string_view what) {
  const char* const told = std::getenv("FUELRAIL_INVENTED_HEVC");
  return told != nullptr && told == what;
}

struct Picture {
  uint8_t luma[8];
  uint8_t chroma[2] = {128, 128};
};

void say(fuelrail_failure* failure, const char* text) {
  std::snprintf(failure->text, sizeof failure->text, "%s", text);
}

fuelrail_status make_decoder(fuelrail_codec, void** decoder, fuelrail_failure* failure) {
  say(failure, "no licence");
  if (is_told("no decoder")) return FUELRAIL_UNSUPPORTED;
  *decoder = new Picture;
  return FUELRAIL_OK;
}

fuelrail_status decode(void* decoder, const fuelrail_nal* units, size_t count, int64_t,
                       fuelrail_planes* planes, fuelrail_failure* failure) {
  say(failure, "an invented failure");
  if (is_told("damaged")) return FUELRAIL_DAMAGED;
  if (is_told("unsupported")) return FUELRAIL_UNSUPPORTED;
  if (is_told("no memory")) return FUELRAIL_NO_MEMORY;
  auto* const picture = static_cast<Picture*>(decoder);
  const fuelrail_nal last = units[count - 1];
  for (uint8_t& value : picture->luma) value = last.bytes[last.length - 1];
  *planes = {.planes = {picture->luma, picture->chroma, picture->chroma},
             .strides = {4, 2, 2},
             .widths = {is_told("wide") ? 5 : 4, 2, 2},
             .heights = {2, 1, 1},
             .bits = 8,
             .chroma = 1,
             .full_range = 1,
             .matrix = 5,
             .chroma_location = 1};
  return FUELRAIL_OK;
}

void free_decoder(void* decoder) { delete static_cast<Picture*>(decoder); }

fuelrail_status make_encoder(const fuelrail_encoding*, void**, fuelrail_failure* failure) {
  say(failure, "the invented plugin does not encode");
  return FUELRAIL_UNSUPPORTED;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const fuelrail_hevc_table* fuelrail_hevc() {
  if (is_told("no table")) return nullptr;
  static fuelrail_hevc_table table;
  table = {.interface = FUELRAIL_HEVC_INTERFACE - (is_told("old") ? 1 : 0),
           .description = "invented 1.0",
           .decodes_h264 = 0,
           .make_decoder = make_decoder,
           .decode = decode,
           .free_decoder = free_decoder,
           .make_encoder = make_encoder,
           .encode = nullptr,
           .free_encoder = nullptr};
  return &table;
}
