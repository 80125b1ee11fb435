// TIFF by libtiff, if fuelrail was built with the CMake option FUELRAIL_TIFF (wheels are built
// without it): strips and tiles, one plane or several; grey, palette, RGB, CMYK, and YCbCr in JPEG;
// up to 16 bits per sample. Decodes the first image of a file.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Requires: `encoded` starts with TIFF's or BigTIFF's signature.
// Errors: as for `probe`, which also checks the number of pixels; UnsupportedError in a build
// without TIFF.
ImageInfo probe_tiff(Bytes encoded);

// The pixels equal Pillow's; colours that were multiplied by alpha (associated alpha) are divided
// by it. Only the strips or tiles that overlap the box are read: damage elsewhere goes unnoticed.
// Errors: UnsupportedError in a build without TIFF.
std::unique_ptr<Decoder> make_tiff_decoder();

// The version of libtiff, such as "4.5.0"; empty in a build without TIFF.
std::string libtiff_version();

}  // namespace fuelrail
