#include "fuelrail/base/crc32.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include "fuelrail/base/error.h"

namespace fuelrail {

uint32_t crc32(Bytes bytes, uint32_t crc) {
  // An empty view may hold a null pointer, for which libdeflate ignores `crc` and returns 0.
  if (bytes.empty()) return crc;
  return libdeflate_crc32(crc, bytes.data(), bytes.size());
}

void check_record_crc(uint32_t found, uint32_t expected) {
  if (found == expected) return;
  throw CorruptError("the record's checksum is wrong",
                     {.expected = fmt::format("{:#010x}", expected),
                      .found = fmt::format("{:#010x}", found),
                      .remedy = "Restore the file, pack it again, or copy its readable records "
                                "with 'fuelrail recover'"});
}

}  // namespace fuelrail
