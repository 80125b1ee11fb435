// The error for a batch that does not arrive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/turnstile.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

std::string stall_of(Engine& engine) {
  try {
    engine.throw_stalled(2.5);
  } catch (const StallError& error) {
    return error.what();
  }
}

// Waits for a batch until the engine throws that error, then opens the gate. After that, the
// batches arrive as usual.
void expect_stall(const Rig& rig, Gate& gate, const std::string& said) {
  const auto engine = rig.make();
  EXPECT_TRUE(within_patience([&] {
    EXPECT_EQ(engine->next(std::chrono::milliseconds(1)).status, Engine::Status::kTimeout);
    return stall_of(*engine).find(said) != std::string::npos;
  })) << stall_of(*engine);
  EXPECT_THAT(stall_of(*engine), HasSubstr("no batch arrived for 2.5 s"));
  gate.open();
  EXPECT_EQ(all_said(*engine, 3), expected(rig, 3));
}

TEST(EngineStall, a_read_that_hangs_is_named_with_its_file_and_offset) {
  Rig rig;
  Gate gate;
  rig.sampling.order.shuffle = Shuffle::kNone;
  const auto records = rig.container;
  rig.container = std::make_shared<HookedContainer>(
      records,
      ContainerHooks{.read = [&, at = records->extent(3).offset](uint64_t offset, uint64_t) {
        if (offset == at) gate.pass();
      }});
  expect_stall(rig, gate, "memory://records: offset " + std::to_string(records->extent(3).offset));
}

TEST(EngineStall, a_file_whose_look_hangs_is_named) {
  Rig rig;
  Gate gate;
  rig.sampling.order.shuffle = Shuffle::kNone;
  rig.container = std::make_shared<HookedContainer>(
      rig.container,
      ContainerHooks{.extent = [&](uint64_t) { gate.pass(); }, .knows_extents = false});
  expect_stall(
      rig, gate,
      "memory://records: no batch arrived for 2.5 s: the file size of sample 0 is being looked up");
}

TEST(EngineStall, a_sample_whose_decoding_hangs_is_named) {
  Rig rig;
  Gate gate;
  rig.worker.before = [&](std::span<const Task>) { gate.pass(); };
  expect_stall(rig, gate, "is being decoded");
}

TEST(EngineStall, a_sampler_that_hangs_is_named) {
  Rig rig;
  Gate gate;
  Engine engine(rig.container, std::make_unique<HookedSampler>(rig.sampler(), [&] { gate.pass(); }),
                rig.layout(), record_worker_factory(rig.container), rig.engine);
  EXPECT_EQ(engine.next(std::chrono::milliseconds(1)).status, Engine::Status::kTimeout);
  EXPECT_THAT(stall_of(engine), HasSubstr("the sampler has not returned a batch"));
  gate.open();
  EXPECT_EQ(all_said(engine, 3), expected(rig, 3));
}

}  // namespace
}  // namespace fuelrail
