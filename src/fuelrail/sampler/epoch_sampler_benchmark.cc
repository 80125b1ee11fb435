// A batch of 256 rows, anywhere in an epoch of 2^33 records that 1,024 ranks share; and a restart
// there.
#include <benchmark/benchmark.h>

#include "fuelrail/sampler/epoch_sampler.h"

namespace fuelrail {
namespace {

EpochSamplerOptions options(Shuffle shuffle, uint64_t records) {
  return {.records = records,
          .order = {.seed = 1,
                    .shuffle = shuffle,
                    .batch_size = 256,
                    .shard = {.rank = 1000, .world_size = 1024}}};
}

// Argument: the binary logarithm of the record count.
void next_batch(benchmark::State& state, Shuffle shuffle) {
  EpochSampler sampler(options(shuffle, uint64_t{1} << state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(sampler.next());
  state.SetItemsProcessed(state.iterations() * 256);
}
BENCHMARK_CAPTURE(next_batch, full, Shuffle::kFull)->Arg(20)->Arg(33);
BENCHMARK_CAPTURE(next_batch, window, Shuffle::window(256, 64))->Arg(20)->Arg(33);
BENCHMARK_CAPTURE(next_batch, none, Shuffle::kNone)->Arg(33);

void restart_far_away(benchmark::State& state) {
  const uint64_t records = uint64_t{1} << 33;
  for (auto _ : state) {
    EpochSampler sampler(options(Shuffle::kFull, records), {3, records / 4 * 3});
    benchmark::DoNotOptimize(sampler.next());
  }
}
BENCHMARK(restart_far_away);

}  // namespace
}  // namespace fuelrail
