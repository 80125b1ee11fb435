#include "fuelrail/decode/jpeg/entry_points.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "fuelrail/base/endian.h"
#include "fuelrail/decode/jpeg/scan_bytes.h"

namespace fuelrail::jpeg {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kHeadBytes = 28;
constexpr int64_t kPixelsOfPiece = 512;
// Images for which entry points are too large for what they save: short ones, and narrow and tall
// ones.
constexpr size_t kLeastScan = 2048;       // bytes
constexpr size_t kLeastBytesOfHints = 8;  // bytes of the image for each byte of entry points

int64_t spacing_of(const BaselineHeader& header) {
  return kPixelsOfPiece / (kBlockSide * header.h());
}

int width_of(int64_t largest) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(largest)));
}

// The position of the first FF byte from `begin` on, or `end`.
int64_t find_ff(const uint8_t* data, int64_t begin, int64_t end) {
  const void* const found = std::memchr(data + begin, 0xff, static_cast<size_t>(end - begin));
  return found == nullptr ? end : static_cast<const uint8_t*>(found) - data;
}

// Bits, from the lowest one of each byte.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& to) : to_(to) {}
  void write(int64_t value, int count) {
    for (int i = 0; i < count; ++i, ++bits_) {
      if (bits_ % 8 == 0) to_.push_back({});
      to_.back() |= static_cast<std::byte>((value >> i & 1) << bits_ % 8);
    }
  }

 private:
  std::vector<std::byte>& to_;
  int64_t bits_ = 0;
};

}  // namespace

std::optional<EntryPoints> EntryPoints::read(Bytes hints, const BaselineHeader& header,
                                             Bytes encoded) {
  if (hints.size() < kHeadBytes || header.restart_interval > 0) return std::nullopt;
  const auto byte = [&](size_t i) { return std::to_integer<int>(hints[i]); };
  EntryPoints points;
  points.offset_bits_ = byte(1);
  int64_t bits = points.offset_bits_;
  bool fits = byte(0) == kVersion && byte(5) == 0 && points.offset_bits_ <= 32;
  for (size_t i = 0; i < kMaxComponents; ++i) {
    points.predictor_bits_[i] = byte(2 + i);
    points.least_[i] = load_le<int16_t>(hints.data() + 8 + 2 * i);
    fits = fits && points.predictor_bits_[i] <= 16;
    bits += points.predictor_bits_[i];
  }
  points.mcus_ = header.mcus;
  points.spacing_ = spacing_of(header);
  points.pieces_of_row_ = ceil_div(header.mcus.width, points.spacing_);
  points.end_bit_ = load_le<uint32_t>(hints.data() + 24);
  points.packed_ = hints.subspan(kHeadBytes);
  const int64_t packed_bits = points.pieces_of_row_ * header.mcus.height * bits;
  fits = fits && load_le<uint16_t>(hints.data() + 6) == points.spacing_ &&
         load_le<uint16_t>(hints.data() + 14) == 0 &&
         load_le<uint32_t>(hints.data() + 16) == encoded.size() &&
         load_le<uint32_t>(hints.data() + 20) == header.scan_begin &&
         static_cast<uint64_t>(points.end_bit_) <= 8 * (encoded.size() - header.scan_begin) &&
         std::ssize(points.packed_) == ceil_div(packed_bits, 8);
  return fits ? std::optional(points) : std::nullopt;
}

// Requires: count <= 32, and the bits are packed ones.
uint32_t EntryPoints::bits_at(int64_t bit, int count) const {
  const auto first = static_cast<size_t>(bit / 8);
  uint64_t word = 0;
  const size_t bytes = std::min(sizeof word, packed_.size() - first);
  for (size_t i = 0; i < bytes; ++i) word |= std::to_integer<uint64_t>(packed_[first + i]) << 8 * i;
  return static_cast<uint32_t>(word >> bit % 8 & ((uint64_t{1} << count) - 1));
}

EntryPoint EntryPoints::at(int64_t i) const {
  int64_t bit = i * (offset_bits_ + predictor_bits_[0] + predictor_bits_[1] + predictor_bits_[2]);
  EntryPoint point{.bit = bits_at(bit, offset_bits_)};
  bit += offset_bits_;
  for (size_t k = 0; k < kMaxComponents; ++k) {
    point.predictors[k] = least_[k] + static_cast<int>(bits_at(bit, predictor_bits_[k]));
    bit += predictor_bits_[k];
  }
  return point;
}

