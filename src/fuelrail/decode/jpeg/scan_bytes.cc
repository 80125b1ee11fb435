#include "fuelrail/decode/jpeg/scan_bytes.h"

#include <algorithm>
#include <cstring>

namespace fuelrail::jpeg {

DataEnd unstuff(Bytes stored, uint8_t* to) {
  const auto* at = reinterpret_cast<const uint8_t*>(stored.data());
  const uint8_t* const begin = at;
  const uint8_t* const end = at + stored.size();
  DataEnd found;
  for (;;) {
    // memchr is vectorised, and photographs have an FF in about 250 bytes.
    const auto* ff =
        at < end ? static_cast<const uint8_t*>(std::memchr(at, 0xff, static_cast<size_t>(end - at)))
                 : nullptr;
    if (ff == nullptr) ff = end;
    const auto count = static_cast<size_t>(ff - at);
    std::memcpy(to + found.unstuffed, at, count);
    found.unstuffed += count;
    const uint8_t* const code = std::find_if(ff, end, [](uint8_t byte) { return byte != 0xff; });
    if (code == end) break;
    if (*code != 0) {
      found.marker = *code;
      found.next = static_cast<size_t>(code + 1 - begin);
      break;
    }
    if (code - ff > 1)
      break;  // libjpeg takes fill bytes and a zero for an FF; no encoder writes them
    to[found.unstuffed++] = 0xff;
    at = code + 1;
  }
  std::memset(to + found.unstuffed, 0, kZeroBytes);
  return found;
}

}  // namespace fuelrail::jpeg
