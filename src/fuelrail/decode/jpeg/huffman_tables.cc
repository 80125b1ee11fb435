#include "fuelrail/decode/jpeg/huffman_tables.h"

#include <algorithm>
#include <span>

namespace fuelrail::jpeg {
namespace {

constexpr int kZeroRun = 16;  // the step of the symbol F0: 16 zeros

Entry entry_of(int length, int first_step, int second_step, bool ends, int first, int second,
               int size_to_come = 0) {
  return static_cast<Entry>(length) | static_cast<Entry>(first_step) << 8 |
         static_cast<Entry>(second_step) << 16 | static_cast<Entry>(size_to_come) << 24 |
         static_cast<Entry>(ends) << kEndBit |
         static_cast<Entry>(static_cast<uint16_t>(first)) << 32 |
         static_cast<Entry>(static_cast<uint16_t>(second)) << 48;
}

// What the next kLookupBits bits begin with, alone.
struct Single {
  enum class Kind : uint8_t {
    kCoefficient,  // `value`, `step` places further
    kEndOfBlock,
    kSizeOnly,  // a coefficient of `value` bits, `step` places further, which the look-up cannot
                // hold
    kNone,      // none of these
  };
  Kind kind = Kind::kNone;
  uint8_t length = 0;
  uint8_t step = 0;
  int16_t value = 0;
};
using Singles = std::array<Single, kLookups>;

Single single_of(int symbol, int length, bool is_dc) {
  const int size = symbol & 15;
  const int run = is_dc ? -1 : symbol >> 4;  // a DC coefficient is at the place itself
  Single single{.kind = Single::Kind::kCoefficient,
                .length = static_cast<uint8_t>(length),
                .step = static_cast<uint8_t>(run + 1),
                .value = 0};
  if (size > (is_dc ? kMaxDcSize : kMaxAcSize)) return {};
  if (size == 0 && !is_dc) {
    // Baseline uses only 00 and F0; libjpeg-turbo ends the block at the others, too.
    if (run == 15) {
      single.step = kZeroRun;
    } else {
      single.kind = Single::Kind::kEndOfBlock;
    }
  } else if (size > kLookupBits) {
    return {};  // no table has values of this size
  } else if (length + size > kLookupBits) {
    single.kind = Single::Kind::kSizeOnly;
    single.value = static_cast<int16_t>(size);
  }
  return single;
}

void fill_singles(const HuffmanCode& code, bool is_dc, Singles& singles) {
  size_t at = 0;
  size_t symbol = 0;
  for (int length = 1; length <= kLookupBits; ++length) {
    const size_t width = size_t{1} << (kLookupBits - length);
    for (int i = 0; i < code.counts[static_cast<size_t>(length - 1)]; ++i, ++symbol, at += width) {
      const Single single = single_of(code.symbols[symbol], length, is_dc);
      const auto begin = singles.begin() + static_cast<std::ptrdiff_t>(at);
      const int size = code.symbols[symbol] & 15;
      if (single.kind != Single::Kind::kCoefficient || size == 0) {
        std::fill_n(begin, width, single);
        continue;
      }
      const size_t same = width >> size;  // look-ups with the same value
      for (int bits = 0; bits < 1 << size; ++bits) {
        Single one = single;
        one.length = static_cast<uint8_t>(length + size);
        one.value = static_cast<int16_t>(extended(bits, size));
        std::fill_n(begin + static_cast<std::ptrdiff_t>(static_cast<size_t>(bits) * same), same,
                    one);
      }
    }
  }
  std::fill(singles.begin() + static_cast<std::ptrdiff_t>(at), singles.end(), Single{});
}

// What the AC symbols that a window of kLookupBits bits begins with add to the entry of a
// coefficient before them: a second coefficient, the end of the block, or both.
struct Follow {
  Entry without_end = 0;
  Entry with_end = 0;
  bool is_end = false;   // nothing but the end: the first coefficient stays the last one
  uint8_t length = 255;  // of the first symbol; 255: it adds nothing
  uint8_t length_with_end = 255;
};
using Follows = std::array<Follow, kLookups>;

Follow follow_of(size_t window, const Singles& ac) {
  const Single& single = ac[window];
  const Entry end = Entry{1} << kEndBit;
  Follow follow;
  if (single.kind == Single::Kind::kEndOfBlock) {
    follow.with_end = single.length | end;
    follow.is_end = true;
    follow.length = follow.length_with_end = single.length;
  } else if (single.kind == Single::Kind::kCoefficient) {
    const Single& next = ac[window << single.length & (kLookups - 1)];
    follow.without_end = entry_of(single.length, 0, single.step, false, 0, single.value);
    follow.with_end = follow.without_end + (next.length | end);
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
  const Entry alone =
      entry_of(first.length, first.step, first.step, false, first.value, first.value);
  const Entry value = alone >> 48 << 48;  // as the last one
  for (size_t rest = 0; rest < entries.size(); ++rest) {
    const Follow& follow = follows[rest << first.length];
    const Entry added = follow.length_with_end <= left ? follow.with_end : follow.without_end;
    const Entry combined = alone - (follow.is_end ? 0 : value) + added;
    entries[rest] = follow.length <= left ? combined : alone;
  }
}

void fill_entries(const Singles& firsts, const Follows& follows, bool is_dc, Entry* entries) {
  for (size_t i = 0; i < kLookups;) {
    const Single& first = firsts[i];
    const size_t width = size_t{1} << (kLookupBits - first.length);
    switch (first.kind) {
      case Single::Kind::kCoefficient:
        fill_combined(first, follows, {entries + i, width});
        i += width;
        break;
      case Single::Kind::kEndOfBlock:  // a zero, one place further
        std::fill_n(entries + i, width, entry_of(first.length, 1, 1, true, 0, 0));
        i += width;
        break;
      case Single::Kind::kSizeOnly:
        std::fill_n(entries + i, width,
                    entry_of(first.length, first.step, first.step, false, 0, 0, first.value));
        i += width;
        break;
      case Single::Kind::kNone:
        // The first step is inside of the block, for the zero that a decoder writes there.
        entries[i++] = entry_of(0, is_dc ? 0 : 1, kBeyondBlock, false, 0, 0);
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
  for (size_t i = 1; i <= 16; ++i) length += bits >= ends_[i];  // without branches: they ascend
  if (length > 16) return std::nullopt;
  const int code = static_cast<int>(bits >> (16 - length));
  return Symbol{symbols_[static_cast<size_t>(code + offsets_[length])], static_cast<int>(length)};
}

HuffmanTables::HuffmanTables()
    : entries_(std::make_unique<Entry[]>((kAcTables + kMaxComponents) * kLookups)) {
  for (size_t i = 0; i < kAcTables; ++i) {
    const int size = static_cast<int>(i % kSizes);
    if (size == 0) continue;
    for (size_t bits = 0; bits < kLookups; ++bits) {
      const int value = extended(static_cast<int>(bits >> (kLookupBits - size)), size);
      table(i)[bits] = entry_of(size, 0, 0, false, value, value);
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
    fill_singles(header.ac_codes[ac], false, singles);
    for (size_t k = 0; k < kLookups; ++k) follows[k] = follow_of(k, singles);
    fill_entries(singles, follows, false, table(ac * kSizes));
    ac_codes_[ac] = CanonicalCode(header.ac_codes[ac]);
    const HuffmanCode& dc = header.dc_codes[static_cast<size_t>(component.dc_code)];
    fill_singles(dc, true, singles);
    fill_entries(singles, follows, true, table(dc_table_[i]));
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
    steps_[static_cast<size_t>(i)] = {.ac = table(ac * kSizes),
                                      .next_dc = table(dc_table_[next_component]),
                                      .next = &steps_[static_cast<size_t>(next)]};
  }
}

HuffmanTables::Code HuffmanTables::code_at(const Entry* at) const {
  const auto number = static_cast<size_t>(at - entries_.get()) / kLookups;
  if (number >= kAcTables) return {true, &dc_codes_[number - kAcTables]};
  return {false, &ac_codes_[number / kSizes]};
}

}  // namespace fuelrail::jpeg
