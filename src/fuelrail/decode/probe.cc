#include "fuelrail/decode/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/jpeg/jpeg_header.h"
#include "fuelrail/decode/png/png_header.h"

namespace fuelrail {
namespace {

constexpr std::string_view kJpegSignature = "\xff\xd8\xff";
constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";

// Formats that are known by their first bytes, only to be named in the refusal.
struct Signature {
  size_t at;
  std::string_view bytes;
  const char* name;
};
using namespace std::string_view_literals;
constexpr Signature kUndecoded[] = {
    {0, "GIF8"sv, "GIF"},
    {8, "WEBP"sv, "WebP"},
    {0, "BM"sv, "BMP"},
    {0, "II*\0"sv, "TIFF"},
    {0, "MM\0*"sv, "TIFF"},
    {0, "II+\0"sv, "BigTIFF"},
    {0, "MM\0+"sv, "BigTIFF"},
    {4, "ftypavif"sv, "AVIF"},
    {4, "ftypavis"sv, "AVIF"},
    {4, "ftyphe"sv, "HEIC"},
    {4, "ftypmif1"sv, "HEIF"},
    {4, "ftypmsf1"sv, "HEIF"},
    {4, "ftyp"sv, "an ISO base media file (a video?)"},
    {0, "\0\0\0\x0cjP  "sv, "JPEG 2000"},
    {0, "\xff\x4f\xff\x51"sv, "JPEG 2000"},
    {0, "\0\0\0\x0cJXL "sv, "JPEG XL"},
    {0, "\xff\x0a"sv, "JPEG XL"},
    {0, "8BPS"sv, "Photoshop"},
    {0, "\0\0\1\0"sv, "ICO"},
    {0, "\x76\x2f\x31\x01"sv, "OpenEXR"},
    {0, "#?RADIANCE"sv, "Radiance HDR"},
    {0, "qoif"sv, "QOI"},
    {0, "DDS "sv, "DDS"},
    {0, "\x8aMNG"sv, "MNG"},
    {0, "\x8bJNG"sv, "JNG"},
    {0, "%PDF"sv, "PDF"},
    {0, "P1"sv, "PBM"},
    {0, "P2"sv, "PGM"},
    {0, "P3"sv, "PPM"},
    {0, "P4"sv, "PBM"},
    {0, "P5"sv, "PGM"},
    {0, "P6"sv, "PPM"},
    {0, "<svg"sv, "SVG"},
    {0, "<?xml"sv, "XML (SVG?)"},
};

[[noreturn]] void refuse(std::string_view text) {
  constexpr const char* kRemedy = "Convert the image to JPEG or PNG";
  for (const Signature& known : kUndecoded) {
    if (text.size() >= known.at && text.substr(known.at).starts_with(known.bytes)) {
      throw UnsupportedError("fuelrail does not decode this image's format",
                             {.expected = "JPEG or PNG", .found = known.name, .remedy = kRemedy});
    }
  }
  std::string found = "bytes";
  for (const char c : text.substr(0, 8)) found += fmt::format(" {:02x}", static_cast<uint8_t>(c));
  throw UnsupportedError("the bytes are no image that fuelrail knows",
                         {.expected = "JPEG or PNG", .found = found, .remedy = kRemedy});
}

ImageInfo probe_header(Bytes encoded) {
  const std::string_view text = as_text(encoded);
  if (text.starts_with(kJpegSignature)) return probe_jpeg(encoded);
  if (text.starts_with(kPngSignature)) return probe_png(encoded);
  if (text.empty()) throw DecodeError("the image is empty");
  if (kJpegSignature.starts_with(text) || kPngSignature.starts_with(text)) {
    throw TruncatedError(
        fmt::format("the image ends inside its signature, at byte {}", text.size()));
  }
  refuse(text);
}

}  // namespace

const char* name_of(ImageFormat format) { return format == ImageFormat::kJpeg ? "jpeg" : "png"; }

ImageInfo probe(Bytes encoded, int64_t max_pixels) {
  const ImageInfo info = probe_header(encoded);
  const auto [height, width] = info.stored;  // each below 2^31: the product cannot overflow
  if (height * width > max_pixels) {
    throw DecodeError("the image declares more pixels than are allowed",
                      {.expected = fmt::format("at most {}", max_pixels),
                       .found = fmt::format("{} x {} (height x width)", height, width),
                       .remedy = "Raise max_pixels if the image is meant to be that large"});
  }
  return info;
}

}  // namespace fuelrail
