#include "fuelrail/decode/probe.h"

#include <fmt/format.h>

#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/formats.h"

namespace fuelrail {
namespace {

using namespace std::string_view_literals;

// Formats that are known by their first bytes, only to be named in the refusal.
struct Undecoded {
  std::string_view signature;  // as ImageFormat has them
  const char* name;
};
constexpr Undecoded kUndecoded[] = {
    {"GIF8", "GIF"},
    {"\?\?\?\?ftypavif", "AVIF"},
    {"\?\?\?\?ftypavis", "AVIF"},
    {"\?\?\?\?ftyphe", "HEIC"},
    {"\?\?\?\?ftypmif1", "HEIF"},
    {"\?\?\?\?ftypmsf1", "HEIF"},
    {"\?\?\?\?ftyp", "an ISO base media file (a video?)"},
    {"\0\0\0\x0cjP  "sv, "JPEG 2000"},
    {"\xff\x4f\xff\x51", "JPEG 2000"},
    {"\0\0\0\x0cJXL "sv, "JPEG XL"},
    {"\xff\x0a", "JPEG XL"},
    {"8BPS", "Photoshop"},
    {"\0\0\1\0"sv, "ICO"},
    {"\x76\x2f\x31\x01", "OpenEXR"},
    {"#?RADIANCE", "Radiance HDR"},
    {"qoif", "QOI"},
    {"DDS ", "DDS"},
    {"\x8aMNG", "MNG"},
    {"\x8bJNG", "JNG"},
    {"%PDF", "PDF"},
    {"P1", "PBM"},
    {"P2", "PGM"},
    {"P3", "PPM"},
    {"P4", "PBM"},
    {"P5", "PGM"},
    {"P6", "PPM"},
    {"<svg", "SVG"},
    {"<?xml", "XML (SVG?)"},
};

[[noreturn]] void refuse(std::string_view text) {
  constexpr const char* kRemedy = "Convert the image to JPEG or PNG";
  for (const Undecoded& undecoded : kUndecoded) {
    if (text.size() >= undecoded.signature.size() && agrees(text, undecoded.signature)) {
      throw UnsupportedError("fuelrail does not decode this image's format",
                             {.expected = decoded_formats(), .found = undecoded.name, .remedy = kRemedy});
    }
  }
  std::string found = "bytes";
  for (const char c : text.substr(0, 8)) found += fmt::format(" {:02x}", static_cast<uint8_t>(c));
  throw UnsupportedError("the bytes are no image that fuelrail knows",
                         {.expected = decoded_formats(), .found = found, .remedy = kRemedy});
}

// Errors: where no decoder is for these bytes.
const Decoding& decoding_for(Bytes encoded) {
  if (const Decoding* decoding = announced_decoding(encoded)) return *decoding;
  if (encoded.empty()) throw DecodeError("the image is empty");
  if (is_cut_signature(encoded)) {
    throw TruncatedError(
        fmt::format("the image ends inside its signature, at byte {}", encoded.size()));
  }
  refuse(as_text(encoded));
}

}  // namespace

ImageInfo probe(Bytes encoded, int64_t max_pixels) {
  const Decoding& decoding = decoding_for(encoded);
  const ImageInfo info = decoding.probe(encoded);
  const auto [height, width] = info.stored;  // each below 2^31: the product cannot overflow
  if (height * width > max_pixels) {
    throw DecodeError("the image declares more pixels than are allowed",
                      {.expected = fmt::format("at most {}", max_pixels),
                       .found = fmt::format("{} x {} (height x width)", height, width),
                       .remedy = "Raise max_pixels if the image is meant to be that large, or make "
                                 "it smaller where it is packed"});
  }
  if (height > decoding.max_side || width > decoding.max_side) {
    throw DecodeError("the image declares a side that is longer than is allowed",
                      {.expected = fmt::format("at most {} pixels a side", decoding.max_side),
                       .found = fmt::format("{} x {} (height x width)", height, width),
                       .remedy = "Cut the image into smaller ones"});
  }
  return info;
}

}  // namespace fuelrail
