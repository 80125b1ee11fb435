// The header of a .npy file, which describes the array that follows it (docs/formats/npy.md).
#pragma once

#include <cstdint>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/dtype.h"

namespace fuelrail {

// The array's elements are little-endian, row-major, without padding.
struct NpyHeader {
  DType dtype = DType::kUint8;  // uint8, uint16, int32, float16 or float32
  Size size;                    // 0 to 2^31 - 1 on each side
  int64_t channels = 1;         // 1, 3 or 4; 1 for uint16 and int32; floats may have 2
  uint64_t data_at = 0;         // byte position in the file of the first element

  int64_t pixel_bytes() const { return channels * static_cast<int64_t>(size_in_bytes(dtype)); }
};

// Parses the header, which is a Python dict literal, with a parser for exactly this kind of dict;
// nothing is evaluated or unpickled. Requires: `encoded` starts with "\x93NUMPY". Allocates nothing
// unless it fails. Errors: TruncatedError; DecodeError for a damaged header; UnsupportedError for
// an array that is not an image: another element type, Fortran or big-endian order, or another
// shape.
NpyHeader parse_npy_header(Bytes encoded);

}  // namespace fuelrail
