// Decodes every PNG that `probe_png` accepts, by libspng.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Reads the rows down to the box's last row; damage below it goes unnoticed. Requires: jobs for
// pixels or stored values.
std::unique_ptr<Decoder> make_spng_decoder();

}  // namespace fuelrail
