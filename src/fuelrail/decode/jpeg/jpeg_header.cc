#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/exif.h"
#include "fuelrail/decode/jpeg/jpeg_decoder.h"

namespace fuelrail {
namespace {

constexpr uint8_t kSoi = 0xd8, kEoi = 0xd9, kSos = 0xda, kApp1 = 0xe1;

struct Segment {
  uint8_t marker = 0;
  Bytes payload;      // after the two length bytes
  size_t offset = 0;  // position of the marker code
};

bool has_no_payload(uint8_t marker) {
  return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7);  // TEM, RST0 to RST7
}

// Steps from marker to marker. Skips fill bytes and, like libjpeg, extraneous bytes.
class MarkerWalk {
 public:
  MarkerWalk(Bytes encoded, size_t at) : bytes_(encoded), at_(at) {}

  Segment next() {
    for (;;) {
      const uint8_t marker = next_code();
      const size_t offset = at_ - 1;
      if (has_no_payload(marker)) continue;
      if (marker == kSoi || marker == kEoi) return {marker, {}, offset};
      if (bytes_.size() - at_ < 2) truncated();
      const size_t length = at(at_) << 8 | at(at_ + 1);
      if (length < 2) {
        throw DecodeError(fmt::format("a JPEG segment declares an invalid length at byte {} "
                                      "of the image",
                                      at_),
                          {.expected = "2 or more", .found = std::to_string(length)});
      }
      if (length > bytes_.size() - at_) truncated();
      const Bytes payload = bytes_.subspan(at_ + 2, length - 2);
      at_ += length;
      return {marker, payload, offset};
    }
  }

 private:
  size_t at(size_t i) const { return std::to_integer<size_t>(bytes_[i]); }

  uint8_t next_code() {
    for (;;) {
      const void* found = at_ < bytes_.size()
                              ? std::memchr(bytes_.data() + at_, 0xff, bytes_.size() - at_)
                              : nullptr;
      if (found == nullptr) truncated();
      at_ = static_cast<size_t>(static_cast<const std::byte*>(found) - bytes_.data());
      while (at_ < bytes_.size() && at(at_) == 0xff) ++at_;
      if (at_ >= bytes_.size()) truncated();
      const size_t code = at(at_++);
      if (code != 0) return static_cast<uint8_t>(code);
    }
  }

  [[noreturn]] void truncated() const {
    throw TruncatedError(
        fmt::format("the JPEG ends inside its header, after {} bytes", bytes_.size()));
  }

  Bytes bytes_;
  size_t at_;
};

// The name of an unsupported kind of frame; null if the marker's frame is supported or is no frame.
const char* refusal(uint8_t marker) {
  switch (marker) {
    case 0xc3:
      return "lossless JPEG";
    case 0xc5:
    case 0xc6:
    case 0xc7:
    case 0xde:
      return "hierarchical JPEG";
    case 0xc9:
    case 0xca:
      return "arithmetic coding";
    case 0xcb:
    case 0xcd:
    case 0xce:
    case 0xcf:
      return "lossless or hierarchical JPEG with arithmetic coding";
    case 0xf7:
      return "JPEG-LS";
    default:
      return nullptr;
  }
}

bool is_frame(uint8_t marker) { return marker >= 0xc0 && marker <= 0xc2; }

// Whether a scaled decode returns all planes at the size of the finest one. `component` returns the
// sampling factors of a component: horizontal << 4 | vertical.
template <typename Component>
bool is_scalable(int count, Component component) {
  int most_h = 1;
  int most_v = 1;
  for (int i = 0; i < count; ++i) {
    most_h = std::max(most_h, component(i) >> 4);
    most_v = std::max(most_v, component(i) & 15);
  }
  for (int i = 0; i < count; ++i) {
    const int h = component(i) >> 4;
    const int v = component(i) & 15;
    if (h == 0 || v == 0 || most_h * v != most_v * h || most_h % h != 0) return false;
    if (most_h / h == 3) return false;
  }
  return true;
}

void read_frame(const Segment& segment, ImageInfo& info) {
  const auto byte = [&](size_t i) { return std::to_integer<int>(segment.payload[i]); };
  const size_t size = segment.payload.size();
  if (size < 6 || size != 6 + 3 * static_cast<size_t>(byte(5))) {
    throw DecodeError(
        fmt::format("the JPEG's frame header at byte {} of the image has the wrong "
                    "length",
                    segment.offset));
  }
  if (byte(0) != 8) {
    throw UnsupportedError("the JPEG's number of bits per sample is not supported",
                           {.expected = "8", .found = std::to_string(byte(0))});
  }
  info.stored = {byte(1) << 8 | byte(2), byte(3) << 8 | byte(4)};
  info.channels = byte(5);
  if (info.stored.height == 0) {
    throw DecodeError(
        "the JPEG declares a height of 0 (a height in a DNL marker after the first scan is not "
        "supported)");
  }
  if (info.stored.width == 0) throw DecodeError("the JPEG declares a width of 0");
  if (info.channels != 1 && info.channels != 3 && info.channels != 4) {
    throw UnsupportedError("the JPEG's number of components is not supported",
                           {.expected = "1, 3 or 4", .found = std::to_string(info.channels)});
  }
  info.scalable =
      is_scalable(info.channels, [&](int i) { return byte(7 + 3 * static_cast<size_t>(i)); });
}

}  // namespace

ImageInfo probe_jpeg(Bytes encoded) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  constexpr std::string_view kXmp("http://ns.adobe.com/xap/1.0/\0", 29);
  ImageInfo info;
  info.format = &kJpegFormat;
  Bytes exif, xmp;
  MarkerWalk walk(encoded, 2);
  for (;;) {
    const Segment segment = walk.next();
    if (segment.marker == kSos) break;
    if (segment.marker == kSoi || segment.marker == kEoi) {
      throw DecodeError(fmt::format(
          "the JPEG has {} before its first scan, at byte {} of the image",
          segment.marker == kSoi ? "another start marker" : "its end marker", segment.offset));
    }
    if (const char* kind = refusal(segment.marker)) {
      throw UnsupportedError(fmt::format("the JPEG uses {}, which is not supported", kind),
                             {.remedy = "Convert it to baseline JPEG"});
    }
    if (is_frame(segment.marker)) {
      if (info.channels != 0) throw DecodeError("the JPEG has two frame headers");
      read_frame(segment, info);
    }
    const std::string_view text = as_text(segment.payload);
    if (segment.marker != kApp1) continue;
    if (exif.empty() && text.starts_with(kExif)) exif = segment.payload.subspan(kExif.size());
    if (text.starts_with(kXmp)) xmp = segment.payload.subspan(kXmp.size());
  }
  if (info.channels == 0) throw DecodeError("the JPEG has a scan but no frame header");
  info.orientation = orientation_from(exif, xmp);
  info.lossy = true;
  if (info.channels == 1) info.values = DType::kUint8;
  return info;
}

void each_scan(Bytes encoded, size_t at, const std::function<void(Bytes header)>& take) {
  MarkerWalk walk(encoded, at);
  try {
    for (Segment segment = walk.next(); segment.marker != kEoi; segment = walk.next()) {
      if (segment.marker == kSos) take(segment.payload);
    }
  } catch (const Error&) {  // the end or damage; the decoder reports which
  }
}

}  // namespace fuelrail
