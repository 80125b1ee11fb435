/* The parts of the plugin. Each of decode_de265.cc and decode_avcodec.cc defines the functions of
 * decoding; encode_x265.cc those of encoding. */
#pragma once

#include <cstdio>
#include <string>

#include "fuelrail/base/hevc_table.h"

namespace plugin {

std::string decoder_description(); /* "libde265 1.0.11" */
extern const bool kDecodesH264;
fuelrail_status make_decoder(fuelrail_codec codec, void** decoder, fuelrail_failure* failure);
fuelrail_status decode(void* decoder, const fuelrail_nal* units, size_t count, int64_t most_pixels,
                       fuelrail_planes* picture, fuelrail_failure* failure);
void free_decoder(void* decoder);

std::string encoder_description(); /* "x265 3.5+1-f0c1022b6" */
fuelrail_status make_encoder(const fuelrail_encoding* encoding, void** encoder,
                             fuelrail_failure* failure);
fuelrail_status encode(void* encoder, const fuelrail_planes* picture, const fuelrail_nal** units,
                       size_t* count, fuelrail_failure* failure);
void free_encoder(void* encoder);

inline fuelrail_status fail(fuelrail_failure* failure, fuelrail_status status,
                            const std::string& text) {
  std::snprintf(failure->text, sizeof failure->text, "%s", text.c_str());
  return status;
}

}  // namespace plugin
