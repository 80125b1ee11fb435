#include "fuelrail/decode/jpeg/entry_points.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "fuelrail/base/endian.h"
#include "fuelrail/decode/jpeg/entropy_stream.h"
#include "fuelrail/decode/jpeg/scan_bytes.h"

namespace fuelrail::jpeg {
namespace {

constexpr uint8_t kVersion = 1;
constexpr size_t kHeadBytes = 28;
constexpr int64_t kPixelsBetween = 512;  // entry points of a row
constexpr size_t kLeastScan = 2048;  // bytes; below, entry points are too large for what they save

int64_t spacing_of(const BaselineHeader& header) { return kPixelsBetween / (8 * header.h()); }

int width_of(int64_t largest) {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(largest)));
}

}  // namespace

std::optional<EntryPoints> EntryPoints::read(Bytes hints, const BaselineHeader& header,
                                             Bytes encoded) {
  if (hints.size() < kHeadBytes) return std::nullopt;
  const auto byte = [&](size_t i) { return std::to_integer<int>(hints[i]); };
  EntryPoints points;
  points.offset_bits_ = byte(1);
  int bits = points.offset_bits_;
  bool fits = byte(0) == kVersion && byte(5) == 0 && points.offset_bits_ <= 32;
  for (size_t i = 0; i < kMaxComponents; ++i) {
    points.predictor_bits_[i] = byte(2 + i);
    points.least_[i] = load_le<int16_t>(hints.data() + 8 + 2 * i);
    fits = fits && points.predictor_bits_[i] <= 16;
    bits += points.predictor_bits_[i];
  }
  points.spacing_ = load_le<uint16_t>(hints.data() + 6);
  points.end_bit_ = load_le<uint32_t>(hints.data() + 24);
  fits = fits && points.spacing_ == spacing_of(header) &&
         load_le<uint16_t>(hints.data() + 14) == 0 &&
         load_le<uint32_t>(hints.data() + 16) == encoded.size() &&
         load_le<uint32_t>(hints.data() + 20) == header.scan_begin &&
         static_cast<uint64_t>(points.end_bit_) <= 8 * (encoded.size() - header.scan_begin);
  if (!fits) return std::nullopt;
  points.entries_of_row_ = ceil_div(header.mcus.width, points.spacing_);
  points.count_ = points.entries_of_row_ * header.mcus.height;
  points.packed_ = hints.subspan(kHeadBytes);
  if (static_cast<int64_t>(points.packed_.size()) != ceil_div(points.count_ * bits, 8)) {
    return std::nullopt;
  }
  return points;
}

// Requires: count <= 32, and bits up to the last byte.
uint32_t EntryPoints::bits_at(int64_t bit, int count) const {
  const auto first = static_cast<size_t>(bit / 8);
  uint64_t word = 0;
  const size_t bytes = std::min<size_t>(sizeof word, packed_.size() - first);
  for (size_t i = 0; i < bytes; ++i) word |= std::to_integer<uint64_t>(packed_[first + i]) << 8 * i;
  return static_cast<uint32_t>(word >> bit % 8 & ((uint64_t{1} << count) - 1));
}

std::optional<EntryPoint> EntryPoints::at(int64_t i) const {
  const int bits = offset_bits_ + predictor_bits_[0] + predictor_bits_[1] + predictor_bits_[2];
  int64_t bit = i * bits;
  EntryPoint point{.bit = bits_at(bit, offset_bits_)};
  bit += offset_bits_;
  for (size_t k = 0; k < kMaxComponents; ++k) {
    point.predictors[k] = least_[k] + static_cast<int>(bits_at(bit, predictor_bits_[k]));
    bit += predictor_bits_[k];
  }
  if (point.bit > end_bit_) return std::nullopt;
  return point;
}

namespace {

// Bits, from the lowest one of each byte.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& to) : to_(to) {}
  void write(uint32_t value, int count) {
    for (int i = 0; i < count; ++i, ++bits_) {
      if (bits_ % 8 == 0) to_.push_back({});
      to_.back() |= static_cast<std::byte>((value >> i & 1) << bits_ % 8);
    }
  }

 private:
  std::vector<std::byte>& to_;
  int64_t bits_ = 0;
};

// Passes a scan by one stream. Large, so there is one for each thread.
class EntryPointMaker {
 public:
  std::vector<std::byte> make(Bytes encoded) {
    if (!read_baseline_header(encoded, header_) || header_.restart_interval > 0 ||
        encoded.size() - header_.scan_begin < kLeastScan || encoded.size() > UINT32_MAX / 8) {
      return {};
    }
    tables_.prepare(header_);
    return pass(encoded.subspan(header_.scan_begin)) ? packed(encoded) : std::vector<std::byte>{};
  }

