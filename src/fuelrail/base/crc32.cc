#include "fuelrail/base/crc32.h"

#include <libdeflate.h>

namespace fuelrail {

uint32_t crc32(Bytes bytes, uint32_t crc) {
  // libdeflate answers 0 for a null pointer, whatever came before; an empty view may hold one.
  if (bytes.empty()) return crc;
  return libdeflate_crc32(crc, bytes.data(), bytes.size());
}

}  // namespace fuelrail
