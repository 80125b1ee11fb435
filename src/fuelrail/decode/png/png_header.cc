#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/exif.h"
#include "fuelrail/decode/png/png_chunks.h"
#include "fuelrail/decode/png/png_decoder.h"

namespace fuelrail {
namespace {

void read_header(const png::Header& header, ImageInfo& info) {
  if (header.width == 0 || header.height == 0) {
    throw DecodeError(
        "the PNG declares a height or width of 0",
        {.found = fmt::format("{} x {} (height x width)", header.height, header.width)});
  }
  if (header.width > png::kMaxPngSide || header.height > png::kMaxPngSide) {
    throw DecodeError("the PNG declares a height or width above 2^31 - 1 pixels");
  }
  info.stored = {header.height, header.width};
  info.channels = header.channels();
  info.alpha = info.channels == 2 || info.channels == 4;
  info.bits = header.bits;
  info.palette = header.type == png::ColourType::kPalette;
  if (info.palette || header.type == png::ColourType::kGrey) {
    info.values = header.bits == 16 ? DType::kUint16 : DType::kUint8;
  }
  if (info.channels == 0) {
    throw DecodeError(
        fmt::format("the PNG declares colour type {} with bit depth {}, a combination that "
                    "PNG does not allow",
                    static_cast<int>(header.type), header.bits));
  }
  if (!header.has_known_methods()) {
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
  png::Chunks chunks(encoded);
  const std::optional<png::Chunk> header = chunks.next();
  constexpr size_t kLeast = png::kSignatureBytes + png::kAroundPayload + png::kHeaderBytes;
  if (!header && encoded.size() < kLeast) {
    throw TruncatedError(
        fmt::format("the PNG ends inside its header, after {} bytes", encoded.size()));
  }
  if (!header || header->type != "IHDR" || header->payload.size() != png::kHeaderBytes) {
    throw DecodeError("the PNG does not begin with an IHDR chunk of 13 bytes");
  }
  ImageInfo info;
  info.format = &kPngFormat;
  read_header(png::Header(header->payload), info);

  // The loop ends at damage after the header, which the decoder reports.
  Bytes exif, xmp;
  while (const auto chunk = chunks.next()) {
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
