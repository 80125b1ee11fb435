// The bytes of a scan: entropy-coded data between markers (ITU-T T.81, B.1.1.5 and F.1.2.3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "fuelrail/base/bytes.h"

namespace fuelrail::jpeg {

// Zeros that a decoder may read behind unstuffed data.
inline constexpr size_t kZeroBytes = 64;

// The place at which the data end.
struct DataEnd {
  size_t stored = 0;     // bytes before the marker, or all of them
  size_t unstuffed = 0;  // the same without the zeros behind FF
  int marker = -1;       // the byte behind FF; -1: the bytes end without a marker
};

// Copies the data before the first marker, without the zeros that follow bytes FF, and kZeroBytes
// zeros behind them. Requires: `to` has room for `stored`'s bytes and kZeroBytes more.
DataEnd unstuff(Bytes stored, uint8_t* to);

}  // namespace fuelrail::jpeg
