#include "fuelrail/decode/jpeg/huffman_tables.h"

#include <algorithm>
#include <bit>

namespace fuelrail::jpeg {
namespace {

// An entry as a number, so that two can be added.
using Packed = uint64_t;

constexpr int shift_of(int byte, int bytes) {
  return 8 * (std::endian::native == std::endian::little ? byte : 8 - byte - bytes);
}
constexpr int kEndShift = shift_of(0, 1) + 7;
static_assert(1 << 7 == kEndFlag);
constexpr Packed kSecond = Packed{0xffff} << shift_of(6, 2);

Packed packed(int length, int first_step, int second_step, bool ends, int first, int second,
              int next_table = kAcTable) {
  return static_cast<Packed>(length) << shift_of(0, 1) | static_cast<Packed>(ends) << kEndShift |
         static_cast<Packed>(first_step) << shift_of(1, 1) |
         static_cast<Packed>(second_step) << shift_of(2, 1) |
         static_cast<Packed>(next_table) << shift_of(3, 1) |
         static_cast<Packed>(static_cast<uint16_t>(first)) << shift_of(4, 2) |
         static_cast<Packed>(static_cast<uint16_t>(second)) << shift_of(6, 2);
}
Entry entry_of(Packed entry) { return std::bit_cast<Entry>(entry); }

// The symbols that a table is for.
struct Part {
  const HuffmanCode& code;
  bool is_dc = false;
  int ones = 0;  // before the look-up: the table is for the longer codes that begin with them

  // How far a coefficient without zeros before it is from the place. The first DC coefficient is
  // at the place itself, and an entry for ones has moved it by 1.
  int least_step() const { return is_dc || ones > 0 ? 0 : 1; }
};

struct Symbol {
  enum class Kind {
    kCoefficient,  // of `size` bits, `step` places further
    kEndOfBlock,   // a zero, `step` places further
    kToCome,       // a zero, `step` places further, and the table of number `size`
    kNone,         // none of these
  };
  Kind kind = Kind::kCoefficient;
  int length = 0;  // of its code
  int step = 0;
  int size = 0;

