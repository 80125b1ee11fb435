#include "fuelrail/mxnet/draws.h"

#include <cmath>
#include <utility>

#include "fuelrail/transform/portable_math.h"

namespace fuelrail::mxnet {

float Draws::unit() {
  const float unit = static_cast<float>(bits()) * 0x1p-32f;
  return unit < 1.0f ? unit : 0x1.fffffep-1f;
}

float Draws::uniform(float low, float high) { return unit() * (high - low) + low; }

// Divides the range of words into (high - low + 1) equal pieces and returns `low` plus the number
// of the word's piece; a word after the last piece is drawn again. The libstdc++ of GCC 11 and
// later multiplies instead and returns different numbers.
int64_t Draws::integer(int64_t low, int64_t high) {
  constexpr uint64_t kLargestWord = 0xffffffff;
  const uint64_t values = static_cast<uint64_t>(high - low) + 1;
  const uint64_t piece = kLargestWord / values;
  uint64_t word = bits();
  while (word >= values * piece) word = bits();
  return low + static_cast<int64_t>(word / piece);
}

// Makes a double from 64 bits: the first word is the low half, the second word the high half.
bool Draws::coin() {
  const auto below = static_cast<double>(bits());
  const auto above = static_cast<double>(bits());
  return (below + above * 0x1p32) * 0x1p-64 < 0.5;
}

// Marsaglia's polar method. The logarithm is fuelrail's own, in double, so that the result is the
// same with every C library. It may differ from MXNet's in the last place.
void Draws::normal(float deviation, std::span<float> to) {
  for (size_t i = 0; i < to.size(); i += 2) {
    float x = 0;
    float y = 0;
    float square = 0;
    do {
      x = 2.0f * unit() - 1.0f;
      y = 2.0f * unit() - 1.0f;
      square = x * x + y * y;
    } while (square > 1.0f || square == 0.0f);
    const auto logarithm = static_cast<float>(portable_log(static_cast<double>(square)));
    const float factor = std::sqrt(-2.0f * logarithm / square);
    to[i] = y * factor * deviation;
    if (i + 1 < to.size()) to[i + 1] = x * factor * deviation;
  }
}

void Draws::shuffle(std::span<int> items) {
  for (size_t i = 1; i < items.size(); ++i) {
    std::swap(items[i], items[static_cast<size_t>(integer(0, static_cast<int64_t>(i)))]);
  }
}

}  // namespace fuelrail::mxnet
