// TIFF by libtiff, where fuelrail was built with it (the CMake option FUELRAIL_TIFF; wheels are
// not): strips and tiles, one plane or several; grey, palette, RGB, CMYK, and YCbCr in JPEG; up to
// 16 bits a sample. The first image of a file.
#pragma once

#include <memory>
#include <string>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Requires: `encoded` starts with TIFF's or BigTIFF's signature.
// Errors: as `probe`, which also checks the number of pixels; UnsupportedError in a build without
// TIFF.
ImageInfo probe_tiff(Bytes encoded);

// The pixels are Pillow's; colours with associated alpha are divided by it. Only the strips or
// tiles that the box touches are read: damage elsewhere is not noticed. Errors: UnsupportedError in
// a build without TIFF.
std::unique_ptr<Decoder> make_tiff_decoder();

// The version of the libtiff that decodes, "4.5.0"; empty in a build without TIFF.
std::string libtiff_version();

}  // namespace fuelrail
