// H.265 parameter sets, samples and `hvcC` boxes for tests, written from ITU-T H.265 and ISO/IEC
// 14496-15 and without the readers' code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/box.h"

namespace fuelrail::testing {

// Writes the bits of a NAL unit.
class BitWriter {
 public:
  BitWriter& bits(int count, uint64_t value) {
    for (int i = count - 1; i >= 0; --i) {
      if (used_++ % 8 == 0) bytes_.push_back('\0');
      if (value >> i & 1)
        bytes_.back() = static_cast<char>(bytes_.back() | 0x80 >> (used_ - 1) % 8);
    }
    return *this;
  }
  BitWriter& golomb(uint64_t value) {
    int length = 0;
    while ((value + 1) >> (length + 1) != 0) ++length;
    return bits(length, 0).bits(length + 1, value + 1);
  }

  // The unit, with emulation prevention bytes.
  std::string unit() const {
    std::string out;
    int zeros = 0;
    for (const char c : bytes_) {
      if (zeros >= 2 && static_cast<uint8_t>(c) <= 3) {
        out += '\3';
        zeros = 0;
      }
      out += c;
      zeros = c == 0 ? zeros + 1 : 0;
    }
    return out;
  }

 private:
  std::string bytes_;
  int used_ = 0;
};

struct MadeSps {
  Size coded{64, 64};
  uint32_t crop_right = 0, crop_bottom = 0;  // in chroma values
  uint32_t chroma = 1;
  uint32_t bits = 8, chroma_bits = 8;
  int layers = 0;  // besides the first
  bool has_lists = false;
  std::optional<bool> full_range{};
  std::optional<int> matrix{};  // needs full_range
  std::optional<int> siting{};

  std::string unit() const {
    BitWriter out;
    out.bits(16, 0x4201).bits(4, 0).bits(3, static_cast<uint64_t>(layers)).bits(1, 1);
    out.bits(48, 0x010160000000).bits(40, 0).bits(8, 93);  // profile and level
    for (int i = 0; i < layers; ++i) out.bits(2, 3);
    if (layers > 0) out.bits(2 * (8 - layers), 0);
    for (int i = 0; i < layers; ++i) out.bits(48, 0).bits(40, 0).bits(8, 30);
    out.golomb(0).golomb(chroma);
    if (chroma == 3) out.bits(1, 0);
    out.golomb(static_cast<uint64_t>(coded.width)).golomb(static_cast<uint64_t>(coded.height));
    const bool is_cropped = crop_right + crop_bottom > 0;
    out.bits(1, is_cropped);
    if (is_cropped) out.golomb(0).golomb(crop_right).golomb(0).golomb(crop_bottom);
    out.golomb(bits - 8).golomb(chroma_bits - 8).golomb(4).bits(1, 0);
    out.golomb(1).golomb(0).golomb(0);
    for (int i = 0; i < 6; ++i) out.golomb(static_cast<uint64_t>(i));
    write_lists(out);
    out.bits(2, 1).bits(1, 1).bits(8, 0x77).golomb(0).golomb(0).bits(1, 0);
    write_picture_sets(out);
    out.bits(1, 1).golomb(1).bits(8, 5).bits(1, 1);  // one long-term picture
    out.bits(2, 3);
    write_vui(out);
    return out.bits(1, 1).unit();
  }

 private:
  void write_lists(BitWriter& out) const {
    out.bits(1, has_lists);
    if (!has_lists) return;
    out.bits(1, 1);
    for (int size = 0; size < 4; ++size) {
      for (int matrix_id = 0; matrix_id < 6; matrix_id += size == 3 ? 3 : 1) {
        out.bits(1, matrix_id == 0);
        if (matrix_id != 0) {
          out.golomb(1);
          continue;
        }
        const int values = size == 0 ? 16 : size == 1 ? 64 : 65;
        for (int i = 0; i < values; ++i) out.golomb(static_cast<uint64_t>(i % 7));
      }
    }
  }
  // Two sets, the second predicted from the first.
  static void write_picture_sets(BitWriter& out) {
    out.golomb(2).golomb(1).golomb(1).golomb(0).bits(1, 1).golomb(2).bits(1, 0);
    out.bits(1, 1).bits(1, 0).golomb(0).bits(1, 1).bits(2, 1).bits(2, 0);
  }
  void write_vui(BitWriter& out) const {
    const bool has_vui = full_range || siting;
    out.bits(1, has_vui);
    if (!has_vui) return;
    out.bits(1, 1).bits(8, 255).bits(32, 0x00010001).bits(1, 1).bits(1, 0);
    out.bits(1, full_range.has_value());
    if (full_range) {
      out.bits(3, 5).bits(1, *full_range).bits(1, matrix.has_value());
      if (matrix) out.bits(16, 0x0202).bits(8, static_cast<uint64_t>(*matrix));
    }
    out.bits(1, siting.has_value());
    if (siting) out.golomb(static_cast<uint64_t>(*siting)).golomb(static_cast<uint64_t>(*siting));
  }
};

inline std::string with_length(const std::string& unit, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(unit.size() >> (8 * i));
  return out + unit;
}

inline std::string made_hvcc(const std::vector<std::string>& units, int length_bytes = 4) {
  std::string out = std::string(1, '\1') + std::string(20, '\0');
  out += static_cast<char>(length_bytes - 1);
  out += static_cast<char>(units.size());
  for (const std::string& unit : units) {
    out += static_cast<char>(static_cast<uint8_t>(unit[0]) >> 1 & 63);
    out += std::string("\0\1", 2) + with_length(unit, 2);
  }
  return out;
}

inline const std::string kMadePps("\x44\x01\xc1", 3);
// A slice of an IDR picture; `first`: the first one.
inline std::string made_slice(const std::string& payload, bool first = true) {
  return std::string("\x28\x01", 2) + static_cast<char>(first ? 0xff : 0x7f) + payload;
}

}  // namespace fuelrail::testing