 private:
  // Requires: the header is read, and its tables are prepared.
  bool pass(Bytes scan) {
    unstuffed_.resize(scan.size() + kZeroBytes);
    const DataEnd end = unstuff(scan, unstuffed_.data());
    if (end.marker != 0xd9) return false;
    points_.clear();
    const int64_t spacing = spacing_of(header_);
    blocks_.assign(static_cast<size_t>((spacing * header_.blocks_of_mcu + kSlackBlocks) * 64), 0);
    EntryPoint point;
    int64_t bit = 0;  // of the unstuffed scan
    for (int64_t row = 0; row < header_.mcus.height; ++row) {
      for (int64_t first = 0; first < header_.mcus.width; first += spacing) {
        point.bit = 8 * stored_byte(bit / 8) + bit % 8;
        points_.push_back(point);
        const int64_t mcus = std::min(spacing, header_.mcus.width - first);
        if (!pass_segment(mcus, static_cast<int64_t>(end.unstuffed), bit, point.predictors)) {
          return false;
        }
      }
    }
    end_bit_ = 8 * stored_byte(bit / 8) + bit % 8;
    return 8 * static_cast<int64_t>(end.unstuffed) - bit < 8;
  }

  bool pass_segment(int64_t mcus, int64_t bytes, int64_t& bit, Predictors& predictors) {
    const int64_t count = mcus * header_.blocks_of_mcu;
    OddBlocks odd;
    Stream stream =
        begin_stream(tables_, unstuffed_.data(), bit, bytes, blocks_.data(), count, odd);
    run_streams(tables_, {&stream, 1});
    run_to(tables_, stream, count, unstuffed_.data() + bytes);
    bit = bit_of(stream, unstuffed_.data());
    if (stream.blocks() != count || bit > 8 * bytes || odd.any_in(0, count)) return false;
    for (int64_t i = 0; i < count; ++i) {
      int16_t* const block = blocks_.data() + i * 64;
      const uint8_t component =
          header_.component_of_block[static_cast<size_t>(i % header_.blocks_of_mcu)];
      int& predictor = predictors[component];
      predictor += *block;
      if (predictor != static_cast<int16_t>(predictor)) return false;
      std::memset(block, 0, 64 * sizeof *block);
    }
    return true;
  }

  // Where a byte of the unstuffed scan is stored: each FF before it is followed by a zero.
  // Requires: ascending bytes within a scan.
  int64_t stored_byte(int64_t byte) {
    if (byte == 0) counted_ = stuffed_ = 0;
    stuffed_ += std::count(unstuffed_.data() + counted_, unstuffed_.data() + byte, uint8_t{0xff});
    counted_ = byte;
    return byte + stuffed_;
  }

  std::vector<std::byte> packed(Bytes encoded) const {
    std::array<int, kMaxComponents> least{};
    std::array<int, kMaxComponents> predictor_bits{};
    for (size_t i = 0; i < kMaxComponents; ++i) {
      const auto [low, high] = std::minmax_element(points_.begin(), points_.end(),
                                                   [i](const EntryPoint& a, const EntryPoint& b) {
                                                     return a.predictors[i] < b.predictors[i];
                                                   });
      least[i] = low->predictors[i];
      predictor_bits[i] = width_of(high->predictors[i] - least[i]);
    }
    const int offset_bits = width_of(points_.back().bit);
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
    store_le(packed.data() + 24, static_cast<uint32_t>(end_bit_));
    BitWriter bits(packed);
    for (const EntryPoint& point : points_) {
      bits.write(static_cast<uint32_t>(point.bit), offset_bits);
      for (size_t i = 0; i < kMaxComponents; ++i) {
        bits.write(static_cast<uint32_t>(point.predictors[i] - least[i]), predictor_bits[i]);
      }
    }
    return packed;
  }

  BaselineHeader header_;
  HuffmanTables tables_;
  std::vector<uint8_t> unstuffed_;
  std::vector<int16_t> blocks_;
  std::vector<EntryPoint> points_;
  int64_t end_bit_ = 0;
  int64_t counted_ = 0;  // bytes of the unstuffed scan
  int64_t stuffed_ = 0;  // FFs in them
};

}  // namespace

std::vector<std::byte> make_entry_points(Bytes encoded) {
  static thread_local const auto maker = std::make_unique<EntryPointMaker>();
  return maker->make(encoded);
}

}  // namespace fuelrail::jpeg
