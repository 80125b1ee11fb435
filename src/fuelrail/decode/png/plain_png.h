// The chunks of a PNG that fuelrail decodes by itself (PNG, third edition, sections 5 and 11).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/decode/png/png_chunks.h"

namespace fuelrail::png {

struct Rgba {
  uint8_t red = 0, green = 0, blue = 0, alpha = 255;
};

struct PlainPng {
  // The distance, in bytes, of samples that filters compare.
  int bytes_per_pixel() const { return (bits_per_pixel + 7) / 8; }

  Size size;
  ColourType type = ColourType::kGrey;
  int bits = 8;  // of a sample
  int bits_per_pixel = 8;
  int64_t row_bytes = 0;            // without the filter
  std::array<Rgba, 256> palette{};  // an index without a colour is black, as in libspng
  // The colour of transparent pixels; of samples of 8 bits, only the lower 8 bits count.
  std::optional<std::array<uint16_t, 3>> transparent{};
  bool has_alpha = false;  // a channel, or transparent colours; not transparent grey, as in OpenCV
  std::vector<Bytes> data{};  // of the IDAT chunks
  size_t data_bytes = 0;
};

enum class PngKind : uint8_t {
  kPlain,
  kOther,  // interlaced, or with more IDAT or ancillary chunks than the decoders have room for
  kOdd,    // the signature, a checksum, or a chunk that pixels depend on is not what encoders write
};

// Returns: the kind, as far as it is known without the compressed data. Unless it is kPlain, `png`
// is undefined, and libspng must decode the image. Errors: std::bad_alloc.
[[nodiscard]] PngKind read_plain_png(Bytes encoded, PlainPng& png);

}  // namespace fuelrail::png
