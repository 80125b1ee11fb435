#include "fuelrail/decode/jpeg/huffman_tables.h"

#include <algorithm>
#include <bit>
#include <span>

namespace fuelrail::jpeg {
namespace {

// An entry as a number, so that two can be added.
using Packed = uint64_t;

constexpr int shift_of(int byte, int bytes) {
  return 8 * (std::endian::native == std::endian::little ? byte : 8 - byte - bytes);
}
constexpr int kEndShift = shift_of(0, 1) + 7;
static_assert(1 << 7 == kEndFlag);
constexpr int kSecondShift = shift_of(6, 2);

Packed packed(int length, int first_step, int second_step, bool ends, int first, int second,
              int next_table = kAcTable) {
  return static_cast<Packed>(length) << shift_of(0, 1) | static_cast<Packed>(ends) << kEndShift |
         static_cast<Packed>(first_step) << shift_of(1, 1) |
         static_cast<Packed>(second_step) << shift_of(2, 1) |
         static_cast<Packed>(next_table) << shift_of(3, 1) |
         static_cast<Packed>(static_cast<uint16_t>(first)) << shift_of(4, 2) |
         static_cast<Packed>(static_cast<uint16_t>(second)) << kSecondShift;
}
Entry entry_of(Packed entry) { return std::bit_cast<Entry>(entry); }

// The symbols that a table is for.
struct Part {
  const HuffmanCode& code;
  bool is_dc = false;
  int ones = 0;  // before the look-up: the table is for the longer codes that begin with them

