// A decoder in a shared library that is opened at run time, for codecs whose libraries fuelrail
// does not link because of their licence or their size.
#pragma once

#include <cstddef>
#include <memory>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail {

// The version of the types that a library shares with the program that opens it: Decoder,
// DecodeJob, ImageInfo, EncodedImage, ImageCodec, ImageFormat and Error. Raise it with each change
// of these types, even if only a member's meaning changes.
inline constexpr int kCodecInterface = 1;
// If one of these assertions fails, raise the version, then correct the assertion.
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
//   int fuelrail_codec_interface();               the kCodecInterface that it was built with
//   fuelrail::Decoder* fuelrail_make_decoder();   a new decoder, owned by the caller; may throw
// The decoder sets only errors of base/error.h: an error of any other type ends a run, whatever the
// error policy. To create these errors, the library links fuelrail's base statically, and no other
// module of fuelrail; it must not use job.h and formats.h. The decoder decodes one format, so it
// need not check job.info.format. It could not do so by address, because the library has its own
// copies of the objects of base/image_format.h.
struct CodecLibrary {
  const char* title;   // name of the format: "HEVC"
  const char* file;    // name for dlopen: "libfuelrail_hevc.so"
  const char* remedy;  // how to install the library
};

// Returns a new decoder of the library; for `make_decoder` of a row in decode/formats.cc. The
// library stays open. Errors: StateError with `remedy` if the library cannot be opened, has a
// different interface version, lacks one of the functions, or returns no decoder.
std::unique_ptr<Decoder> make_decoder_in(const CodecLibrary& library);

}  // namespace fuelrail
