// FFRecord's row in the table of formats.
#pragma once

#include "fuelrail/container/formats.h"

namespace fuelrail::ffrecord {

extern const FileFormat kFormat;

}  // namespace fuelrail::ffrecord
