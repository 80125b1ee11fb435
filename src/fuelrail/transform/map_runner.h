// Runs a plan on a map: an image of continuous values, such as depths.
#pragma once

#include <cstdint>
#include <memory>

#include "fuelrail/base/box.h"
#include "fuelrail/base/raw_view.h"
#include "fuelrail/transform/plan.h"

namespace fuelrail {

// Keeps its memory between maps. Threads: one runner for each thread.
class MapRunner {
 public:
  MapRunner();
  ~MapRunner();
  MapRunner(MapRunner&&) noexcept;
  MapRunner& operator=(MapRunner&&) noexcept;

  // Runs the whole plan, with its last flips, by linear interpolation in double, rounded to float32
  // after each pass. An output pixel that lies in the map is the weighted mean of pixels of the
  // map; an output pixel in a constant border is `fill`: the two are never mixed. Other borders
  // repeat or mirror the map, as they do the image. `input` holds the pixels of `input_box`, which
  // must contain needed_input(plan.steps.front()). Requires: `follow` made the plan for a map; both
  // views are float32, at any address, with equal numbers of channels; to.size() == plan.output; no
  // overlap.
  void run(const Plan& plan, ConstRawView input, Box input_box, float fill, RawView to);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fuelrail
