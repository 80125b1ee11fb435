// CRC-32 as in zip, PNG and Ethernet (reflected polynomial 0xEDB88320), by libdeflate.
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// `crc`: the checksum of the preceding bytes; 0 if there are none.
uint32_t crc32(Bytes bytes, uint32_t crc = 0);

// Compares a record's checksums. Errors: CorruptError if `found` differs from `expected`.
void check_record_crc(uint32_t found, uint32_t expected);

}  // namespace fuelrail
