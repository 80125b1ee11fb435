#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/exif.h"
#include "fuelrail/decode/png/png_decoder.h"

namespace fuelrail {
namespace {

constexpr size_t kSignatureBytes = 8, kHeaderBytes = 13;
constexpr size_t kAroundPayload = 12;  // length and type before it, CRC after it

struct Chunk {
  std::string_view type;
  Bytes payload;
};

uint32_t load_be32(Bytes bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = at; i < at + 4; ++i) value = value << 8 | std::to_integer<uint32_t>(bytes[i]);
  return value;
}

// Returns the chunk at `at`, and moves `at` past it; empty if no complete chunk is left.
std::optional<Chunk> next_chunk(Bytes encoded, size_t& at) {
  const Bytes rest = encoded.subspan(at);
  if (rest.size() < kAroundPayload) return std::nullopt;
  const size_t length = load_be32(rest, 0);
  if (length > rest.size() - kAroundPayload) return std::nullopt;
  at += length + kAroundPayload;
  return Chunk{as_text(rest).substr(4, 4), rest.subspan(8, length)};
}

// The channels of a colour type, or 0 if the standard does not allow this type with this bit depth.
int channels_of(uint8_t colour_type, uint8_t bit_depth) {
  const bool whole_bytes = bit_depth == 8 || bit_depth == 16;
  const bool packed = bit_depth == 1 || bit_depth == 2 || bit_depth == 4;
  switch (colour_type) {
    case 0:  // grey
      return whole_bytes || packed ? 1 : 0;
    case 2:  // colour
      return whole_bytes ? 3 : 0;
    case 3:  // palette
      return bit_depth == 8 || packed ? 3 : 0;
    case 4:  // grey and alpha
      return whole_bytes ? 2 : 0;
    case 6:  // colour and alpha
      return whole_bytes ? 4 : 0;
    default:
      return 0;
  }
}

void read_header(Bytes header, ImageInfo& info) {
  const uint32_t width = load_be32(header, 0), height = load_be32(header, 4);
  if (width == 0 || height == 0) {
    throw DecodeError("the PNG declares a height or width of 0",
                      {.found = fmt::format("{} x {} (height x width)", height, width)});
  }
  constexpr uint32_t kMaxSide = 0x7fffffff;
  if (width > kMaxSide || height > kMaxSide) {
    throw DecodeError("the PNG declares a height or width above 2^31 - 1 pixels");
  }
  const auto bit_depth = std::to_integer<uint8_t>(header[8]);
  const auto colour_type = std::to_integer<uint8_t>(header[9]);
  info.stored = {height, width};
  info.channels = channels_of(colour_type, bit_depth);
  info.alpha = info.channels == 2 || info.channels == 4;
  info.bits = bit_depth;
  info.palette = colour_type == 3;
  if (info.palette || colour_type == 0) {
    info.values = bit_depth == 16 ? DType::kUint16 : DType::kUint8;
  }
  if (info.channels == 0) {
    throw DecodeError(
        fmt::format("the PNG declares colour type {} with bit depth {}, a combination that "
                    "PNG does not allow",
                    colour_type, bit_depth));
  }
  if (header[10] != std::byte{0} || header[11] != std::byte{0} || header[12] > std::byte{1}) {
    throw DecodeError("the PNG declares an unknown compression, filter or interlace method");
  }
}

// The XMP packet in an uncompressed iTXt chunk: keyword, 0, compression flag, method, language, 0,
// translated keyword, 0, text.
Bytes xmp_of(Bytes payload) {
  constexpr std::string_view kKeyword("XML:com.adobe.xmp\0\0", 19);
  return as_text(payload).starts_with(kKeyword) ? payload.subspan(kKeyword.size()) : Bytes{};
}

}  // namespace

ImageInfo probe_png(Bytes encoded) {
  size_t at = kSignatureBytes;
  const std::optional<Chunk> header = next_chunk(encoded, at);
  if (!header && encoded.size() < kSignatureBytes + kAroundPayload + kHeaderBytes) {
    throw TruncatedError(
        fmt::format("the PNG ends inside its header, after {} bytes", encoded.size()));
  }
  if (!header || header->type != "IHDR" || header->payload.size() != kHeaderBytes) {
    throw DecodeError("the PNG does not begin with an IHDR chunk of 13 bytes");
  }
  ImageInfo info;
  info.format = &kPngFormat;
  read_header(header->payload, info);

  // The loop ends at damage after the header, which the decoder reports.
  Bytes exif, xmp;
  while (const auto chunk = next_chunk(encoded, at)) {
    if (chunk->type == "IEND") break;
    if (chunk->type == "tRNS") info.alpha = true;
    if (chunk->type == "eXIf") exif = chunk->payload;
    if (const Bytes packet = chunk->type == "iTXt" ? xmp_of(chunk->payload) : Bytes{};
        !packet.empty()) {
      xmp = packet;
    }
  }
  info.orientation = orientation_from(exif, xmp);
  return info;
}

}  // namespace fuelrail
