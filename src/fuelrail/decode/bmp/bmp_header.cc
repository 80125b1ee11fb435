#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/decode/bmp/bmp_decoder.h"

namespace fuelrail {
namespace {

constexpr uint64_t kFileHeaderBytes = 14;
constexpr uint32_t kOs2Header = 12, kInfoHeader = 40;
constexpr std::array<uint32_t, 7> kHeaderSizes{12, 40, 52, 56, 64, 108, 124};

// Values of the header's compression field.
constexpr uint32_t kRaw = 0, kRle8 = 1, kRle4 = 2, kBitFields = 3;

// Reads integers of the image. Errors: TruncatedError for one beyond the image's end.
class Fields {
 public:
  explicit Fields(Bytes encoded) : bytes_(encoded) {}

  template <typename T>
  T at(uint64_t offset) const {
    if (bytes_.size() < sizeof(T) || offset > bytes_.size() - sizeof(T)) {
      throw TruncatedError(
          fmt::format("the BMP ends inside its header, after {} bytes", bytes_.size()));
    }
    return load_le<T>(bytes_.data() + offset);
  }

 private:
  Bytes bytes_;
};

BmpChannel channel_of(uint32_t mask) {
  if (mask == 0) return {};
  const int shift = std::countr_zero(mask);
  const uint32_t most = mask >> shift;
  if ((most & (most + 1)) != 0) {
    throw UnsupportedError("a colour mask of the BMP has gaps between its bits",
                           {.found = fmt::format("{:#x}", mask)});
  }
  return {shift, most};
}

using Masks = std::array<uint32_t, 4>;

// The masks in the header or directly after it.
Masks read_masks(const Fields& fields, uint32_t header_bytes) {
  Masks masks{};
  const uint64_t at = kFileHeaderBytes + kInfoHeader;
  const size_t count = header_bytes >= 56 ? 4 : 3;
  for (size_t i = 0; i < count; ++i) masks[i] = fields.at<uint32_t>(at + 4 * i);
  return masks;
}

Masks usual_masks(int bits) {
  if (bits == 16) return {0x7c00, 0x3e0, 0x1f, 0};
  return {0xff0000, 0xff00, 0xff, 0};
}

void set_channels(const Masks& masks, BmpHeader& header) {
  std::transform(masks.begin(), masks.end(), header.channels.begin(), channel_of);
  uint64_t sum = 0, either = 0;
  for (const uint32_t mask : masks) {
    sum += mask;
    either |= mask;
  }
  const bool any_missing = masks[0] == 0 || masks[1] == 0 || masks[2] == 0;
  if (any_missing || sum != either || either >> header.bits != 0) {
    throw UnsupportedError("the BMP's colour masks are missing, overlap or do not fit in a pixel",
                           {.found = fmt::format("{:#x}, {:#x}, {:#x}, {:#x}", masks[0], masks[1],
                                                 masks[2], masks[3])});
  }
}

// Size, depth and compression of the header that begins at byte 14.
uint32_t read_shape(const Fields& fields, uint32_t header_bytes, BmpHeader& header) {
  if (header_bytes == kOs2Header) {
    header.size = {fields.at<uint16_t>(20), fields.at<uint16_t>(18)};
    header.bits = fields.at<uint16_t>(24);
    return kRaw;
  }
  const auto width = fields.at<int32_t>(18), height = fields.at<int32_t>(22);
  header.top_down = height < 0;
  header.size = {height < 0 ? -int64_t{height} : height, width};
  header.bits = fields.at<uint16_t>(28);
  return fields.at<uint32_t>(30);
}

void check_shape(const BmpHeader& header, uint32_t compression) {
  if (header.size.height == 0 || header.size.width <= 0 || header.size.height > 0x7fffffff) {
    throw DecodeError(
        "the BMP declares an invalid size",
        {.found = fmt::format("{} x {} (height x width)", header.size.height, header.size.width)});
  }
  constexpr std::array<int, 6> kDepths{1, 4, 8, 16, 24, 32};
  if (std::find(kDepths.begin(), kDepths.end(), header.bits) == kDepths.end()) {
    throw UnsupportedError(
        "the BMP's number of bits per pixel is not supported",
        {.expected = "1, 4, 8, 16, 24 or 32", .found = fmt::format("{}", header.bits)});
  }
  const bool fits = compression == kRaw || (compression == kRle8 && header.bits == 8) ||
                    (compression == kRle4 && header.bits == 4) ||
                    (compression == kBitFields && header.bits >= 16);
  if (!fits) {
    throw UnsupportedError(
        "the BMP's compression is not supported",
        {.expected =
             "no compression, RLE4 (4 bits per pixel), RLE8 (8 bits per pixel) or bit fields "
             "(16, 24 or 32 bits per pixel)",
         .found = fmt::format("compression {} ({} bits per pixel)", compression, header.bits)});
  }
}

// Whether all palette entries that pixels can refer to and that the file contains are grey.
bool has_grey_palette(Bytes encoded, const BmpHeader& header) {
  if (header.bits > 8) return false;
  const uint64_t entries = std::min(header.palette_entries, 1u << header.bits);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t at = header.palette_at + i * header.palette_entry_bytes;
    if (at + 3 > encoded.size()) break;
    if (encoded[at] != encoded[at + 1] || encoded[at] != encoded[at + 2]) return false;
  }
  return true;
}

}  // namespace

