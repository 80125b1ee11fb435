// The bytes of a scan: entropy-coded data between markers (ITU-T T.81, B.1.1.2, B.1.1.5 and
// F.1.2.3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "fuelrail/base/bytes.h"

namespace fuelrail::jpeg {

inline constexpr int kRst0 = 0xd0;  // and the next seven: restart markers
inline constexpr int kEoi = 0xd9;

// Zeros that a decoder may read behind unstuffed data.
inline constexpr size_t kZeroBytes = 64;

// Where the data end.
struct DataEnd {
  size_t unstuffed = 0;  // bytes that were copied
  int marker = -1;       // the marker behind the data; -1: there is none, or an invalid one
  size_t next = 0;       // the stored byte behind the marker
};

// Copies the data before the first marker, without the zeros that follow bytes FF, and kZeroBytes
// zeros behind them. A marker may begin with several bytes FF. Requires: `to` has room for as many
// bytes as are stored, and kZeroBytes more.
DataEnd unstuff(Bytes stored, uint8_t* to);

}  // namespace fuelrail::jpeg
