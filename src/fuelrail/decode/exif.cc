#include "fuelrail/decode/exif.h"

#include <cstdint>
#include <string_view>

namespace fuelrail {
namespace {

constexpr size_t kEntryBytes = 12;
constexpr uint32_t kOrientationTag = 0x0112;

// Reads integers of a TIFF structure, never past its end.
class TiffReader {
 public:
  TiffReader(Bytes bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  bool has(uint64_t at, uint64_t size) const {
    return at <= bytes_.size() && size <= bytes_.size() - at;
  }
  // Requires: has(at, size); size at most 4.
  uint32_t integer(uint64_t at, unsigned size) const {
    uint32_t value = 0;
    for (unsigned i = 0; i < size; ++i) {
      const uint64_t from = big_endian_ ? at + i : at + size - 1 - i;
      value = value << 8 | std::to_integer<uint32_t>(bytes_[from]);
    }
    return value;
  }

 private:
  Bytes bytes_;
  bool big_endian_;
};

// The value of an orientation entry; empty if it is not a single integer.
std::optional<int> value_of(const TiffReader& tiff, uint64_t entry) {
  constexpr uint32_t kShort = 3, kLong = 4, kSignedShort = 8, kSignedLong = 9;
  if (tiff.integer(entry + 4, 4) != 1) return std::nullopt;
  const uint32_t type = tiff.integer(entry + 2, 2);
  if (type == kShort || type == kSignedShort) return static_cast<int>(tiff.integer(entry + 8, 2));
  if (type == kLong || type == kSignedLong) return static_cast<int>(tiff.integer(entry + 8, 4));
  return std::nullopt;
}

}  // namespace

std::optional<int> exif_orientation(Bytes exif) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  if (as_text(exif).starts_with(kPrefix)) exif = exif.subspan(kPrefix.size());
  if (exif.size() < 8) return std::nullopt;

  const std::string_view order = as_text(exif).substr(0, 2);
  if (order != "II" && order != "MM") return std::nullopt;
  const TiffReader tiff(exif, order == "MM");
  if (tiff.integer(2, 2) != 42) return std::nullopt;
  const uint64_t ifd = tiff.integer(4, 4);
  if (!tiff.has(ifd, 2)) return std::nullopt;

  std::optional<int> orientation;
  const uint64_t entries = tiff.integer(ifd, 2);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t entry = ifd + 2 + i * kEntryBytes;
    if (!tiff.has(entry, kEntryBytes)) break;
    if (tiff.integer(entry, 2) != kOrientationTag) continue;
    if (const auto value = value_of(tiff, entry)) orientation = value;
  }
  return orientation;
}

std::optional<int> xmp_orientation(Bytes xmp) {
  constexpr std::string_view kName = "tiff:Orientation";
  const std::string_view text = as_text(xmp);
  for (size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + 1)) {
    std::string_view rest = text.substr(at + kName.size());
    if (rest.starts_with("=\"")) {
      rest.remove_prefix(2);
    } else if (rest.starts_with(">")) {
      rest.remove_prefix(1);
    } else {
      continue;
    }
    if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') return rest[0] - '0';
  }
  return std::nullopt;
}

int orientation_from(Bytes exif, Bytes xmp) {
  std::optional<int> orientation = exif_orientation(exif);
  if (!orientation) orientation = xmp_orientation(xmp);
  return orientation && *orientation >= 1 && *orientation <= 8 ? *orientation : 1;
}

}  // namespace fuelrail
