// An image format whose decoder this machine lacks.
#pragma once

#include "fuelrail/base/error.h"
#include "fuelrail/decode/formats.h"

namespace fuelrail::testing {

inline constexpr ImageFormat kRareFormat{"rare", "Rare", {}, {"RARE"}};
inline constexpr Decoding kAbsentDecoding{
    &kRareFormat,
    [](Bytes) {
      return ImageInfo{.format = &kRareFormat, .stored = {4, 4}, .channels = 3};
    },
    []() -> std::unique_ptr<Decoder> {
      throw MissingCodecError("Rare images cannot be decoded", {.remedy = "Install 'rare'"});
    }};

}  // namespace fuelrail::testing
