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

constexpr int kMostBits = 40;  // of the number of records

uint32_t checksum_of(std::span<const double> weights) {
  uint32_t sum = 0;
  for (const double weight : weights) {
    std::byte bytes[sizeof weight];
    store_le(bytes, std::bit_cast<uint64_t>(weight));
    sum = crc32(bytes, sum);
  }
  return sum;
}

double largest_of(std::span<const double> weights) {
  if (weights.empty()) throw InvalidArgumentError("there are no weights");
  if (weights.size() > uint64_t{1} << kMostBits) {
    throw InvalidArgumentError("there are too many weights",
                               {.expected = fmt::format("at most 2^{}", kMostBits),
                                .found = fmt::to_string(weights.size())});
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    if (std::isfinite(weights[i]) && weights[i] >= 0) continue;
    throw InvalidArgumentError(
        fmt::format("weight {} cannot be used", i),
        {.expected = "a finite number, 0 or more", .found = fmt::to_string(weights[i])});
  }
  const double largest = *std::max_element(weights.begin(), weights.end());
  if (largest > 0) return largest;
  throw InvalidArgumentError("no weight is above 0",
                             {.remedy = "Give the records to be drawn a weight above 0"});
}

}  // namespace

Weights::Weights(std::span<const double> weights) : checksum_(checksum_of(weights)) {
  fill(scaled(weights));
}

// Integers in proportion, the largest a power of two: their sum, and any of them times their
// number, is at most 2^61. Each step is exact or rounded as IEEE 754 says, the same on every
// machine.
std::vector<uint64_t> Weights::scaled(std::span<const double> weights) {
  const double largest = largest_of(weights);
  // Scaled by powers of two into the middle of the range, where nothing is subnormal.
  int exponent = 0;
  const double mantissa = std::frexp(largest, &exponent);
  const int bits = std::min(53, 61 - static_cast<int>(std::bit_width(weights.size() - 1)));
  const double unit = std::ldexp(1.0, bits);
  std::vector<uint64_t> scaled;
  scaled.reserve(weights.size());
  for (const double weight : weights) {
    // ldexp of a number far below the largest may round, at 2^-1074 and below: that counts as 0.
    const double share = std::ldexp(weight, -exponent) / mantissa;  // of the largest: in [0, 1]
    scaled.push_back(static_cast<uint64_t>(share * unit + 0.5));
    total_ += scaled.back();
  }
  return scaled;
}

// Columns of equal height `total_`, one a record: what a record has too little of is filled up by
// one that has too much.
void Weights::fill(std::vector<uint64_t> weights) {
  const size_t size = weights.size();
  threshold_.resize(size);
  alias_.resize(size);
  std::vector<uint64_t> small;
  std::vector<uint64_t> large;
  for (size_t i = 0; i < size; ++i) {
    weights[i] *= size;
    (weights[i] < total_ ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const uint64_t poor = small.back();
    const uint64_t rich = large.back();
    small.pop_back();
    threshold_[poor] = weights[poor];
    alias_[poor] = rich;
    weights[rich] -= total_ - weights[poor];
    if (weights[rich] >= total_) continue;
    large.pop_back();
    small.push_back(rich);
  }
  // The integers sum to size * total_, so what is left is exactly full.
  for (const uint64_t full : large) {
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
