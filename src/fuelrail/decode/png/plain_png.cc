#include "fuelrail/decode/png/plain_png.h"

#include <string_view>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/image_format.h"
#include "fuelrail/decode/png/png_chunks.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail::png {
namespace {

// libspng refuses a PNG with more than 1,000 ancillary chunks of the kinds that it keeps, or whose
// kept chunks, stored and inflated, need more than 16 MiB. It inflates into memory that it doubles,
// so half of that is certainly enough.
constexpr int kMostKept = 1000;
constexpr uint64_t kMostKeptBytes = 8 << 20;
constexpr uint64_t kBytesAroundKept = 256;
constexpr uint64_t kPaletteFactor = 3;  // an entry's bytes, and 10 of memory for 6 or more

constexpr size_t kMostDataChunks = 1 << 16;  // limits the list of them to 1 MiB

class Reader {
 public:
  Reader(Bytes encoded, PlainPng& png) : chunks_(encoded), png_(png) {}

  PngKind read() { return is_plain() ? PngKind::kPlain : refused_; }

 private:
  enum class Part { kBefore, kData, kAfter };

  // Whether it is kPlain; otherwise `refused_` says what it is.
  bool is_plain() {
    png_.palette.fill({});
    png_.transparent.reset();
    png_.data.clear();
    png_.data_bytes = 0;
    std::optional<Chunk> chunk = next();
    if (!chunk || chunk->type != "IHDR" || !take_header(chunk->payload)) return false;
    while ((chunk = next())) {
      if (chunk->type == "IEND") {
        return chunk->payload.empty() && !png_.data.empty() && chunks_.is_at_end();
      }
      if (!(chunk->type == "IDAT" ? take_data(chunk->payload) : take_other(*chunk))) return false;
    }
    return false;
  }

  bool refuse_kind() {
    refused_ = PngKind::kOther;
    return false;
  }

  // Empty: there is no whole chunk with the right checksum.
  std::optional<Chunk> next() {
    std::optional<Chunk> chunk = chunks_.next();
    const bool is_whole = chunk && chunk->payload.size() <= kMaxPngSide;
    return is_whole && crc32(chunk->checked) == chunk->crc ? chunk : std::nullopt;
  }

  bool take_header(Bytes payload) {
    if (payload.size() != kHeaderBytes) return false;
    const Header header(payload);
    const auto is_side = [](uint32_t side) { return side > 0 && side <= fuelrail::kMaxSide; };
    if (!is_side(header.width) || !is_side(header.height) || header.channels() == 0 ||
        !header.has_known_methods()) {
      return false;
    }
    if (header.interlacing != 0) return refuse_kind();
    png_.size = {header.height, header.width};
    png_.type = header.type;
    png_.bits = header.bits;
    png_.bits_per_pixel = samples_of(png_.type) * png_.bits;
    png_.row_bytes = (png_.size.width * png_.bits_per_pixel + 7) / 8;
    png_.has_alpha = png_.type == ColourType::kGreyAlpha || png_.type == ColourType::kColourAlpha;
    return true;
  }

  bool take_data(Bytes data) {
    if (part_ == Part::kAfter) return false;
    if (png_.type == ColourType::kPalette && colours_ == 0) return false;
    if (png_.data.size() == kMostDataChunks) return refuse_kind();
    part_ = Part::kData;
    png_.data.push_back(data);
    png_.data_bytes += data.size();
    return true;
  }

  bool take_other(const Chunk& chunk) {
    if (part_ == Part::kData) part_ = Part::kAfter;
    if (chunk.type == "PLTE") return take_palette(chunk.payload);
    if (chunk.type == "tRNS") return take_transparency(chunk.payload);
    const bool is_ancillary = (chunk.type[0] & 0x20) != 0;
    if (!is_ancillary || part_ == Part::kAfter) return is_ancillary;  // libspng reads none behind
    if (chunk.type == "bKGD" || chunk.type == "hIST") is_palette_over_ = true;
    return may_be_kept(chunk);
  }

  // Whether libspng has room for the chunk, if it keeps chunks of this kind.
  bool may_be_kept(const Chunk& chunk) {
    const std::string_view type = chunk.type;
    const bool is_text = type == "tEXt" || type == "zTXt" || type == "iTXt";
    if (!is_text && type != "eXIf" && type != "iCCP" && type != "sPLT") return true;
    if (chunk.payload.empty()) return false;
    uint64_t factor = 1;
    if (type == "zTXt" || type == "iCCP" || (type == "iTXt" && !is_plain_text(chunk.payload))) {
      factor = kMostInflated;
    }
    if (type == "sPLT") factor = kPaletteFactor;
    kept_bytes_ += kBytesAroundKept + chunk.payload.size() * factor;
    return (++kept_ <= kMostKept && kept_bytes_ <= kMostKeptBytes) || refuse_kind();
  }

  // Whether an iTXt chunk says that it is not compressed: keyword, 0, flag.
  static bool is_plain_text(Bytes payload) {
    const size_t end = as_text(payload).find('\0');
    return end != std::string_view::npos && end + 1 < payload.size() &&
           payload[end + 1] == std::byte{0};
  }

  bool take_palette(Bytes colours) {
    const bool has_colour = png_.type != ColourType::kGrey && png_.type != ColourType::kGreyAlpha;
    const size_t most = png_.type == ColourType::kPalette ? size_t{1} << png_.bits : 256;
    if (part_ != Part::kBefore || is_palette_over_ || colours_ > 0 || !has_colour) return false;
    colours_ = colours.size() / 3;
    if (colours.size() % 3 != 0 || colours_ == 0 || colours_ > most) return false;
    for (size_t i = 0; i < colours_; ++i) {
      const auto at = [&](size_t k) { return std::to_integer<uint8_t>(colours[3 * i + k]); };
      png_.palette[i] = {at(0), at(1), at(2), 255};
    }
    return true;
  }

  bool take_transparency(Bytes values) {
    if (part_ != Part::kBefore || has_transparency_) return false;
    has_transparency_ = is_palette_over_ = true;
    switch (png_.type) {
      case ColourType::kGrey:
        return values.size() == 2;  // not used (PlainPng::has_alpha)
      case ColourType::kColour:
        if (values.size() != 6) return false;
        png_.transparent = {load_be<uint16_t>(values.data()), load_be<uint16_t>(values.data() + 2),
                            load_be<uint16_t>(values.data() + 4)};
        break;
      case ColourType::kPalette:
        if (values.empty() || values.size() > colours_) return false;
        for (size_t i = 0; i < values.size(); ++i) {
          png_.palette[i].alpha = std::to_integer<uint8_t>(values[i]);
        }
        break;
      default:
        return false;
    }
    png_.has_alpha = true;
    return true;
  }

  Chunks chunks_;
  PlainPng& png_;
  PngKind refused_ = PngKind::kOdd;
  Part part_ = Part::kBefore;
  size_t colours_ = 0;
  bool is_palette_over_ = false;  // a chunk that must follow it has been read
  bool has_transparency_ = false;
  int kept_ = 0;
  uint64_t kept_bytes_ = 0;
};

}  // namespace

PngKind read_plain_png(Bytes encoded, PlainPng& png) {
  return announces(kPngFormat, encoded) ? Reader(encoded, png).read() : PngKind::kOdd;
}

}  // namespace fuelrail::png
