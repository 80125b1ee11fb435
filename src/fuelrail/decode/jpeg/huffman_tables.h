// Look-up tables for the Huffman codes of a baseline scan. An entry tells what the next kLookupBits
// bits hold: up to two coefficients and the end of the block.
//
// A block is decoded by looking up, in turn, in the table of its first coefficient (DC), which also
// has the first AC coefficients, and in that of its AC coefficients. A value that is longer than
// the look-up has an entry for its code alone, which leads to a table of the values of that size.
// AC codes longer than the look-up all begin with some ones. The entry of these ones writes a zero
// one place further, which it moves to, and leads to a table of the long codes without them. What
// no entry holds (codes that are longer still, codes that do not exist, values that baseline does
// not have) is an entry of length 0, which moves the place beyond the end of any block, so that one
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

struct Entry {
  uint8_t length = 0;       // in bits; 0: none is consumed; with kEndFlag, the block ends
  uint8_t first_step = 0;   // from the last coefficient before the entry to its first one
  uint8_t second_step = 0;  // to its second one; if it has only one, as first_step
  uint8_t next_table = 0;   // kAcTable, the size of a value that follows, or kLongTable
  // The coefficients. A decoder writes the second one first, so both may be the same.
  int16_t first = 0;
  int16_t second = 0;
};
static_assert(sizeof(Entry) == sizeof(uint64_t));
inline constexpr uint8_t kEndFlag = 128;
inline constexpr int kBeyondBlock = 252;  // a step

inline int length_of(const Entry& entry) { return entry.length & (kEndFlag - 1); }

// The tables of an AC code.
inline constexpr int kAcTable = 0;
inline constexpr int kLongTable = kLookupBits + 1;  // of long codes, without the ones before them
inline constexpr size_t kTablesOfCode = kLongTable + 1;

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
  const Entry* ac = nullptr;       // followed by the code's other tables
  const Entry* next_dc = nullptr;  // of the block after this one
  const BlockStep* next = nullptr;
};

// Threads: one. The object is large (420 KB), so keep it from image to image; tables are built only
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

  // The code of a table other than those of values.
  struct Code {
    const CanonicalCode* code = nullptr;
    bool is_dc = false;
    int ones =
        0;  // of a table of long codes: the bits before the table, which moved the place by 1
  };
  Code code_at(const Entry* table) const;

  uint64_t builds() const { return builds_; }  // calls of `prepare` that built tables

 private:
  static constexpr size_t kAcTables = kTables * kTablesOfCode;

  Entry* table(size_t i) const { return entries_.get() + i * kLookups; }
  bool has_codes_of(const BaselineHeader& header) const;
  void build(const BaselineHeader& header);

  std::unique_ptr<Entry[]> entries_;  // kAcTables, then up to one DC table for each component
  std::array<CanonicalCode, kTables> ac_codes_{};
  std::array<int, kTables> ones_{};  // that all long AC codes begin with
  std::array<CanonicalCode, kMaxComponents> dc_codes_{};
  std::array<BlockStep, kMaxBlocksOfMcu> steps_{};
  std::array<size_t, kMaxComponents> dc_table_{};  // the number of each component's
  int blocks_ = 1;
  std::optional<BaselineHeader> built_for_;
  uint64_t builds_ = 0;
};

}  // namespace fuelrail::jpeg
