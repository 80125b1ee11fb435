#include "fuelrail/sampler/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr int kMostBits = 40;  // log2 of the largest number of weights

uint32_t checksum_of(std::span<const double> weights) {
  constexpr size_t kAtOnce = 512;
  std::byte bytes[kAtOnce * sizeof(double)];
  uint32_t sum = 0;
  while (!weights.empty()) {
    const std::span<const double> part = weights.first(std::min(kAtOnce, weights.size()));
    for (size_t i = 0; i < part.size(); ++i) store_le(bytes + i * sizeof(double), part[i]);
    sum = crc32({bytes, part.size_bytes()}, sum);
    weights = weights.subspan(part.size());
  }
  return sum;
}

double largest_of(std::span<const double> weights) {
  if (weights.empty()) throw InvalidArgumentError("`weights` is empty");
  if (weights.size() > uint64_t{1} << kMostBits) {
    throw InvalidArgumentError("`weights` is too long",
                               {.expected = fmt::format("at most 2^{} weights", kMostBits),
                                .found = fmt::to_string(weights.size())});
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i]) && weights[i] >= 0) continue;
    throw InvalidArgumentError(
        fmt::format("weight {} is out of range", i),
        {.expected = "a finite number of at least 0", .found = fmt::to_string(weights[i])});
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (largest > 0) return largest;
  throw InvalidArgumentError("all weights are 0",
                             {.remedy = "Set a weight above 0 for each record that may be drawn"});
}

}  // namespace

Weights::Weights(std::span<const double> weights)
    : checksum_(checksum_of(weights)), threshold_(scaled(weights)) {
  fill();
}

// Returns integers in proportion to the weights, the largest of them a power of two. Their sum, and
// each of them times their number, is at most 2^61. Each step is exact or rounded by IEEE 754, so
// that the result is the same on every machine.
std::vector<uint64_t> Weights::scaled(std::span<const double> weights) {
  const double largest = largest_of(weights);
  // Scaled by powers of two into the middle of the range, to avoid subnormal numbers.
  int exponent = 0;
  const double mantissa = std::frexp(largest, &exponent);
  const int bits = std::min(53, 61 - static_cast<int>(std::bit_width(weights.size() - 1)));
  const double unit = std::ldexp(1.0, bits);
  std::vector<uint64_t> scaled;
  scaled.reserve(weights.size());
  for (const double weight : weights) {
    // ldexp may round a number far below the largest (at 2^-1074 and below), which then counts as 0
    // anyway.
    const double share = std::ldexp(weight, -exponent) / mantissa;  // in [0, 1]
    scaled.push_back(static_cast<uint64_t>(share * unit + 0.5));
    total_ += scaled.back();
  }
  return scaled;
}

// Builds columns of equal height `total_`, one per record: a record below that height is filled up
// from one above it. `threshold_` initially holds the scaled weights.
void Weights::fill() {
  const size_t size = threshold_.size();
  alias_.resize(size);
  // Two stacks that grow towards each other: records below the height in [0, poor_end), the others
  // in [rich_begin, size).
  std::vector<uint64_t> waiting(size);
  size_t poor_end = 0;
  size_t rich_begin = size;
  for (size_t i = 0; i < size; ++i) {
    threshold_[i] *= size;
    waiting[threshold_[i] < total_ ? poor_end++ : --rich_begin] = i;
  }
  while (poor_end > 0 && rich_begin < size) {
    const uint64_t poor = waiting[--poor_end];
    const uint64_t rich = waiting[rich_begin];
    alias_[poor] = rich;
    threshold_[rich] -= total_ - threshold_[poor];
    if (threshold_[rich] >= total_) continue;
    ++rich_begin;
    waiting[poor_end++] = rich;
  }
  // The integers sum to size * total_, so the remaining columns are exactly full.
  for (; rich_begin < size; ++rich_begin) {
    const uint64_t full = waiting[rich_begin];
    threshold_[full] = total_;
    alias_[full] = full;
  }
}

uint64_t Weights::draw(const Philox& random, uint32_t operation, uint32_t draw) const {
  const uint64_t column = random.below64(operation, draw, size());
  const uint64_t height = random.below64(operation, draw + 2, total_);
  return height < threshold_[column] ? column : alias_[column];
}

}  // namespace fuelrail
