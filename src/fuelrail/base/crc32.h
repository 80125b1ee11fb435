// CRC-32 as in zip, PNG and Ethernet (reflected polynomial 0xEDB88320), by libdeflate.
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// `crc` is the checksum of what came before; 0 to begin.
uint32_t crc32(Bytes bytes, uint32_t crc = 0);

// Errors: CorruptError unless the checksum that was `found` of a record is the one `expected`.
void check_record_crc(uint32_t found, uint32_t expected);

}  // namespace fuelrail
