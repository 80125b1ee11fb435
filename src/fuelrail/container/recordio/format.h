// RecordIO's row in the table of formats.
#pragma once

#include "fuelrail/container/formats.h"

namespace fuelrail::recordio {

extern const FileFormat kFormat;

}  // namespace fuelrail::recordio
