#include <fmt/format.h>
#include <webp/decode.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/decode/exif.h"
#include "fuelrail/decode/webp/webp_decoder.h"

namespace fuelrail {
namespace {

constexpr size_t kRiffHeaderBytes = 12, kChunkHeaderBytes = 8;
constexpr uint8_t kXmpFlag = 0x04, kExifFlag = 0x08;
constexpr int kLossless = 2;  // WebPBitstreamFeatures::format; 1 is lossy, 0 undefined or mixed

struct RiffChunk {
  std::string_view type;
  Bytes payload;
};

// Steps from chunk to chunk; ends at damage.
class ChunkWalk {
 public:
  explicit ChunkWalk(Bytes encoded) : bytes_(encoded) {
    const uint64_t declared = uint64_t{load_le<uint32_t>(encoded.data() + 4)} + 8;
    bytes_ = bytes_.first(std::min<uint64_t>(bytes_.size(), declared));
  }

  std::optional<RiffChunk> next() {
    if (bytes_.size() < at_ || bytes_.size() - at_ < kChunkHeaderBytes) return std::nullopt;
    const Bytes rest = bytes_.subspan(at_);
    const uint64_t length = load_le<uint32_t>(rest.data() + 4);
    if (length > rest.size() - kChunkHeaderBytes) return std::nullopt;
    at_ += kChunkHeaderBytes + length + length % 2;
    return RiffChunk{as_text(rest).substr(0, 4), rest.subspan(kChunkHeaderBytes, length)};
  }

 private:
  Bytes bytes_;
  size_t at_ = kRiffHeaderBytes;
};

// A file without an extended header has no metadata, even if metadata chunks follow.
int orientation_of(Bytes encoded) {
  ChunkWalk walk(encoded);
  const std::optional<RiffChunk> first = walk.next();
  if (!first || first->type != "VP8X" || first->payload.empty()) return 1;
  const auto flags = std::to_integer<uint8_t>(first->payload[0]);
  if ((flags & (kExifFlag | kXmpFlag)) == 0) return 1;
  Bytes exif, xmp;
  while (const auto chunk = walk.next()) {
    if (chunk->type == "EXIF" && (flags & kExifFlag) != 0 && exif.empty()) exif = chunk->payload;
    if (chunk->type == "XMP " && (flags & kXmpFlag) != 0 && xmp.empty()) xmp = chunk->payload;
  }
  return orientation_from(exif, xmp);
}

WebPBitstreamFeatures features_of(Bytes encoded) {
  WebPBitstreamFeatures features;
  const auto* data = reinterpret_cast<const uint8_t*>(encoded.data());
  switch (WebPGetFeatures(data, encoded.size(), &features)) {
    case VP8_STATUS_OK:
      return features;
    case VP8_STATUS_NOT_ENOUGH_DATA:
      throw TruncatedError(
          fmt::format("the WebP ends inside its header, after {} bytes", encoded.size()));
    default:
      throw DecodeError("the WebP's header is damaged");
  }
}

int64_t load_le24(const std::byte* at) {
  return load_le<uint16_t>(at) | std::to_integer<int64_t>(at[2]) << 16;
}

}  // namespace

ImageInfo probe_webp(Bytes encoded) {
  const WebPBitstreamFeatures features = features_of(encoded);
  ImageInfo info;
  info.format = &kWebpFormat;
  info.stored = {features.height, features.width};
  if (features.width <= 0 || features.height <= 0) {
    throw DecodeError("the WebP declares a height or width of 0");
  }
  info.alpha = features.has_alpha != 0;
  info.channels = info.alpha ? 4 : 3;
  info.lossy = features.format != kLossless;
  info.orientation = orientation_of(encoded);
  return info;
}

WebpFrame first_frame(Bytes encoded, const ImageInfo& info) {
  if (!features_of(encoded).has_animation) return {encoded, whole(info.stored)};
  constexpr size_t kFrameHeaderBytes = 16;
  ChunkWalk walk(encoded);
  while (const auto chunk = walk.next()) {
    if (chunk->type != "ANMF") continue;
    const Bytes header = chunk->payload;
    if (header.size() < kFrameHeaderBytes) break;
    WebpFrame frame{header.subspan(kFrameHeaderBytes),
                    {2 * load_le24(header.data() + 3), 2 * load_le24(header.data()),
                     1 + load_le24(header.data() + 9), 1 + load_le24(header.data() + 6)}};
    if (!frame.place.inside(info.stored)) {
      throw DecodeError("the first frame of the animated WebP extends beyond the canvas");
    }
    return frame;
  }
  throw TruncatedError("the animated WebP ends before its first frame is complete");
}

}  // namespace fuelrail
