// The formats of encoded images: their names, file extensions and signatures (first bytes). Their
// decoders are in decode/formats.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// Formats are compared by address: a program or Python extension has one object per format. A
// library that is opened at run time has its own objects.
struct ImageFormat {
  std::string_view name;                         // "jpeg": for programs
  std::string_view title;                        // "JPEG": for people
  std::array<std::string_view, 3> extensions{};  // lower case; new files get the first
  // First bytes of an image; '?' matches any byte (a literal '?' cannot be written). Default: none,
  // so only a container can state that an image has this format.
  std::array<std::string_view, 4> signatures{};
  // Whether folders of images list files with these extensions.
  bool in_folders = true;
};

inline constexpr size_t kImageSignatureBytes = 12;  // length of the longest signature
inline constexpr ImageFormat kJpegFormat{
    "jpeg", "JPEG", {".jpg", ".jpeg", ".jpe"}, {"\xff\xd8\xff"}};
inline constexpr ImageFormat kPngFormat{"png", "PNG", {".png"}, {"\x89PNG\r\n\x1a\n"}};
inline constexpr ImageFormat kWebpFormat{"webp", "WebP", {".webp"}, {"RIFF\?\?\?\?WEBP"}};
inline constexpr ImageFormat kBmpFormat{"bmp", "BMP", {".bmp"}, {"BM"}};
inline constexpr ImageFormat kTiffFormat{
    "tiff", "TIFF", {".tif", ".tiff"}, {{{"II*\0", 4}, {"MM\0*", 4}, {"II+\0", 4}, {"MM\0+", 4}}}};
// An array in NumPy's format. Folders often have such files beside their images, for features and
// labels: a list of images, or a field of a sample, must say that the array is an image.
inline constexpr ImageFormat kNpyFormat{"npy", "NumPy (.npy)", {".npy"}, {"\x93NUMPY"}, false};

// An H.265 or H.264 still as a file of its own (mp4/nested_file.h).
inline constexpr ImageFormat kMp4Format{
    "mp4", "H.265 (MP4)", {".mp4"}, {{{"\0\0\0\?ftypisom", 12}}}};
// Such stills without the file have no signature: their container says what they are.
inline constexpr ImageFormat kHevcFormat{"hevc", "H.265", {".mp4"}};
inline constexpr ImageFormat kH264Format{"h264", "H.264", {".mp4"}};

// The formats that have signatures.
inline constexpr std::array kImageFormats{&kJpegFormat, &kPngFormat, &kWebpFormat, &kBmpFormat,
                                          &kTiffFormat, &kNpyFormat, &kMp4Format};

// Whether `text` and `signature` are equal up to the length of the shorter one.
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

// The format whose signature `encoded` begins with; null if there is none.
inline const ImageFormat* announced_format(Bytes encoded) {
  for (const ImageFormat* format : kImageFormats) {
    if (announces(*format, encoded)) return format;
  }
  return nullptr;
}

}  // namespace fuelrail
