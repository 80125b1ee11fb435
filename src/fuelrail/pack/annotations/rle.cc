#include "fuelrail/pack/annotations/rle.h"

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <numeric>

#include "fuelrail/base/error.h"

namespace fuelrail::pack {
namespace {

constexpr int kGroupBits = 5;
constexpr unsigned kBits = 31;
constexpr unsigned kSign = 16;
constexpr unsigned kMore = 32;
constexpr int kMostCharacters = 7;  // 35 bits: a difference of two lengths has 33 with its sign

[[noreturn]] void refuse_string(const char* failure, size_t at, std::string found = {}) {
  throw CorruptError(fmt::format("the compressed run lengths {} at character {}", failure, at),
                     {.found = std::move(found)});
}

// Reads one number at `at`, and moves `at` behind it.
int64_t read_number(std::string_view text, size_t& at) {
  uint64_t bits = 0;
  for (int group = 0; group < kMostCharacters; ++group) {
    if (at == text.size()) refuse_string("end inside a number", at);
    const unsigned value = static_cast<unsigned char>(text[at]) - 48U;
    if (value >= 2 * kMore) {
      refuse_string("have a wrong character", at,
                    fmt::format("byte {}", static_cast<unsigned char>(text[at])));
    }
    ++at;
    const int shift = kGroupBits * group;
    bits |= uint64_t{value & kBits} << shift;
    if ((value & kMore) != 0) continue;
    if ((value & kSign) != 0) bits |= ~uint64_t{0} << (shift + kGroupBits);
    return static_cast<int64_t>(bits);
  }
  refuse_string("have a number that is too long", at);
}

}  // namespace

RunLengths parse_run_lengths(std::string_view compressed) {
  RunLengths lengths;
  for (size_t at = 0; at < compressed.size();) {
    const size_t begin = at;
    int64_t length = read_number(compressed, at);
    const size_t count = lengths.size();
    if (count > 2) length += lengths[count - 2];
    if (length < 0 || length > std::numeric_limits<uint32_t>::max()) {
      refuse_string("have an invalid length", begin, fmt::to_string(length));
    }
    lengths.push_back(static_cast<uint32_t>(length));
  }
  return lengths;
}

void check_run_lengths(const RunLengths& lengths, Size image) {
  const auto pixels = static_cast<uint64_t>(image.height * image.width);
  const uint64_t sum = std::accumulate(lengths.begin(), lengths.end(), uint64_t{0});
  if (sum == pixels) return;
  throw CorruptError("the sum of the run lengths is not the number of pixels",
                     {.expected = fmt::format("{} ({} x {})", pixels, image.height, image.width),
                      .found = fmt::to_string(sum)});
}

}  // namespace fuelrail::pack