  int whole_length() const { return length + size; }  // of a coefficient
  // The entry of a coefficient alone.
  Packed alone(int bits) const {
    const int value = extended(bits, size);
    return packed(whole_length(), step, step, false, value, value);
  }
};

Symbol symbol_of(int value, int length, const Part& part) {
  const int run = part.is_dc ? 0 : value >> 4;
  Symbol symbol{.length = length, .step = part.least_step() + run, .size = value & 15};
  if (symbol.size > std::min(part.is_dc ? kMaxDcSize : kMaxAcSize, kLookupBits)) {
    symbol.kind = Symbol::Kind::kNone;  // no table has values of more bits than a look-up
  } else if (symbol.size == 0 && !part.is_dc && run < 15) {
    // Baseline uses only 00 and F0; libjpeg-turbo ends the block at the others, too. F0 is 16
    // zeros.
    symbol.kind = Symbol::Kind::kEndOfBlock;
    symbol.step = part.least_step();
  } else if (symbol.whole_length() > kLookupBits) {
    symbol.kind = Symbol::Kind::kToCome;
  }
  return symbol;
}

// Calls `visit(first, symbol)` for the part's symbols, with the first look-up that begins with the
// symbol's code. Codes are in ascending order, so their look-ups follow each other. Returns: the
// number of look-ups that hold a code.
template <class Visit>
size_t for_each_symbol(const Part& part, const Visit& visit) {
  const uint32_t first_code = 0x10000 - (0x10000U >> part.ones);  // as 16 bits
  size_t at = 0;
  size_t number = 0;
  uint32_t code = 0;
  for (int length = 1; length <= std::min(16, part.ones + kLookupBits); ++length) {
    for (int i = 0; i < part.code.counts[static_cast<size_t>(length - 1)]; ++i, ++number) {
      const bool is_in_part = code >= first_code;
      code += 0x10000U >> length;
      if (!is_in_part) continue;
      const int rest = length - part.ones;
      visit(at, symbol_of(part.code.symbols[number], rest, part));
      at += kLookups >> rest;
    }
  }
  return at;
}

// What the AC symbols that some bits begin with change in the entry of a coefficient before them.
// They add a second coefficient, the end of the block, or both. That of k bits is at (1 << k) +
// bits.
struct Follows {
  std::array<Packed, kLookups> kept;  // of that entry; then `added` is added
  std::array<Packed, kLookups> added;
};

void fill_follows(const Part& ac, Follows& follows) {
  follows.kept.fill(~Packed{0});
  std::array<Packed, kLookups> ends{};
  for_each_symbol(ac, [&](size_t first, const Symbol& symbol) {
    if (symbol.kind != Symbol::Kind::kEndOfBlock) return;
    for (int k = symbol.length; k < kLookupBits; ++k) {
      std::fill_n(ends.begin() + ((kLookups + first) >> (kLookupBits - k)),
                  1 << (k - symbol.length), packed(symbol.length, 0, 0, true, 0, 0));
    }
  });
  follows.added = ends;
  for_each_symbol(ac, [&](size_t first, const Symbol& symbol) {
    if (symbol.kind != Symbol::Kind::kCoefficient) return;
    const int length = symbol.whole_length();
    for (int bits = 0; bits < 1 << symbol.size; ++bits, first += kLookups >> length) {
      const Packed second = packed(length, 0, symbol.step, false, 0, extended(bits, symbol.size));
      for (int k = length; k < kLookupBits; ++k) {
        const size_t begin = (kLookups + first) >> (kLookupBits - k);
        const size_t count = size_t{1} << (k - length);
        for (size_t rest = 0; rest < count; ++rest) {
          follows.kept[begin + rest] = ~kSecond;
          follows.added[begin + rest] = second + ends[count + rest];
        }
      }
    }
  });
}

// Returns: the number of look-ups that hold a code.
size_t fill_entries(const Part& part, const Follows& follows, Entry* entries) {
  // The first step is inside of the block, for the zero that a decoder writes there.
  const Entry none = entry_of(packed(0, part.least_step(), kBeyondBlock, false, 0, 0));
  const size_t held = for_each_symbol(part, [&](size_t first, const Symbol& symbol) {
    Entry* to = entries + first;
    const size_t width = kLookups >> symbol.length;
    switch (symbol.kind) {
      case Symbol::Kind::kCoefficient: {
        const size_t count = width >> symbol.size;  // look-ups with the same value
        for (int bits = 0; bits < 1 << symbol.size; ++bits) {
          const Packed alone = symbol.alone(bits);
          for (size_t rest = count; rest < 2 * count; ++rest) {
            *to++ = entry_of((alone & follows.kept[rest]) + follows.added[rest]);
          }
        }
        break;
      }
      case Symbol::Kind::kEndOfBlock:
        std::fill_n(to, width,
                    entry_of(packed(symbol.length, symbol.step, symbol.step, true, 0, 0)));
        break;
      case Symbol::Kind::kToCome:
        std::fill_n(
            to, width,
            entry_of(packed(symbol.length, symbol.step, symbol.step, false, 0, 0, symbol.size)));
        break;
      case Symbol::Kind::kNone:
        std::fill_n(to, width, none);
        break;
    }
  });
  std::fill(entries + held, entries + kLookups, none);
  return held;
}

}  // namespace

CanonicalCode::CanonicalCode(const HuffmanCode& code) : symbols_(code.symbols) {
  uint32_t next = 0;
  int symbol = 0;
  for (size_t length = 1; length <= 16; ++length) {
    const int count = code.counts[length - 1];
    offsets_[length] = symbol - static_cast<int>(next);
    symbol += count;
    next += static_cast<uint32_t>(count);
    ends_[length] = next << (16 - length);
    next <<= 1;
  }
}

std::optional<CanonicalCode::Symbol> CanonicalCode::find(uint32_t bits) const {
  size_t length = 1;
  while (length <= 16 && bits >= ends_[length]) ++length;
  if (length > 16) return std::nullopt;
  const int code = static_cast<int>(bits >> (16 - length));
  return Symbol{symbols_[static_cast<size_t>(code + offsets_[length])], static_cast<int>(length)};
}

HuffmanTables::HuffmanTables()
    : entries_(std::make_unique<Entry[]>((kAcTables + kMaxComponents) * kLookups)) {
  for (size_t i = 0; i < kAcTables; ++i) {
    const int size = static_cast<int>(i % kTablesOfCode);
    if (size == kAcTable || size == kLongTable) continue;
    for (size_t bits = 0; bits < kLookups; ++bits) {
      const int value = extended(static_cast<int>(bits >> (kLookupBits - size)), size);
      table(i)[bits] = entry_of(packed(size, 0, 0, false, value, value));
    }
  }
}

bool HuffmanTables::has_codes_of(const BaselineHeader& header) const {
  if (!built_for_ || built_for_->components != header.components) return false;
  for (size_t i = 0; i < static_cast<size_t>(header.components); ++i) {
    const Component& own = built_for_->component[i];
    const Component& other = header.component[i];
    if (own.dc_code != other.dc_code || own.ac_code != other.ac_code) return false;
    const auto dc = static_cast<size_t>(own.dc_code);
    const auto ac = static_cast<size_t>(own.ac_code);
    if (built_for_->dc_codes[dc] != header.dc_codes[dc]) return false;
    if (built_for_->ac_codes[ac] != header.ac_codes[ac]) return false;
  }
  return true;
}

// A DC table also has AC coefficients, so there is one for each pair of codes.
void HuffmanTables::build(const BaselineHeader& header) {
  Follows follows;
  for (size_t i = 0; i < static_cast<size_t>(header.components); ++i) {
    const Component& component = header.component[i];
    const auto same = std::find_if(
        header.component.begin(), header.component.begin() + i, [&](const Component& other) {
          return other.dc_code == component.dc_code && other.ac_code == component.ac_code;
        });
    const auto first = static_cast<size_t>(same - header.component.begin());
    dc_table_[i] = kAcTables + first;
    if (first < i) continue;
    const auto ac = static_cast<size_t>(component.ac_code);
    const HuffmanCode& ac_code = header.ac_codes[ac];
    Entry* const entries = table(ac * kTablesOfCode);
    fill_follows({ac_code}, follows);
    const size_t held = fill_entries({ac_code}, follows, entries);
    const int ones = std::countl_one(static_cast<uint32_t>(held) << (32 - kLookupBits));
    ones_[ac] = ones;
    if (ones > 0) {
      std::fill(entries + held, entries + kLookups,
                entry_of(packed(ones, 1, 1, false, 0, 0, kLongTable)));
      fill_entries({ac_code, false, ones}, follows, entries + kLongTable * kLookups);
    }
    ac_codes_[ac] = CanonicalCode(ac_code);
    const HuffmanCode& dc = header.dc_codes[static_cast<size_t>(component.dc_code)];
    fill_entries({dc, true}, follows, table(dc_table_[i]));
    dc_codes_[i] = CanonicalCode(dc);
  }
  built_for_ = header;
  ++builds_;
}

void HuffmanTables::prepare(const BaselineHeader& header) {
  if (!has_codes_of(header)) build(header);
  blocks_ = header.blocks_of_mcu;
  for (int i = 0; i < blocks_; ++i) {
    const int next = (i + 1) % blocks_;
    const size_t component = header.component_of_block[static_cast<size_t>(i)];
    const size_t next_component = header.component_of_block[static_cast<size_t>(next)];
    const auto ac = static_cast<size_t>(header.component[component].ac_code);
    steps_[static_cast<size_t>(i)] = {.ac = table(ac * kTablesOfCode),
                                      .next_dc = table(dc_table_[next_component]),
                                      .next = &steps_[static_cast<size_t>(next)]};
  }
}

HuffmanTables::Code HuffmanTables::code_at(const Entry* at) const {
  const auto number = static_cast<size_t>(at - entries_.get()) / kLookups;
  if (number >= kAcTables) return {.code = &dc_codes_[number - kAcTables], .is_dc = true};
  const size_t ac = number / kTablesOfCode;
  return {.code = &ac_codes_[ac], .ones = number % kTablesOfCode == kLongTable ? ones_[ac] : 0};
}

}  // namespace fuelrail::jpeg
