// JPEG: baseline, extended and progressive, Huffman-coded, 8 bits. (ITU-T T.81.)
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// Requires: `encoded` starts with FF D8.
// Errors: as for `probe`, which also checks the number of pixels.
ImageInfo probe_jpeg(Bytes encoded);

// Calls `take` with the header (from the number of components on) of each scan that begins after
// byte `at`, in the order in which libjpeg reads them. Ends at the end marker, at the last marker,
// or at damage, which the decoder reports. Requires: `at` is not inside a header.
void each_scan(Bytes encoded, size_t at, const std::function<void(Bytes header)>& take);

// Baseline JPEGs are decoded by jpeg::BaselineDecoder. Others, and those in which it finds anything
// odd, are decoded by libjpeg-turbo. Errors and `tolerated` are always libjpeg-turbo's, and pixels
// those of its vector code (BaselineDecoder).
//
// For tests and benchmarks, the environment variable FUELRAIL_JPEG limits the ways: `libjpeg`
// decodes all images by libjpeg-turbo, `stream` decodes without guesses (SegmentDecoder).
std::unique_ptr<Decoder> make_jpeg_decoder();

// Errors: InvalidArgumentError if FUELRAIL_JPEG has another value.
void check_jpeg_environment();

}  // namespace fuelrail
