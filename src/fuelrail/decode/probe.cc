#include "fuelrail/decode/probe.h"

#include <fmt/format.h>

#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/formats.h"

namespace fuelrail {
namespace {

using namespace std::string_view_literals;

constexpr const char* kRemedy = "Convert the image to JPEG or PNG";

// Formats that are recognised by their first bytes only to be named in the error.
struct Undecoded {
  std::string_view signature;  // written as in ImageFormat
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

[[noreturn]] void refuse_format(std::string_view name) {
  throw UnsupportedError(
      "this image format is not supported",
      {.expected = decoded_formats(), .found = std::string(name), .remedy = kRemedy});
}

[[noreturn]] void refuse(std::string_view text) {
  for (const Undecoded& undecoded : kUndecoded) {
    if (text.size() >= undecoded.signature.size() && agrees(text, undecoded.signature)) {
      refuse_format(undecoded.name);
    }
  }
  std::string found = "bytes";
  for (const char c : text.substr(0, 8)) found += fmt::format(" {:02x}", static_cast<uint8_t>(c));
  throw UnsupportedError("the bytes are not an image of a known format",
                         {.expected = decoded_formats(), .found = found, .remedy = kRemedy});
}

std::string size_text(Size size) {
  return fmt::format("{} x {} (height x width)", size.height, size.width);
}

// Errors: thrown if no decoder exists for these bytes.
const Decoding& announced(Bytes encoded) {
  if (const Decoding* decoding = announced_decoding(encoded)) return *decoding;
  if (encoded.empty()) throw DecodeError("the image is empty");
  if (is_cut_signature(encoded)) {
    throw TruncatedError(
        fmt::format("the image ends inside its signature, after {} bytes", encoded.size()));
  }
  refuse(as_text(encoded));
}

const Decoding& described(const ImageCodec& codec) {
  if (const Decoding* decoding = decoding_of(codec.format)) return *decoding;
  refuse_format(codec.format->title);
}

ImageInfo info_from(const ImageCodec& codec, Size visible) {
  const auto fits = [](int64_t part, int64_t all) { return part > 0 && part <= all; };
  if (visible == Size{}) visible = codec.coded;
  if (!fits(visible.height, codec.coded.height) || !fits(visible.width, codec.coded.width)) {
    throw DecodeError(
        "the size that the dataset declares for the image is out of range",
        {.expected = "1 x 1 to " + size_text(codec.coded), .found = size_text(visible)});
  }
  if (codec.channels < 1 || codec.channels > 4) {
    throw DecodeError("the dataset declares an invalid number of channels for its images",
                      {.expected = "1 to 4", .found = fmt::to_string(codec.channels)});
  }
  return {.format = codec.format,
          .stored = visible,
          .channels = codec.channels,
          .bits = codec.bits,
          .lossy = true};
}

void check_size(Size size, int64_t max_pixels, int64_t max_side) {
  const auto [height, width] = size;
  if (height <= 0 || width <= 0) {
    throw DecodeError("the image declares a height or width of 0", {.found = size_text(size)});
  }
  if (height > max_pixels / width) {
    throw DecodeError("the image declares too many pixels",
                      {.expected = fmt::format("at most {}", max_pixels),
                       .found = size_text(size),
                       .remedy = "Raise max_pixels if the image really is this large, or resize "
                                 "the image before packing it"});
  }
  if (height > max_side || width > max_side) {
    throw DecodeError("the image declares a height or width that is too large",
                      {.expected = fmt::format("a height and width of at most {} pixels", max_side),
                       .found = size_text(size),
                       .remedy = "Split the image into smaller ones"});
  }
}

}  // namespace

ImageInfo probe(const EncodedImage& encoded, int64_t max_pixels) {
  const ImageCodec* const codec = encoded.codec;
  const Decoding& decoding = codec == nullptr ? announced(encoded.bytes) : described(*codec);
  if (encoded.has_coded_size()) {
    const ImageInfo info = info_from(*codec, encoded.visible);
    check_size(codec->coded, max_pixels, decoding.max_side);
    return info;
  }
  if (encoded.visible != Size{}) {
    throw DecodeError(
        "the dataset declares the visible size of the image, but not its full (coded) size",
        {.found = "a visible size of " + size_text(encoded.visible)});
  }
  if (decoding.probe == nullptr && decoding.find_inner == nullptr)
    throw DecodeError("the dataset does not declare the size of its images");
  require_described_format(encoded);
  if (decoding.find_inner != nullptr) {
    ImageCodec inner;
    ImageInfo info = probe(decoding.find_inner(encoded.bytes, inner), max_pixels);
    info.format = decoding.format;
    return info;
  }
  const ImageInfo info = decoding.probe(encoded.bytes);
  check_size(info.stored, max_pixels, decoding.max_side);
  return info;
}

}  // namespace fuelrail
