#include "fuelrail/decode/png/png_chunks.h"

#include "fuelrail/base/endian.h"

namespace fuelrail::png {
Header::Header(Bytes payload)
    : width(load_be<uint32_t>(payload.data())),
      height(load_be<uint32_t>(payload.data() + 4)),
      bits(std::to_integer<uint8_t>(payload[8])),
      type(static_cast<ColourType>(payload[9])),
      compression(std::to_integer<uint8_t>(payload[10])),
      filters(std::to_integer<uint8_t>(payload[11])),
      interlacing(std::to_integer<uint8_t>(payload[12])) {}

int Header::channels() const {
  const bool whole_bytes = bits == 8 || bits == 16;
  const bool packed = bits == 1 || bits == 2 || bits == 4;
  switch (type) {
    case ColourType::kGrey:
      return whole_bytes || packed ? 1 : 0;
    case ColourType::kPalette:
      return bits == 8 || packed ? 3 : 0;
    case ColourType::kColour:
    case ColourType::kGreyAlpha:
    case ColourType::kColourAlpha:
      return whole_bytes ? samples_of(type) : 0;
  }
  return 0;
}

std::optional<Chunk> Chunks::next() {
  const Bytes rest = encoded_.subspan(at_);
  if (rest.size() < kAroundPayload) return std::nullopt;
  const size_t length = load_be<uint32_t>(rest.data());
  if (length > rest.size() - kAroundPayload) return std::nullopt;
  at_ += length + kAroundPayload;
  return Chunk{.type = as_text(rest).substr(4, 4),
               .payload = rest.subspan(8, length),
               .checked = rest.subspan(4, length + 4),
               .crc = load_be<uint32_t>(rest.data() + length + 8)};
}

}  // namespace fuelrail::png
