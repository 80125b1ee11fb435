// A transform of the user's own, in C++: derive from PixelStage and put it into the list of
// transforms as CustomStage{std::make_shared<YourStage>(...)}. examples/cpp/own_stage.cc is one.
#pragma once

#include <cstdint>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/base/philox.h"

namespace fuelrail {

// The random numbers of one stage for one sample in one epoch: a pure function of (seed, epoch,
// position in the epoch, place in the list, draw). A stage that takes nothing else from outside
// gives the same pixels for any number of threads and ranks, and after any restart.
class StageRandom {
 public:
  StageRandom(const Philox& random, uint32_t operation) : random_(random), operation_(operation) {}

  // `draw` counts the numbers that the stage takes: 0, 1, ... below 2^18.
  uint32_t bits(uint32_t draw) const { return random_.bits(operation_, draw); }
  // In [0, 1).
  double uniform(uint32_t draw) const { return random_.uniform(operation_, draw); }
  // In [0, bound). Requires: 0 < bound <= 2^32.
  uint64_t below(uint32_t draw, uint64_t bound) const {
    return random_.below(operation_, draw, bound);
  }

 private:
  Philox random_;
  uint32_t operation_;
};

// Threads: one object serves all workers; its functions are called by many threads at once.
// Errors: what they throw is the sample's error.
class PixelStage {
 public:
  virtual ~PixelStage() = default;
  PixelStage& operator=(PixelStage&&) = delete;

  // The size of the result for an input of this size. Default: the same.
  // Requires of the derived class: at least 1 pixel a side; the same answer for the same size.
  virtual Size output_size(Size input) const { return input; }

  // Whether `apply` wants one image to change instead of an input and an output. Default: no.
  // Requires of the derived class: then output_size is the input's.
  virtual bool in_place() const { return false; }

  // Writes every pixel of `to`, whose size is output_size(from.size()). Both are RGB, 8 bits,
  // interleaved. They do not overlap, but are one and the same image if in_place().
  // Lifetime: the views, until the call returns.
  virtual void apply(ConstImageView from, ImageView to, const StageRandom& random) const = 0;
};

}  // namespace fuelrail
