#include "fuelrail/decode/jpeg/scan_bytes.h"

#include <cstring>

namespace fuelrail::jpeg {

DataEnd unstuff(Bytes stored, uint8_t* to) {
  const auto* const from = reinterpret_cast<const uint8_t*>(stored.data());
  DataEnd end;
  for (;;) {
    // memchr is vectorized, and photographs have an FF in about 250 bytes.
    const void* const found = end.stored < stored.size()
                                  ? std::memchr(from + end.stored, 0xff, stored.size() - end.stored)
                                  : nullptr;
    const size_t next = found == nullptr
                            ? stored.size()
                            : static_cast<size_t>(static_cast<const uint8_t*>(found) - from);
    std::memcpy(to + end.unstuffed, from + end.stored, next - end.stored);
    end.unstuffed += next - end.stored;
    end.stored = next;
    if (found == nullptr || next + 1 == stored.size()) break;  // an FF at the very end is no data
    if (from[next + 1] != 0) {
      end.marker = from[next + 1];
      break;
    }
    to[end.unstuffed++] = 0xff;
    end.stored += 2;
  }
  std::memset(to + end.unstuffed, 0, kZeroBytes);
  return end;
}

}  // namespace fuelrail::jpeg
