// Look-up tables for the Huffman codes of a baseline scan. An entry tells what the next kLookupBits
// bits hold: up to two coefficients and the end of the block.
//
// A block is decoded by looking up, in turn, in the table of its first coefficient (DC), which also
// has the first AC coefficients, and in that of its AC coefficients. A value that is longer than
// the look-up has an entry for its code alone, which leads to a table of the values of that size.
// What no entry holds (longer codes, codes that do not exist, values that baseline does not have)
// is an entry of length 0, which moves the place beyond the end of any block, so that one
// comparison finds it together with runs of zeros that are too long.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "fuelrail/decode/jpeg/baseline_header.h"

namespace fuelrail::jpeg {

inline constexpr int kLookupBits = 10;
inline constexpr size_t kLookups = size_t{1} << kLookupBits;

// From the lowest bit: 6 bits, the length (0: none of these bits is consumed); at 8 and 16, 8 bits
// each, how far the first and the second coefficient are from the place of the one before the entry
// (equal if there is one); at 24, 4 bits, the size of a value that follows; at 31, whether the
// block ends; at 32 and 48, 16 bits each, the coefficients. A decoder writes the second one first,
// so that one coefficient may be in both places.
using Entry = uint64_t;
inline constexpr int kEndBit = 31;
inline constexpr int kBeyondBlock = 252;  // a distance

inline int length_of(Entry entry) { return static_cast<int>(entry & 63); }
inline int first_step_of(Entry entry) { return static_cast<int>(entry >> 8 & 255); }
inline int second_step_of(Entry entry) { return static_cast<int>(entry >> 16 & 255); }
inline int size_to_come_of(Entry entry) { return static_cast<int>(entry >> 24 & 15); }
inline bool ends_block(Entry entry) { return (entry >> kEndBit & 1) != 0; }

// A code, one symbol at a time.
class CanonicalCode {
 public:
  CanonicalCode() = default;
  explicit CanonicalCode(const HuffmanCode& code);

  struct Symbol {
    int value = 0;
    int length = 0;
  };
  // `bits`: the next 16. Empty: no symbol has this code.
  std::optional<Symbol> find(uint32_t bits) const;

 private:
  std::array<uint32_t, 17> ends_{};  // behind the codes of each length, as 16 bits
  std::array<int, 17> offsets_{};    // from a code to its symbol
  std::array<uint8_t, 256> symbols_{};
};

// The most bits of a value in baseline.
inline constexpr int kMaxAcSize = 10;
inline constexpr int kMaxDcSize = 11;

// The value of a coefficient of `size` bits (ITU-T T.81, F.2.2.1, EXTEND).
inline int extended(int bits, int size) {
  return bits < (1 << size >> 1) ? bits - (1 << size) + 1 : bits;
}

// What decodes one block of the MCU, after its DC coefficient.
struct BlockStep {
  const Entry* ac = nullptr;       // followed by the tables of values, by size
  const Entry* next_dc = nullptr;  // of the block after this one
  const BlockStep* next = nullptr;
};

// Threads: one. The object is large (390 KB), so keep it from image to image; tables are built only
// if the codes differ from the last image's.
class HuffmanTables {
 public:
  HuffmanTables();

  // Makes the tables of a header. Lifetime: pointers are valid until the next call.
  void prepare(const BaselineHeader& header);

  const BlockStep* step_of(int64_t block) const {
    return &steps_[static_cast<size_t>(block % blocks_)];
  }
  const Entry* first_dc() const { return steps_[static_cast<size_t>(blocks_ - 1)].next_dc; }

  // The code of a DC table or of an AC code's own table, which `BlockStep` has led to.
  struct Code {
    bool is_dc = false;
    const CanonicalCode* code = nullptr;
  };
  Code code_at(const Entry* table) const;

  uint64_t builds() const { return builds_; }  // calls of `prepare` that built tables

 private:
  static constexpr size_t kSizes = kLookupBits + 1;  // an AC code's own table, and those of values
  static constexpr size_t kAcTables = kTables * kSizes;

  Entry* table(size_t i) const { return entries_.get() + i * kLookups; }
  bool has_codes_of(const BaselineHeader& header) const;
  void build(const BaselineHeader& header);

  std::unique_ptr<Entry[]> entries_;  // kAcTables, then up to one DC table for each component
  std::array<CanonicalCode, kTables> ac_codes_{};
  std::array<CanonicalCode, kMaxComponents> dc_codes_{};
  std::array<BlockStep, kMaxBlocksOfMcu> steps_{};
  std::array<size_t, kMaxComponents> dc_table_{};  // the number of each component's
  int blocks_ = 1;
  std::optional<BaselineHeader> built_for_;
  uint64_t builds_ = 0;
};

}  // namespace fuelrail::jpeg
