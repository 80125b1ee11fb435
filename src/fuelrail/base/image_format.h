// The formats of encoded images, and how their first bytes announce them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

enum class ImageFormat : uint8_t { kJpeg, kPng, kWebp, kBmp, kTiff };

struct ImageSignature {
  ImageFormat format;
  std::string_view bytes;      // at the beginning
  std::string_view further{};  // at kFurtherAt
};
inline constexpr size_t kFurtherAt = 8;
inline constexpr size_t kImageSignatureBytes = 12;  // the longest's

inline constexpr std::array<ImageSignature, 8> kImageSignatures{{
    {ImageFormat::kJpeg, {"\xff\xd8\xff", 3}},
    {ImageFormat::kPng, {"\x89PNG\r\n\x1a\n", 8}},
    {ImageFormat::kWebp, {"RIFF", 4}, {"WEBP", 4}},  // a length is between
    {ImageFormat::kBmp, {"BM", 2}},
    {ImageFormat::kTiff, {"II*\0", 4}},
    {ImageFormat::kTiff, {"MM\0*", 4}},
    {ImageFormat::kTiff, {"II+\0", 4}},
    {ImageFormat::kTiff, {"MM\0+", 4}},
}};

// Empty for the beginning of anything else.
inline std::optional<ImageFormat> announced_format(Bytes encoded) {
  const std::string_view text = as_text(encoded);
  for (const ImageSignature& signature : kImageSignatures) {
    if (!text.starts_with(signature.bytes)) continue;
    if (!signature.further.empty() &&
        (text.size() < kFurtherAt || !text.substr(kFurtherAt).starts_with(signature.further))) {
      continue;
    }
    return signature.format;
  }
  return std::nullopt;
}

}  // namespace fuelrail
