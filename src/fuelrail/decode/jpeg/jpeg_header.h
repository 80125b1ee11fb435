// The markers of a JPEG up to its first scan (ITU-T T.81, annex B).
#pragma once

#include "fuelrail/base/bytes.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {

// Requires: `encoded` starts with FF D8.
// Errors: as `probe`, which also checks the number of pixels.
ImageInfo probe_jpeg(Bytes encoded);

}  // namespace fuelrail
