// A decoder in a shared library that is opened at run time: of codecs whose libraries fuelrail
// does not link, because of their licence or their size.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// The library exports, with C linkage:
//   const char* fuelrail_codec_version();     the version of fuelrail that it was built with
//   fuelrail::Decoder* fuelrail_make_decoder();   a new decoder, the caller's; may throw
struct CodecLibrary {
  const char* title;   // of the format: "HEVC"
  const char* file;    // as dlopen takes it: "libfuelrail_hevc.so"
  const char* remedy;  // how to install it
};

// What a row of decode/formats.cc has for its maker to call. The library stays open.
// Errors: UnsupportedError, with the one remedy, for a library that is absent, of another version
// or without these functions, and for one that makes no decoder.
std::unique_ptr<Decoder> make_decoder_in(const CodecLibrary& library);

}  // namespace fuelrail
