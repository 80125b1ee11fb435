// BMP, implemented here: palettes of 1, 4 and 8 bits, plain or run-length encoded; 16, 24 and 32
// bits with default or declared masks; bottom-up and top-down; headers of Windows 3 to 5 and OS/2,
// as Pillow reads them. (Microsoft, "Bitmap Structures" in wingdi.h.)
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "fuelrail/decode/decoder.h"

namespace fuelrail {

enum class BmpCompression : uint8_t { kNone, kRle8, kRle4 };

// The position of a channel's bits in a pixel.
struct BmpChannel {
  int shift = 0;
  uint32_t most = 0;  // the largest value; 0 if the channel does not exist
};

// The layout of the stored pixels.
struct BmpHeader {
  Size size;
  bool top_down = false;
  int bits = 0;  // per pixel: 1, 4, 8 (palette), 16, 24, 32
  BmpCompression compression = BmpCompression::kNone;
  std::array<BmpChannel, 4> channels{};  // red, green, blue, alpha; for 16 bits and more
  uint64_t palette_at = 0;               // byte position in the image
  uint32_t palette_entries = 0;          // pixels can refer to at most 256 of them
  uint32_t palette_entry_bytes = 0;      // 3 or 4: blue, green, red, unused
  uint64_t pixels_at = 0;                // byte position in the image

  // The number of bytes of a stored row: without padding, and padded to a multiple of 4.
  uint64_t row_bytes() const { return (static_cast<uint64_t>(size.width) * bits_() + 7) / 8; }
  uint64_t padded_row_bytes() const { return (row_bytes() + 3) / 4 * 4; }

 private:
  uint64_t bits_() const { return static_cast<uint64_t>(bits); }
};

// Requires: `encoded` starts with "BM". Allocates nothing.
// Errors: DecodeError, TruncatedError, UnsupportedError.
BmpHeader parse_bmp_header(Bytes encoded);

// Errors: as for `probe`, which also checks the number of pixels.
ImageInfo probe_bmp(Bytes encoded);

// The pixels equal Pillow's. Only the box's rows are read, except that run-length encoded images
// are read to their end. A palette index that is out of range is a DecodeError; a pixel that
// run-length encoding omits gets the palette's first colour.
std::unique_ptr<Decoder> make_bmp_decoder();

}  // namespace fuelrail
