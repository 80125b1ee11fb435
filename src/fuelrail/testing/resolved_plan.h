// The plan of a list of transforms for an image's size, at a position of a fixed epoch.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "fuelrail/transform/plan.h"

namespace fuelrail::testing {

inline Plan resolve_at(const Transforms& transforms, Size image, uint64_t position) {
  check(transforms);
  return resolve(transforms, {.image = image, .random = Philox(1, 0, position)});
}

inline ResampleStep only_step(const Transforms& transforms, Size image, uint64_t position = 0) {
  const Plan plan = resolve_at(transforms, image, position);
  EXPECT_EQ(plan.steps.size(), 1u);
  return plan.steps.front();
}

}  // namespace fuelrail::testing
