// The formats of encoded images: their names, the names of their files, and the first bytes that
// announce them. What decodes each is in decode/formats.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// Formats are compared by address: a program, or a Python extension, has one object of each. A
// library that it opens at run time has its own.
struct ImageFormat {
  std::string_view name;                         // "jpeg": for programs
  std::string_view title;                        // "JPEG": for people
  std::array<std::string_view, 3> extensions{};  // of files, in lower case; new ones get the first
  // First bytes, of which '?' stands for any byte: there is no other way to write a '?'. Default:
  // none, only a container names the format.
  std::array<std::string_view, 4> signatures{};
};

inline constexpr size_t kImageSignatureBytes = 12;  // the longest's
inline constexpr ImageFormat kJpegFormat{
    "jpeg", "JPEG", {".jpg", ".jpeg", ".jpe"}, {"\xff\xd8\xff"}};
inline constexpr ImageFormat kPngFormat{"png", "PNG", {".png"}, {"\x89PNG\r\n\x1a\n"}};
inline constexpr ImageFormat kWebpFormat{"webp", "WebP", {".webp"}, {"RIFF\?\?\?\?WEBP"}};
inline constexpr ImageFormat kBmpFormat{"bmp", "BMP", {".bmp"}, {"BM"}};
inline constexpr ImageFormat kTiffFormat{
    "tiff", "TIFF", {".tif", ".tiff"}, {{{"II*\0", 4}, {"MM\0*", 4}, {"II+\0", 4}, {"MM\0+", 4}}}};

// Those that first bytes announce.
inline constexpr std::array kImageFormats{&kJpegFormat, &kPngFormat, &kWebpFormat, &kBmpFormat,
                                          &kTiffFormat};

// Whether `text` and `signature` agree as far as both go.
inline bool agrees(std::string_view text, std::string_view signature) {
  const auto common = static_cast<std::ptrdiff_t>(std::min(text.size(), signature.size()));
  return std::equal(text.begin(), text.begin() + common, signature.begin(),
                    [](char byte, char wanted) { return wanted == '?' || byte == wanted; });
}

inline bool announces(const ImageFormat& format, Bytes encoded) {
  const std::string_view text = as_text(encoded);
  return std::any_of(
      format.signatures.begin(), format.signatures.end(), [text](std::string_view signature) {
        return !signature.empty() && text.size() >= signature.size() && agrees(text, signature);
      });
}

// Null for the beginning of anything else.
inline const ImageFormat* announced_format(Bytes encoded) {
  for (const ImageFormat* format : kImageFormats) {
    if (announces(*format, encoded)) return format;
  }
  return nullptr;
}

}  // namespace fuelrail
