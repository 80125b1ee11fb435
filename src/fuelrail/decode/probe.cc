#include "fuelrail/decode/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/bmp/bmp_header.h"
#include "fuelrail/decode/jpeg/jpeg_header.h"
#include "fuelrail/decode/png/png_header.h"
#include "fuelrail/decode/tiff/tiff_decoder.h"
#include "fuelrail/decode/webp/webp_header.h"

namespace fuelrail {
namespace {

using namespace std::string_view_literals;

struct Signature {
  size_t at;
  std::string_view bytes;
};

bool has(std::string_view text, const Signature& signature) {
  return text.size() >= signature.at && text.substr(signature.at).starts_with(signature.bytes);
}

// The formats that are decoded. The one table: what reads a header stands beside what announces it.
struct Known {
  ImageFormat format;
  const char* name;
  const char* extension;
  ImageInfo (*probe)(Bytes);
};
constexpr Known kKnown[] = {
    {ImageFormat::kJpeg, "jpeg", "jpg", probe_jpeg},  {ImageFormat::kPng, "png", "png", probe_png},
    {ImageFormat::kWebp, "webp", "webp", probe_webp}, {ImageFormat::kBmp, "bmp", "bmp", probe_bmp},
    {ImageFormat::kTiff, "tiff", "tif", probe_tiff},
};
const Known& known(ImageFormat format) { return kKnown[static_cast<size_t>(format)]; }

// Formats that are known by their first bytes, only to be named in the refusal.
struct Undecoded {
  Signature signature;
  const char* name;
};
constexpr Undecoded kUndecoded[] = {
    {{0, "GIF8"sv}, "GIF"},
    {{4, "ftypavif"sv}, "AVIF"},
    {{4, "ftypavis"sv}, "AVIF"},
    {{4, "ftyphe"sv}, "HEIC"},
    {{4, "ftypmif1"sv}, "HEIF"},
    {{4, "ftypmsf1"sv}, "HEIF"},
    {{4, "ftyp"sv}, "an ISO base media file (a video?)"},
    {{0, "\0\0\0\x0cjP  "sv}, "JPEG 2000"},
    {{0, "\xff\x4f\xff\x51"sv}, "JPEG 2000"},
    {{0, "\0\0\0\x0cJXL "sv}, "JPEG XL"},
    {{0, "\xff\x0a"sv}, "JPEG XL"},
    {{0, "8BPS"sv}, "Photoshop"},
    {{0, "\0\0\1\0"sv}, "ICO"},
    {{0, "\x76\x2f\x31\x01"sv}, "OpenEXR"},
    {{0, "#?RADIANCE"sv}, "Radiance HDR"},
    {{0, "qoif"sv}, "QOI"},
    {{0, "DDS "sv}, "DDS"},
    {{0, "\x8aMNG"sv}, "MNG"},
    {{0, "\x8bJNG"sv}, "JNG"},
    {{0, "%PDF"sv}, "PDF"},
    {{0, "P1"sv}, "PBM"},
    {{0, "P2"sv}, "PGM"},
    {{0, "P3"sv}, "PPM"},
    {{0, "P4"sv}, "PBM"},
    {{0, "P5"sv}, "PGM"},
    {{0, "P6"sv}, "PPM"},
    {{0, "<svg"sv}, "SVG"},
    {{0, "<?xml"sv}, "XML (SVG?)"},
};

[[noreturn]] void refuse(std::string_view text) {
  constexpr const char* kExpected = "JPEG, PNG, WebP, BMP or TIFF";
  constexpr const char* kRemedy = "Convert the image to JPEG or PNG";
  for (const Undecoded& undecoded : kUndecoded) {
    if (has(text, undecoded.signature)) {
      throw UnsupportedError("fuelrail does not decode this image's format",
                             {.expected = kExpected, .found = undecoded.name, .remedy = kRemedy});
    }
  }
  std::string found = "bytes";
  for (const char c : text.substr(0, 8)) found += fmt::format(" {:02x}", static_cast<uint8_t>(c));
  throw UnsupportedError("the bytes are no image that fuelrail knows",
                         {.expected = kExpected, .found = found, .remedy = kRemedy});
}

// Whether `text` is the begin of a signature, cut.
bool is_cut(std::string_view text) {
  return std::any_of(kImageSignatures.begin(), kImageSignatures.end(),
                     [text](const ImageSignature& signature) {
                       return signature.bytes.starts_with(text) ||
                              (!signature.further.empty() && text.size() < kImageSignatureBytes &&
                               text.starts_with(signature.bytes));
                     });
}

ImageInfo probe_header(Bytes encoded) {
  const std::string_view text = as_text(encoded);
  if (const auto format = announced_format(encoded)) return known(*format).probe(encoded);
  if (text.empty()) throw DecodeError("the image is empty");
  if (is_cut(text)) {
    throw TruncatedError(
        fmt::format("the image ends inside its signature, at byte {}", text.size()));
  }
  refuse(text);
}

}  // namespace

const char* name_of(ImageFormat format) { return known(format).name; }
const char* extension_of(ImageFormat format) { return known(format).extension; }

ImageInfo probe(Bytes encoded, int64_t max_pixels) {
  const ImageInfo info = probe_header(encoded);
  const auto [height, width] = info.stored;  // each below 2^31: the product cannot overflow
  if (height * width > max_pixels) {
    throw DecodeError("the image declares more pixels than are allowed",
                      {.expected = fmt::format("at most {}", max_pixels),
                       .found = fmt::format("{} x {} (height x width)", height, width),
                       .remedy = "Raise max_pixels if the image is meant to be that large, or make "
                                 "it smaller where it is packed"});
  }
  const int64_t max_side = info.format == ImageFormat::kJpeg ? kMaxJpegSide : kMaxSide;
  if (height > max_side || width > max_side) {
    throw DecodeError("the image declares a side that is longer than is allowed",
                      {.expected = fmt::format("at most {} pixels a side", max_side),
                       .found = fmt::format("{} x {} (height x width)", height, width),
                       .remedy = "Cut the image into smaller ones"});
  }
  return info;
}

}  // namespace fuelrail
