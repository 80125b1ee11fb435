#include "fuelrail/base/utf8.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace fuelrail {
namespace {

// The first byte of a character of `bytes` bytes, and the smallest code that needs that many.
struct Lead {
  uint8_t mask;
  uint8_t bits;
  size_t bytes;
  uint32_t smallest;
};
constexpr Lead kLeads[] = {
    {0x80, 0x00, 1, 0}, {0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

}  // namespace

Utf8Character first_character(std::string_view text, bool surrogates) {
  const auto first = static_cast<uint8_t>(text[0]);
  const auto* lead = std::find_if(std::begin(kLeads), std::end(kLeads), [&](const Lead& candidate) {
    return (first & candidate.mask) == candidate.bits;
  });
  if (lead == std::end(kLeads) || text.size() < lead->bytes) return {};
  uint32_t code = first & ~lead->mask;
  for (size_t i = 1; i < lead->bytes; ++i) {
    const auto next = static_cast<uint8_t>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < lead->smallest || code > 0x10ffff || (surrogate && !surrogates)) return {};
  return {code, lead->bytes};
}

size_t utf8_bytes(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  size_t at = 0;
  while (at < text.size()) {
    uint64_t eight = 0;
    const size_t left = std::min(text.size() - at, sizeof eight);
    std::memcpy(&eight, text.data() + at, left);
    if ((eight & kHighBits) == 0) {
      at += left;
      continue;
    }
    const size_t bytes = first_character(text.substr(at)).bytes;
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

}  // namespace fuelrail