  // How far a coefficient without zeros before it is from the place. The first DC coefficient is
  // at the place itself, and an entry for ones has moved it by 1.
  uint8_t least_step() const { return is_dc || ones > 0 ? 0 : 1; }
};

// What the next kLookupBits bits begin with, alone.
struct Single {
  enum class Kind : uint8_t {
    kCoefficient,  // `value`, `step` places further
    kEndOfBlock,   // a zero, `step` places further
    kToCome,       // a zero, `step` places further, and the table of number `value`
    kNone,         // none of these; `step` is inside of the block
  };
  Kind kind = Kind::kNone;
  uint8_t length = 0;
  uint8_t step = 0;
  int16_t value = 0;
};
using Singles = std::array<Single, kLookups>;

Single single_of(int symbol, int length, const Part& part) {
  const int size = symbol & 15;
  const int run = part.is_dc ? 0 : symbol >> 4;
  const Single none{.step = part.least_step()};
  Single single{.kind = Single::Kind::kCoefficient,
                .length = static_cast<uint8_t>(length),
                .step = static_cast<uint8_t>(part.least_step() + run),
                .value = 0};
  if (size > (part.is_dc ? kMaxDcSize : kMaxAcSize)) return none;
  if (size == 0 && !part.is_dc) {
    // Baseline uses only 00 and F0; libjpeg-turbo ends the block at the others, too. F0 is 16
    // zeros.
    if (run < 15) {
      single.kind = Single::Kind::kEndOfBlock;
      single.step = none.step;
    }
  } else if (size > kLookupBits) {
    return none;  // no table has values of this size
  } else if (length + size > kLookupBits) {
    single.kind = Single::Kind::kToCome;
    single.value = static_cast<int16_t>(size);
  }
  return single;
}

// Codes are in ascending order, so those of a table follow each other. Returns: the number of
// look-ups that hold a code.
size_t fill_singles(const Part& part, Singles& singles) {
  const uint32_t first_code = 0x10000 - (0x10000U >> part.ones);  // as 16 bits
  size_t at = 0;
  size_t symbol = 0;
  uint32_t code = 0;
  for (int length = 1; length <= std::min(16, part.ones + kLookupBits); ++length) {
    for (int i = 0; i < part.code.counts[static_cast<size_t>(length - 1)]; ++i, ++symbol) {
      const bool is_in_part = code >= first_code;
      code += 0x10000U >> length;
      if (!is_in_part) continue;
      const int rest = length - part.ones;
      const size_t width = kLookups >> rest;
      const Single single = single_of(part.code.symbols[symbol], rest, part);
      const auto begin = singles.begin() + static_cast<std::ptrdiff_t>(at);
      const int size = part.code.symbols[symbol] & 15;
      at += width;
      if (single.kind != Single::Kind::kCoefficient || size == 0) {
        std::fill_n(begin, width, single);
        continue;
      }
      const size_t same = width >> size;  // look-ups with the same value
      for (int bits = 0; bits < 1 << size; ++bits) {
        Single one = single;
        one.length = static_cast<uint8_t>(rest + size);
        one.value = static_cast<int16_t>(extended(bits, size));
        std::fill_n(begin + static_cast<std::ptrdiff_t>(static_cast<size_t>(bits) * same), same,
                    one);
      }
    }
  }
  std::fill(singles.begin() + static_cast<std::ptrdiff_t>(at), singles.end(),
            Single{.step = part.least_step()});
  return at;
}

// What the AC symbols that a window of kLookupBits bits begins with add to the entry of a
// coefficient before them: a second coefficient, the end of the block, or both.
struct Follow {
  Packed without_end = 0;
  Packed with_end = 0;
  bool is_end = false;   // nothing but the end: the first coefficient stays the last one
  uint8_t length = 255;  // of the first symbol; 255: it adds nothing
  uint8_t length_with_end = 255;
};
using Follows = std::array<Follow, kLookups>;

Follow follow_of(size_t window, const Singles& ac) {
  const Single& single = ac[window];
  Follow follow;
  if (single.kind == Single::Kind::kEndOfBlock) {
    follow.with_end = packed(single.length, 0, 0, true, 0, 0);
    follow.is_end = true;
    follow.length = follow.length_with_end = single.length;
  } else if (single.kind == Single::Kind::kCoefficient) {
    const Single& next = ac[window << single.length & (kLookups - 1)];
    follow.without_end = packed(single.length, 0, single.step, false, 0, single.value);
    follow.with_end = follow.without_end + packed(next.length, 0, 0, true, 0, 0);
    follow.length = single.length;
    if (next.kind == Single::Kind::kEndOfBlock) {
      follow.length_with_end = static_cast<uint8_t>(single.length + next.length);
    }
  }
  return follow;
}

// Fills the entries of all windows that begin with a first coefficient.
void fill_combined(const Single& first, const Follows& follows, std::span<Entry> entries) {
  const int left = kLookupBits - first.length;
  const Packed alone =
      packed(first.length, first.step, first.step, false, first.value, first.value);
  const Packed value = packed(0, 0, 0, false, 0, first.value);  // as the last one
  for (size_t rest = 0; rest < entries.size(); ++rest) {
    const Follow& follow = follows[rest << first.length];
    const Packed added = follow.length_with_end <= left ? follow.with_end : follow.without_end;
    const Packed combined = alone - (follow.is_end ? 0 : value) + added;
    entries[rest] = entry_of(follow.length <= left ? combined : alone);
  }
}

void fill_entries(const Singles& firsts, const Follows& follows, Entry* entries) {
  for (size_t i = 0; i < kLookups;) {
    const Single& first = firsts[i];
    const bool is_end = first.kind == Single::Kind::kEndOfBlock;
    // Of the look-ups that begin with the same ones, the first may have shorter codes.
    const size_t width = std::min(kLookups >> first.length, kLookups - i);
    switch (first.kind) {
      case Single::Kind::kCoefficient:
        fill_combined(first, follows, {entries + i, width});
        i += width;
        break;
      case Single::Kind::kEndOfBlock:
      case Single::Kind::kToCome:
        std::fill_n(
            entries + i, width,
            entry_of(packed(first.length, first.step, first.step, is_end, 0, 0, first.value)));
        i += width;
        break;
      case Single::Kind::kNone:
        // The first step is inside of the block, for the zero that a decoder writes there.
        entries[i++] = entry_of(packed(0, first.step, kBeyondBlock, false, 0, 0));
        break;
    }
  }
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
  Singles singles;
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
    const size_t held = fill_singles({ac_code}, singles);
    ones_[ac] = std::countl_one(static_cast<uint32_t>(held) << (32 - kLookupBits));
    if (ones_[ac] > 0) {
      std::fill(singles.begin() + static_cast<std::ptrdiff_t>(held), singles.end(),
                Single{.kind = Single::Kind::kToCome,
                       .length = static_cast<uint8_t>(ones_[ac]),
                       .step = 1,
                       .value = kLongTable});
    }
    for (size_t k = 0; k < kLookups; ++k) follows[k] = follow_of(k, singles);
    fill_entries(singles, follows, table(ac * kTablesOfCode));
    if (ones_[ac] > 0) {
      fill_singles({ac_code, false, ones_[ac]}, singles);
      fill_entries(singles, follows, table(ac * kTablesOfCode + kLongTable));
    }
    ac_codes_[ac] = CanonicalCode(ac_code);
    const HuffmanCode& dc = header.dc_codes[static_cast<size_t>(component.dc_code)];
    fill_singles({dc, true}, singles);
    fill_entries(singles, follows, table(dc_table_[i]));
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
