// Decodes encoded bytes to the pixels, or to the values, of a box.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/base/planes.h"
#include "fuelrail/base/raw_view.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/decode/values.h"

namespace fuelrail {

// The decoded region of a JPEG exceeds its box by at most this many columns on each side: an iMCU
// of 32 columns that smooth upsampling reads, and the rest of the iMCU in which the box begins.
inline constexpr int64_t kDecodeMargin = 64;

// How an image was decoded, for statistics.
enum class DecodeWay : uint8_t {
  kOther,     // it is neither a JPEG nor a PNG
  kIndexed,   // a JPEG, from the entry points in `EncodedImage::hints`
  kRestarts,  // a JPEG, from the file's restart markers
  kGuessed,   // a JPEG, without either
  kLibjpeg,   // by libjpeg-turbo, because only that knows its kind
  kSuspect,   // by libjpeg-turbo or libspng: a baseline JPEG or a PNG is not what encoders write
  kPng,       // a PNG, by png::PlainPngDecoder
  kLibspng,   // by libspng (make_png_decoder says why)
};
inline constexpr size_t kDecodeWays = 8;

struct DecodeJob {
  EncodedImage encoded;
  ImageInfo info;  // the result of `probe` for `encoded`
  Box box;         // in stored pixels, inside info.stored, not empty
  // box.height x box.width pixels in the caller's memory, with 1 (grey), 3 (RGB) or 4 (RGBA)
  // channels.
  ImageView output{};
  // For a JPEG, 1, 2 or 4 decode at that many eighths of the size, with less work and softer
  // pixels; unless info.scalable, colours are coarser than the pixels. `box` is then a part of the
  // smaller image, whose size is at_eighths(info.stored, eighths).
  int eighths = 8;
  // The number of columns on each side of the output's rows, in the caller's memory, that the
  // decoder may overwrite. They let it decode a region wider than the box in place, without a copy.
  int64_t margin = 0;
  // A request to stop ends the decoding with a StateError. It is checked between rows and, for a
  // JPEG, between the rows of each scan or groups of up to 12,000 blocks. The decoding of a WebP,
  // of a run-length encoded BMP, or of one strip or tile of a TIFF is not interrupted, nor is the
  // inflating of a PNG by png::PlainPngDecoder.
  std::stop_token stop{};
  // Called, if set, with the planes of the whole coded picture, instead of writing `output`. They
  // are valid during the call. Only for formats that are stored as planes (Decoding::has_planes).
  std::function<void(const Planes& planes)> take_planes{};
  // If its data are set, the values of the box are written here, and `output` and `margin` are not
  // used. Requires: the layout that value_layout(info, encoding) returns; eighths is 8.
  RawView values{};
  ValueEncoding encoding = ValueEncoding::kStored;  // of `values`
  std::exception_ptr error{};         // out: the reason for missing pixels; null on success
  uint32_t tolerated = 0;             // out: the number of ignored oddities (Decoder::decode)
  DecodeWay way = DecodeWay::kOther;  // out
  bool hints_refused = false;         // out: the hints are not of these bytes, and were not used
};

// The pixels of a box equal the same box of a full decode, bit for bit. Grey becomes RGB by
// repetition; alpha is dropped; CMYK and YCCK become RGB as in Pillow's convert("RGB"); of 16 bits,
// only the upper 8 are kept. Output with one channel equals OpenCV's IMREAD_GRAYSCALE: the
// luma of a JPEG or of an H.265 still, a PNG's grey with libpng's weights (gamma is not applied),
// otherwise 0.299 R + 0.587 G + 0.114 B. Output with four channels needs an image with alpha, which
// is neither premultiplied nor blended. `decode` takes a group of jobs, so that a decoder may
// interleave images or fill hardware queues. The values of a box (DecodeJob::values) equal the same
// box of all values, too. A decoder keeps its working memory between calls. Threads: one decoder
// for each thread.
class Decoder {
 public:
  virtual ~Decoder() = default;
  Decoder& operator=(Decoder&&) = delete;

  // Never throws for bad image data: each job gets its own error. Earlier values of a job's `error`
  // and `tolerated` are overwritten.
  // Errors, in the job: TruncatedError if the data end before the box is complete; DecodeError for
  // damage in the data that the box needs (damage elsewhere may go unnoticed); UnsupportedError for
  // an unsupported kind of image, and for an image without alpha if the output has four channels;
  // InvalidArgumentError if box, output, values or info is invalid. UnsupportedError for
  // `take_planes` and another format, and for an image without the wanted values. The error's text
  // gives byte positions within the image; the caller, who knows the image's offset in its file,
  // sets `offset`. After an error the content of output or values is undefined. `tolerated` counts
  // oddities that are not errors: extraneous bytes between markers and, if the box includes the
  // last row, before the end marker; a missing end marker; a progressive JPEG that ends properly
  // but whose scans omit bits of its coefficients (its last scans may be missing, so the pixels are
  // coarser, but none is invented).
  virtual void decode(std::span<DecodeJob> jobs) = 0;
};

// Returns a function that makes EncodedImage::hints, with which boxes of exactly these bytes are
// decoded faster. Their format is private to the decoders, which check them before use: hints of
// other bytes are not used, and none lead to an access outside of the image, to an error or, unless
// they are forged, to other pixels. Takes about as long as decoding the whole image. Returns: empty
// if no hints would make the image faster, or if it is damaged. The function keeps its working
// memory between calls. Threads: one function, and its copies, for each thread.
std::function<std::vector<std::byte>(Bytes encoded)> hint_maker();

// Returns a decoder for all formats that `probe` knows. It passes each job to the decoder of the
// job's format. Errors: those of check_jpeg_environment (jpeg/jpeg_decoder.h)
// and check_png_environment (png/png_decoder.h).
std::unique_ptr<Decoder> make_decoder();

// Decodes one whole image, with the number of channels that `output` has. Returns:
// DecodeJob::tolerated. Errors: thrown, as in DecodeJob::error.
uint32_t decode_whole(Decoder& decoder, const EncodedImage& encoded, const ImageInfo& info,
                      ImageView output);

// As `decode_whole`, but decodes all values of the image.
uint32_t decode_all_values(Decoder& decoder, const EncodedImage& encoded, const ImageInfo& info,
                           ValueEncoding encoding, RawView values);

// As `decode_whole`, but with the number of channels of OpenCV's IMREAD_UNCHANGED: 1 for a grey
// image (including a BMP with a grey palette), 4 for an image with alpha (including alpha in its
// palette), else 3 (including CMYK). `memory` must return an output of size info.stored with the
// given number of channels; it may be called twice. Returns: the last output that `memory`
// returned.
ImageView decode_as_stored(Decoder& decoder, const EncodedImage& encoded, const ImageInfo& info,
                           const std::function<ImageView(int64_t channels)>& memory);

}  // namespace fuelrail
