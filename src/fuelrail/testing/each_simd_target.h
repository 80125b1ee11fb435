// Runs a test body on every instruction set: what the processor has of those that Highway compiles,
// and the portable one. Tests that use it list fuelrail_dep::hwy.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace fuelrail::testing {

// Threads: none may be running SIMD code; the choice is the process's.
template <typename Body>
void on_each_simd_target(Body body) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace fuelrail::testing
