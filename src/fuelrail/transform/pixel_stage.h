// A user's own transform in C++: derive a class from PixelStage and add it to the list of
// transforms as CustomStage{std::make_shared<YourStage>(...)}. Example: examples/cpp/own_stage.cc.
#pragma once

#include <cstdint>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/base/philox.h"

namespace fuelrail {

// The random numbers of one stage for one sample in one epoch: a pure function of (seed, epoch,
// position in the epoch, index in the list, draw). A stage that depends on nothing else gives the
// same pixels for any number of threads and ranks, and after any restart.
class StageRandom {
 public:
  StageRandom(const Philox& random, uint32_t operation) : random_(random), operation_(operation) {}

  // 32 random bits. `draw` is the number's index: 0, 1, ... below 2^18.
  uint32_t bits(uint32_t draw) const { return random_.bits(operation_, draw); }
  // A random number in [0, 1).
  double uniform(uint32_t draw) const { return random_.uniform(operation_, draw); }
  // A random integer in [0, bound). Requires: 0 < bound <= 2^32.
  uint64_t below(uint32_t draw, uint64_t bound) const {
    return random_.below(operation_, draw, bound);
  }

 private:
  Philox random_;
  uint32_t operation_;
};

// Threads: all workers share one object and call its functions at the same time.
// Errors: an exception from these functions becomes the sample's error.
class PixelStage {
 public:
  virtual ~PixelStage() = default;
  PixelStage& operator=(PixelStage&&) = delete;

  // The size of the result for an input of this size. Default: the same size.
  // The derived class must return a height and width of at least 1, and always the same result for
  // the same size.
  virtual Size output_size(Size input) const { return input; }

  // Whether `apply` changes one image in place instead of reading `from` and writing `to`. Default:
  // false. If true, the derived class's output_size must return the input's size.
  virtual bool in_place() const { return false; }

  // Whether an object in the image may change its place or size. Default: true. If the derived
  // class returns false, its output_size must return the input's size. Masks, boxes and other
  // values that move with an image can be loaded only if all stages of the image's list return
  // false.
  virtual bool moves_pixels() const { return true; }

  // Writes every pixel of `to`, whose size is output_size(from.size()). Both images are RGB with 8
  // bits, interleaved. They are the same image if in_place(), otherwise they do not overlap.
  // Lifetime: the views are valid until the call returns.
  virtual void apply(ConstImageView from, ImageView to, const StageRandom& random) const = 0;
};

}  // namespace fuelrail
