// How images of each format are decoded: the one table of decoders.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_format.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail {

struct Decoding {
  const ImageFormat* format = nullptr;
  // Reads the header of bytes that begin with a signature of the format. Null: the container says
  // all of it.
  // Errors: as fuelrail::probe, which also checks the size.
  ImageInfo (*probe)(Bytes encoded) = nullptr;
  // Called by each worker at its first image of the format. Errors: StateError where this machine
  // cannot decode the format: the error of all its images, which no error policy passes over. Null
  // is such an error too. Anything else is the error of one image, and the maker is called again
  // for the next.
  std::unique_ptr<Decoder> (*make_decoder)() = nullptr;
  int64_t max_side = kMaxSide;
};

// Null for a format without a decoder. Lifetime: the process.
const Decoding* decoding_of(const ImageFormat* format);

// Of the format that the first bytes announce; null where they announce none.
const Decoding* announced_decoding(Bytes encoded);

// Whether the bytes end inside the signature of a format. Requires: they announce none.
bool is_cut_signature(Bytes encoded);

// Errors: DecodeError for an image that does not begin as its codec's format does. Nothing is
// checked without a codec, or of a format without signatures.
void require_described_format(const EncodedImage& image);

std::string decoded_formats();  // "JPEG, PNG, WebP, BMP or TIFF": for messages

// For tests: as long as it lives, the table has one more row. Requires: one at a time; made and
// destroyed while no other thread decodes. Lifetime: the row outlives it.
class LentDecoding {
 public:
  explicit LentDecoding(const Decoding& row);
  ~LentDecoding();
  LentDecoding& operator=(LentDecoding&&) = delete;
};

}  // namespace fuelrail