std::optional<EntryPoints::Piece> EntryPoints::piece(int64_t row, int64_t i) const {
  const int64_t number = row * pieces_of_row_ + i;
  const int64_t column = i * spacing_;
  Piece piece{.first = row * mcus_.width + column,
              .mcus = std::min(spacing_, mcus_.width - column),
              .begin = at(number),
              .end{.bit = end_bit_},
              .is_last = number + 1 == pieces_of_row_ * mcus_.height};
  if (!piece.is_last) piece.end = at(number + 1);
  if (piece.begin.bit > piece.end.bit || piece.end.bit > end_bit_) return std::nullopt;
  return piece;
}

std::vector<std::byte> EntryPointMaker::make(Bytes encoded) {
  if (encoded.size() > UINT32_MAX / 8 || !read_baseline_header(encoded, header_)) return {};
  const Bytes scan = encoded.subspan(header_.scan_begin);
  if (header_.restart_interval > 0 || scan.size() < kLeastScan || !find(scan)) return {};
  std::vector<std::byte> made = packed(encoded);
  if (made.size() > encoded.size() / kLeastBytesOfHints) return {};
  return made;
}

// Returns: false if anything is odd.
bool EntryPointMaker::find(Bytes scan) {
  tables_.prepare(header_);
  uint8_t* const unstuffed = unstuffed_.take(scan.size() + kZeroBytes);
  const DataEnd end = unstuff(scan, unstuffed);
  if (end.marker != kEoi) return false;
  const int64_t mcus = header_.mcus.width * header_.mcus.height;
  const Segment all{.data = unstuffed,
                    .bytes = static_cast<int64_t>(end.unstuffed),
                    .mcus = mcus,
                    .wanted = mcus,
                    .is_read_to_end = true};
  if (!segments_.find_entry_points(tables_, header_, all, spacing_of(header_), points_))
    return false;
  // In the scan as it is stored, each FF is followed by a zero.
  int64_t stuffed = 0;
  int64_t next = find_ff(unstuffed, 0, all.bytes);
  for (EntryPoint& point : points_) {
    const int64_t byte = point.bit / 8;
    for (; next < byte; next = find_ff(unstuffed, next + 1, all.bytes)) ++stuffed;
    point.bit += 8 * stuffed;
  }
  return true;
}

std::vector<std::byte> EntryPointMaker::packed(Bytes encoded) const {
  const std::span points = std::span(points_).first(points_.size() - 1);
  std::array<int, kMaxComponents> least{};
  std::array<int, kMaxComponents> predictor_bits{};
  for (size_t i = 0; i < kMaxComponents; ++i) {
    const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                                 [i](const EntryPoint& a, const EntryPoint& b) {
                                                   return a.predictors[i] < b.predictors[i];
                                                 });
    least[i] = low->predictors[i];
    predictor_bits[i] = width_of(high->predictors[i] - least[i]);
  }
  const int offset_bits = width_of(points.back().bit);
  std::vector<std::byte> packed(kHeadBytes);
  packed[0] = std::byte{kVersion};
  packed[1] = static_cast<std::byte>(offset_bits);
  for (size_t i = 0; i < kMaxComponents; ++i) {
    packed[2 + i] = static_cast<std::byte>(predictor_bits[i]);
    store_le(packed.data() + 8 + 2 * i, static_cast<int16_t>(least[i]));
  }
  store_le(packed.data() + 6, static_cast<uint16_t>(spacing_of(header_)));
  store_le(packed.data() + 16, static_cast<uint32_t>(encoded.size()));
  store_le(packed.data() + 20, static_cast<uint32_t>(header_.scan_begin));
  store_le(packed.data() + 24, static_cast<uint32_t>(points_.back().bit));
  BitWriter bits(packed);
  for (const EntryPoint& point : points) {
    bits.write(point.bit, offset_bits);
    for (size_t i = 0; i < kMaxComponents; ++i) {
      bits.write(point.predictors[i] - least[i], predictor_bits[i]);
    }
  }
  return packed;
}

}  // namespace fuelrail::jpeg