BmpHeader parse_bmp_header(Bytes encoded) {
  const Fields fields(encoded);
  const auto header_bytes = fields.at<uint32_t>(kFileHeaderBytes);
  if (std::find(kHeaderSizes.begin(), kHeaderSizes.end(), header_bytes) == kHeaderSizes.end()) {
    throw UnsupportedError("the BMP's header has an unknown size",
                           {.expected = "12, 40, 52, 56, 64, 108 or 124 bytes",
                            .found = fmt::format("{}", header_bytes)});
  }
  BmpHeader header;
  const uint32_t compression = read_shape(fields, header_bytes, header);
  check_shape(header, compression);
  if (compression == kRle8) header.compression = BmpCompression::kRle8;
  if (compression == kRle4) header.compression = BmpCompression::kRle4;

  header.palette_at = kFileHeaderBytes + header_bytes;
  if (compression == kBitFields && header_bytes < 52) header.palette_at += 12;
  if (header.bits > 8) {
    Masks masks = usual_masks(header.bits);
    if (compression == kBitFields) masks = read_masks(fields, header_bytes);
    if (masks == Masks{}) masks = usual_masks(header.bits);
    set_channels(masks, header);
  } else {
    header.palette_entry_bytes = header_bytes == kOs2Header ? 3 : 4;
    if (header_bytes != kOs2Header) header.palette_entries = fields.at<uint32_t>(46);
    if (header.palette_entries == 0) header.palette_entries = 1u << header.bits;
    if (header.palette_entries > 65536) {
      throw DecodeError("the BMP declares a palette of more than 65536 colours",
                        {.found = fmt::format("{}", header.palette_entries)});
    }
  }

  // Some writers store 0 or the palette's position; the pixels then follow the palette.
  header.pixels_at = fields.at<uint32_t>(10);
  const uint64_t palette_bytes = uint64_t{header.palette_entries} * header.palette_entry_bytes;
  if (header.pixels_at == 0 ||
      (header.bits <= 8 && header.pixels_at == kFileHeaderBytes + header_bytes)) {
    header.pixels_at = header.palette_at + palette_bytes;
  }
  return header;
}

ImageInfo probe_bmp(Bytes encoded) {
  const BmpHeader header = parse_bmp_header(encoded);
  ImageInfo info;
  info.format = &kBmpFormat;
  info.stored = header.size;
  info.alpha = header.channels[3].most != 0;
  info.channels = info.alpha ? 4 : 3;
  info.grey_palette = has_grey_palette(encoded, header);
  info.palette = header.bits <= 8;
  if (info.palette) info.values = DType::kUint8;
  return info;
}

}  // namespace fuelrail
