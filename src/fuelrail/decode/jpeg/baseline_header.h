// The header of a JPEG that fuelrail decodes by itself: baseline or extended sequential DCT, 8
// bits, Huffman coding, one scan of all components (ITU-T T.81, Annexes B and F).
#pragma once

#include <array>
#include <cstdint>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"

namespace fuelrail::jpeg {

inline constexpr int kTables = 4;  // of each kind, at the same time
inline constexpr int kMaxComponents = 3;
inline constexpr int kMaxBlocksOfMcu = 6;  // 4 of luma, 1 of each chroma
inline constexpr int64_t kBlockSide = 8;   // of its samples
inline constexpr int kBlockCoefficients = 64;

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// A Huffman code as a DHT segment has it.
struct HuffmanCode {
  std::array<uint8_t, 16> counts{};    // of codes with 1, 2, ..., 16 bits
  std::array<uint8_t, 256> symbols{};  // in the order of their codes; then zeros
  bool is_defined = false;

  friend bool operator==(const HuffmanCode&, const HuffmanCode&) = default;
};

// The quantiser of each coefficient, in zig-zag order.
using Quantizers = std::array<uint8_t, 64>;

struct Component {
  int h = 1;  // blocks of an MCU in each of its rows,
  int v = 1;  // and in each of its columns
  int quantizers = 0;
  int dc_code = 0;
  int ac_code = 0;
};

struct BaselineHeader {
  Size size;
  int components = 0;  // 1: grey; 3: YCbCr
  // The first is luma. Chroma has one block in each MCU.
  std::array<Component, kMaxComponents> component{};
  Size mcus;                 // rows and columns of MCUs
  int mcu_rows_of_imcu = 1;  // more than 1 only in a grey image with sampling factors
  int blocks_of_mcu = 0;
  std::array<uint8_t, kMaxBlocksOfMcu> component_of_block{};
  std::array<Quantizers, kTables> quantizers{};
  std::array<HuffmanCode, kTables> dc_codes{};
  std::array<HuffmanCode, kTables> ac_codes{};
  int64_t restart_interval = 0;  // in MCUs; 0: no restart markers
  size_t scan_begin = 0;         // the byte of the image at which the data of the scan begin

  int h() const { return component[0].h; }  // 2: chroma has half of the columns
  int v() const { return component[0].v; }
};

// Returns: false if libjpeg-turbo must decode the image, because it is of another kind or because
// anything in the header is odd; `header` is then undefined. Says nothing about the scan.
[[nodiscard]] bool read_baseline_header(Bytes encoded, BaselineHeader& header);

}  // namespace fuelrail::jpeg
