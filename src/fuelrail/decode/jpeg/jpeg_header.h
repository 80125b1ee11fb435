// The markers of a JPEG (ITU-T T.81, annex B).
#pragma once

#include <cstddef>
#include <functional>

#include "fuelrail/base/bytes.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {

// Requires: `encoded` starts with FF D8.
// Errors: as `probe`, which also checks the number of pixels.
ImageInfo probe_jpeg(Bytes encoded);

// Calls `take` with the header of each scan that begins behind byte `at` (from its number of
// components on), as libjpeg will meet them: up to the end marker, or to where no marker is left.
// Damage ends it too, which the decoder reports. Requires: `at` is not inside a header.
void each_scan(Bytes encoded, size_t at, const std::function<void(Bytes header)>& take);

}  // namespace fuelrail
