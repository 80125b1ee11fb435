// The random numbers of one sample, for MXNet's augmenters: a stream of 32-bit words, and numbers
// made of them as the C++ library of MXNet's released wheels makes them (libstdc++ before GCC 7:
// std::generate_canonical, uniform_int_distribution, normal_distribution, bernoulli_distribution
// and shuffle over std::mt19937), so that a seed gives what it gives in MXNet. Written out here,
// they depend on no library: the same numbers everywhere. docs/mxnet_augmentation.md.
#pragma once

#include <cstdint>
#include <random>
#include <span>

#include "fuelrail/base/philox.h"

namespace fuelrail::mxnet {

// Threads: one. The order of the calls is part of the result.
class Draws {
 public:
  virtual ~Draws() = default;
  Draws& operator=(Draws&&) = delete;

  // The next word.
  virtual uint32_t bits() = 0;

  // Numbers of the same sample that do not depend on how many words were taken: for stages that a
  // user wrote (transform/pixel_stage.h).
  virtual Philox counted() const = 0;

  // In [0, 1): one word, as float(word) / 2^32; a word that would round to 1 gives the float below.
  float unit();

  // In [low, high), up to the rounding of floats: unit() * (high - low) + low. One word.
  float uniform(float low, float high);

  // One of low, ..., high, without bias. One word, rarely more. Requires: low <= high, and
  // high - low < 2^32 - 1.
  int64_t integer(int64_t low, int64_t high);

  // True for one half. Two words.
  bool coin();

  // Normal numbers of mean 0 by the polar method, two of every accepted pair; of the last pair of
  // an odd count one is thrown away. `deviation` is the standard deviation. Two words or more a
  // pair.
  void normal(float deviation, std::span<float> to);

  // For i = 1, 2, ...: exchanges items i and integer(0, i).
  void shuffle(std::span<int> items);
};

// What MXNet's `seed_aug` gives: std::mt19937 seeded anew for every sample.
class SeededDraws final : public Draws {
 public:
  // MXNet seeds sample k with 111 + seed_aug + k, where k counts the rows of the batch that were
  // filled before the sample's chunk was read, plus the sample's place in the chunk.
  SeededDraws(int32_t seed_aug, uint64_t k)
      : SeededDraws(static_cast<uint32_t>(static_cast<uint64_t>(int64_t{seed_aug}) + k + 111)) {}

  // The bare generator.
  explicit SeededDraws(uint32_t seed) : seed_(seed), generator_(seed) {}

  uint32_t bits() override { return static_cast<uint32_t>(generator_()); }
  Philox counted() const override { return {seed_, 0, 0}; }

 private:
  uint32_t seed_;
  std::mt19937 generator_;
};

// The engine's own numbers: a function of (seed, epoch, position in the epoch) alone. The words are
// draws 0, 1, ... of operation 0; a user's stages have the operations from 1 on.
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
