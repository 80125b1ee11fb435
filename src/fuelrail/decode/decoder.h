// From encoded bytes to pixels, only those that are asked for.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {

// As many columns as a JPEG's decoded region is wider than its box, at most, to each side: an iMCU
// of 32 that smooth upsampling looks at, and the rest of one that the box begins in.
inline constexpr int64_t kDecodeMargin = 64;

struct DecodeJob {
  EncodedImage encoded;
  ImageInfo info;  // what `probe` said of `encoded`
  Box box;         // in stored pixels, inside info.stored, not empty
  // box.height x box.width x channels; the caller's memory. 3: RGB; 1: grey; 4: RGBA.
  ImageView output;
  // JPEG only, best where info.scalable: 1, 2 or 4 decode at that many eighths of the size, for
  // less work and softer pixels; `box` then lies in the smaller image, of at_eighths(info.stored,
  // eighths).
  int eighths = 8;
  // Columns to both sides of output's rows, the caller's memory too, that may be overwritten with
  // anything: a region that is wider than the box is then decoded in place, not copied. 0: none.
  int64_t margin = 0;
  // Ends the decoding soon, by a StateError. Asked between rows, of a JPEG also between the rows of
  // its scans; WebP, a run-length encoded BMP, and a strip or tile of a TIFF are decoded in one go.
  std::stop_token stop{};
  std::exception_ptr error{};  // out: why there are no pixels; null on success
  uint32_t tolerated = 0;      // out: oddities that were passed over, as said below
};

// The pixels of a box equal the same box of a full decode, bit for bit. Grey becomes RGB by
// repetition; alpha is dropped; CMYK and YCCK become RGB as in Pillow's convert("RGB"); 16 bits are
// cut to their upper 8. One channel is what OpenCV's IMREAD_GRAYSCALE gives: a JPEG's luma, a PNG's
// grey as libpng weighs it (its gamma is not applied), else 0.299 R + 0.587 G + 0.114 B. Four need
// an image with alpha, which is neither multiplied in nor blended. A group of jobs comes at once,
// so that a decoder may interleave images or fill hardware queues. Threads: one decoder a thread;
// it keeps its working memory between calls.
class Decoder {
 public:
  virtual ~Decoder() = default;
  Decoder& operator=(Decoder&&) = delete;

  // Never throws for bad image data: each job gets its own error. What a job's `error` and
  // `tolerated` held before is forgotten.
  // Errors, in the job: TruncatedError where the data end before the box is complete; DecodeError
  // for damage in what the box needs (damage elsewhere may go unnoticed); UnsupportedError,
  // also where four channels are asked for and there is no alpha;
  // InvalidArgumentError where box, output or info do not fit. Places are bytes of the image and
  // stand in the error's text; `offset` is left to who knows where in its file the image lies.
  // After an error the output holds anything.
  // `tolerated` counts what an error would be too much for: extraneous bytes between markers and,
  // where the box has the last row, in front of the end marker, a missing end marker, a progressive
  // JPEG whose scans leave out bits of its coefficients although it ends properly (its last scans
  // may be missing: the pixels are coarser, none is made up).
  virtual void decode(std::span<DecodeJob> jobs) = 0;
};

// Decodes every format that `probe` knows, by handing each job to its format's decoder.
std::unique_ptr<Decoder> make_decoder();

// All of one image, with as many channels as `output` has. Returns: what was tolerated. Errors: the
// job's, thrown.
uint32_t decode_whole(Decoder& decoder, const EncodedImage& encoded, const ImageInfo& info,
                      ImageView output);

// The same with as many channels as OpenCV's IMREAD_UNCHANGED gives: 1 of what is grey (also of a
// BMP whose palette is), 4 of what has alpha (also in a palette), else 3 (also of CMYK).
// `memory` gives an output of info.stored and so many channels; it may be asked twice.
// Returns: the last that it gave.
ImageView decode_as_stored(Decoder& decoder, const EncodedImage& encoded, const ImageInfo& info,
                           const std::function<ImageView(int64_t channels)>& memory);

}  // namespace fuelrail
