// A decoder in a shared library that is opened at run time: of codecs whose libraries fuelrail
// does not link, because of their licence or their size.
#pragma once

#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// The number of what a library shares with the program that opens it: Decoder, DecodeJob,
// ImageInfo, EncodedImage, ImageCodec, ImageFormat and Error. It grows with each change of these.
inline constexpr int kCodecInterface = 1;
static_assert(sizeof(DecodeJob) + sizeof(ImageCodec) + sizeof(ImageFormat) == 408,
              "raise kCodecInterface");

// The library exports, with C linkage:
//   int fuelrail_codec_interface();               kCodecInterface, as it was built with
//   fuelrail::Decoder* fuelrail_make_decoder();   a new decoder, the caller's; may throw
// Its decoder sets errors of base/error.h alone: any other type ends a run, whatever the error
// policy. For them it links fuelrail's base, statically, and no other module of fuelrail: job.h and
// formats.h are the program's. It decodes one format, and need not ask which: the objects of
// base/image_format.h have other addresses in it than in the jobs.
struct CodecLibrary {
  const char* title;   // of the format: "HEVC"
  const char* file;    // as dlopen takes it: "libfuelrail_hevc.so"
  const char* remedy;  // how to install it
};

// What a row of decode/formats.cc has for its maker to call. The library stays open.
// Errors: StateError, with the one remedy, for a library that is absent, of another interface
// or without these functions, and for one that makes no decoder.
std::unique_ptr<Decoder> make_decoder_in(const CodecLibrary& library);

}  // namespace fuelrail
