// An image format whose decoder is in a library that does not exist.
#pragma once

#include "fuelrail/decode/codec_library.h"
#include "fuelrail/decode/formats.h"

namespace fuelrail::testing {

inline constexpr ImageFormat kRareFormat{"rare", "Rare", {}, {"RARE"}};
inline constexpr Decoding kAbsentDecoding{
    &kRareFormat,
    [](Bytes) {
      return ImageInfo{.format = &kRareFormat, .stored = {4, 4}, .channels = 3};
    },
    [] {
      return make_decoder_in({"Rare", "libfuelrail_absent.so", "Install 'rare'"});
    }};

}  // namespace fuelrail::testing
