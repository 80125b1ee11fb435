// The sequence parameter set of H.265 (ITU-T H.265, sections 7.3.2.2 and E.2.1): what a picture is.
#pragma once

#include <cstdint>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"

namespace fuelrail::hevc {

enum class Matrix : uint8_t { kBt601, kBt709, kBt2020, kRgb };
// Where a chroma value lies relative to the luma values that it covers.
enum class Siting : uint8_t { kLeft, kCentre, kTopLeft };

struct Sps {
  Size coded{};    // of the coded picture, without the conformance window
  Box window{};    // the conformance window: the part that a decoder returns
  int chroma = 1;  // chroma_format_idc: 0 luma alone, 1 4:2:0, 2 4:2:2, 3 4:4:4
  int bits = 8;    // of a value
  bool full_range = true;
  Matrix matrix = Matrix::kBt601;
  Siting siting = Siting::kCentre;
};

// Reads the NAL unit of a parameter set. What the VUI does not say is BT.601 in full range with
// centred chroma, as in a JPEG. Errors: DecodeError for a damaged set; UnsupportedError for values
// of more than 16 bits, for different numbers of bits of luma and chroma, for separately coded
// planes, and for another matrix.
Sps read_sps(Bytes unit);

// The matrix and the siting of a code of the VUI (tables E.5 and figure E.1, the same in ITU-T
// H.264). Errors: UnsupportedError.
Matrix matrix_of(int code);
Siting siting_of(int type);

}  // namespace fuelrail::hevc
