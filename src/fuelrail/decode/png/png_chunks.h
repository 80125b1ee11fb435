// The chunks of a PNG (PNG, third edition, sections 5 and 11.2.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fuelrail/base/bytes.h"

namespace fuelrail::png {

inline constexpr size_t kSignatureBytes = 8;
inline constexpr size_t kHeaderBytes = 13;
// The most bytes that deflate expands one byte to: two bits stand for up to 258 bytes.
inline constexpr uint64_t kMostInflated = 1032;
inline constexpr size_t kAroundPayload = 12;         // length and type before it, CRC behind it
inline constexpr uint32_t kMaxPngSide = 0x7fffffff;  // and the most bytes of a payload

enum class ColourType : uint8_t {
  kGrey = 0,
  kColour = 2,
  kPalette = 3,
  kGreyAlpha = 4,
  kColourAlpha = 6,
};

// The stored samples of a pixel.
constexpr int samples_of(ColourType type) {
  switch (type) {
    case ColourType::kColour:
      return 3;
    case ColourType::kGreyAlpha:
      return 2;
    case ColourType::kColourAlpha:
      return 4;
    default:
      return 1;
  }
}

struct Chunk {
  std::string_view type;
  Bytes payload;
  Bytes checked;  // what the CRC-32 is of: type and payload
  uint32_t crc = 0;
};

// The fields of an IHDR chunk. Requires: kHeaderBytes.
struct Header {
  explicit Header(Bytes payload);

  // The samples of a pixel as decoders write them (3 for a palette), or 0 if the standard does not
  // allow this type with this bit depth.
  int channels() const;
  // Whether methods of compression, filters and interlacing are those of the standard.
  bool has_known_methods() const { return compression == 0 && filters == 0 && interlacing <= 1; }

  uint32_t width = 0;
  uint32_t height = 0;
  uint8_t bits = 0;                     // of a sample
  ColourType type = ColourType::kGrey;  // or a number that the standard does not know
  uint8_t compression = 0;
  uint8_t filters = 0;
  uint8_t interlacing = 0;
};

// Reads one chunk after the other. Checks no CRC.
class Chunks {
 public:
  // Requires: `encoded` has at least kSignatureBytes.
  explicit Chunks(Bytes encoded) : encoded_(encoded) {}

  // Empty if no whole chunk is left.
  std::optional<Chunk> next();
  bool is_at_end() const { return at_ == encoded_.size(); }

 private:
  Bytes encoded_;
  size_t at_ = kSignatureBytes;
};

}  // namespace fuelrail::png
