// Runs a test body on every instruction set that Highway compiles for and the processor has, and on
// the portable one. Tests that include this link fuelrail_dep::hwy.
#pragma once

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace fuelrail::testing {

// Threads: no other thread may run SIMD code, because the choice is per process.
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
