// A decoder in a shared library that is opened at run time: of codecs whose libraries fuelrail
// does not link, because of their licence or their size.
#pragma once

#include <cstddef>
#include <memory>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// The number of what a library shares with the program that opens it: Decoder, DecodeJob,
// ImageInfo, EncodedImage, ImageCodec, ImageFormat and Error. It grows with each change of these,
// also of what a member means.
inline constexpr int kCodecInterface = 1;
// Where one of these fails, raise the number, then correct it.
static_assert(sizeof(DecodeJob) == 216 && offsetof(DecodeJob, info) == 56);
static_assert(offsetof(DecodeJob, box) == 104 && offsetof(DecodeJob, output) == 136);
static_assert(offsetof(DecodeJob, eighths) == 176 && offsetof(DecodeJob, margin) == 184);
static_assert(offsetof(DecodeJob, stop) == 192 && offsetof(DecodeJob, error) == 200);
static_assert(sizeof(ImageInfo) == 48 && offsetof(ImageInfo, stored) == 8);
static_assert(offsetof(ImageInfo, alpha) == 28 && offsetof(ImageInfo, bits) == 32);
static_assert(sizeof(EncodedImage) == 56 && offsetof(EncodedImage, codec) == 16);
static_assert(offsetof(EncodedImage, visible) == 24 && offsetof(EncodedImage, hints) == 40);
static_assert(sizeof(ImageCodec) == 48 && offsetof(ImageCodec, coded) == 8);
static_assert(offsetof(ImageCodec, channels) == 24 && offsetof(ImageCodec, parameters) == 32);
static_assert(sizeof(ImageFormat) == 144 && sizeof(Error) == 232 && sizeof(ErrorDetail) == 160);

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
