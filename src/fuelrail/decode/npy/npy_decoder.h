// Images as arrays in .npy files (docs/formats/npy.md): uint8 pixels; uint8, uint16 and int32
// values; float16 and float32 values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Requires: `encoded` starts with "\x93NUMPY".
// Errors: as for `probe`, which also checks the number of pixels.
ImageInfo probe_npy(Bytes encoded);

// Reads only the bytes of the box. Pixels (grey, RGB, RGBA) are uint8; the values of an array of
// another type are its elements, float16 as float32.
// Errors: UnsupportedError for the pixels of an array that is not uint8.
std::unique_ptr<Decoder> make_npy_decoder();

// As Decoding::pixels_in_file. Errors, too: as for probe_npy.
std::optional<ConstImageView> pixels_in_npy(Bytes encoded, Box box, int64_t channels);

}  // namespace fuelrail
