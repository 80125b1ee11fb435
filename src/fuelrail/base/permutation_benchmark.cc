// How long one position of a shuffled epoch takes, and how long an epoch takes to begin.
#include <benchmark/benchmark.h>

#include "fuelrail/base/permutation.h"

namespace fuelrail {
namespace {

// Argument: the binary logarithm of the record count. Items are positions.
void positions(benchmark::State& state) {
  const uint64_t n = (uint64_t{1} << state.range(0)) - 1;
  const Permutation permutation(n, 1, 2);
  uint64_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(permutation(i));
    if (++i == n) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(positions)->Arg(4)->Arg(10)->Arg(20)->Arg(33)->Arg(40)->Arg(62);

void begin_epoch(benchmark::State& state) {
  uint64_t epoch = 0;
  for (auto _ : state) benchmark::DoNotOptimize(Permutation(uint64_t{1} << 33, 1, ++epoch));
}
BENCHMARK(begin_epoch);

}  // namespace
}  // namespace fuelrail
