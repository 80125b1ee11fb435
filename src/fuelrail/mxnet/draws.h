// The random numbers of one sample for MXNet's augmenters: a stream of 32-bit words, and functions
// that compute numbers from these words. The functions give the same numbers as the C++ library of
// MXNet's released wheels (libstdc++ before GCC 7: std::generate_canonical,
// uniform_int_distribution, normal_distribution, bernoulli_distribution and shuffle over
// std::mt19937), so a seed has the same effect as in MXNet. They do not use the distributions of
// the installed C++ library, so the numbers are the same on every platform. See
// docs/mxnet_augmentation.md.
#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "fuelrail/base/philox.h"

namespace fuelrail::mxnet {

// Threads: one at a time. The numbers depend on the order of the calls.
class Draws {
 public:
  virtual ~Draws() = default;
  Draws& operator=(Draws&&) = delete;

  // Draws the next word.
  virtual uint32_t bits() = 0;

  // The random numbers for user-defined stages (transform/pixel_stage.h). They belong to the same
  // sample, but do not depend on how many words were drawn.
  virtual Philox counted() const = 0;

  // A number in [0, 1): float(word) / 2^32, or the largest float below 1 if that rounds to 1. Draws
  // one word.
  float unit();

  // unit() * (high - low) + low, a number in [low, high) that rounding may raise to `high`. Draws
  // one word.
  float uniform(float low, float high);

  // A uniformly distributed integer in [low, high]. Draws one word, rarely more. Requires: low <=
  // high, and high - low < 2^32 - 1.
  int64_t integer(int64_t low, int64_t high);

  // True with probability 1/2. Draws two words.
  bool coin();

  // Fills `to` with normally distributed numbers of mean 0 and standard deviation `deviation`. The
  // polar method produces them in pairs and draws two or more words for each pair; for an odd
  // count, the second number of the last pair is discarded.
  void normal(float deviation, std::span<float> to);

  // Shuffles `items`: for i = 1, 2, ..., size - 1, swaps items i and integer(0, i).
  void shuffle(std::span<int> items);
};

// The random numbers of MXNet's `seed_aug`: std::mt19937 with a new seed for each sample.
class SeededDraws final : public Draws {
 public:
  // MXNet's seed is 111 + seed_aug + k, where k is the number of rows of the batch that were filled
  // before the sample's chunk was read, plus the sample's index in the chunk.
  SeededDraws(int32_t seed_aug, uint64_t k)
      : SeededDraws(static_cast<uint32_t>(static_cast<uint64_t>(int64_t{seed_aug}) + k + 111)) {}

  // Seeds the generator with `seed` itself.
  explicit SeededDraws(uint32_t seed) : seed_(seed), generator_(seed) {}

  uint32_t bits() override { return static_cast<uint32_t>(generator_()); }
  Philox counted() const override { return {seed_, 0, 0}; }

 private:
  uint32_t seed_;
  std::mt19937 generator_;
};

// The engine's random numbers: a function of (seed, epoch, position in the epoch). The words are
// the draws 0, 1, ... of Philox's operation 0; user-defined stages use the operations 1, 2, ...
class CountedDraws final : public Draws {
 public:
  explicit CountedDraws(const Philox& random) : random_(random) {}

  uint32_t bits() override { return random_.bits(0, taken_++); }
  Philox counted() const override { return random_; }

 private:
  Philox random_;
  uint32_t taken_ = 0;
};

}  // namespace fuelrail::mxnet
