// What the first touch of a batch's memory costs, and what taking a slot again costs.
//   build/.../batch_benchmark
#include <benchmark/benchmark.h>

#include <cstddef>

#include "fuelrail/batch/slot_pool.h"

namespace fuelrail {
namespace {

constexpr size_t kBatchBytes = size_t{256} * 3 * 224 * 224 * 4;  // 154 MB

void touch(Slot& slot) {
  for (size_t at = 0; at < slot.size_bytes(); at += 4096) slot.data()[at] = std::byte{1};
}

void new_slot(benchmark::State& state) {
  for (auto _ : state) {
    SlotPool pool(kBatchBytes, 0);
    touch(*pool.take());
  }
}
BENCHMARK(new_slot)->Unit(benchmark::kMillisecond)->UseRealTime();

void slot_again(benchmark::State& state) {
  SlotPool pool(kBatchBytes, 1);
  touch(*pool.take());
  for (auto _ : state) benchmark::DoNotOptimize(pool.take());
}
BENCHMARK(slot_again);

}  // namespace
}  // namespace fuelrail
