// Samples per second whose parameters one thread draws:
//     ninja benzina_benchmark && src/fuelrail/benzina/benzina_benchmark
#include <benchmark/benchmark.h>

#include <vector>

#include "fuelrail/benzina/row_parameters.h"

namespace fuelrail::benzina {
namespace {

// Batches of 256, with the transforms of Benzina's documented example.
void draw_batch(benchmark::State& state) {
  const SimilarityWarp warp(
      {.scale = {0.08, 1}, .ratio = {{3.0 / 4, 4.0 / 3}}, .flip_h = 0.5, .random_crop = true});
  const RowTransforms transforms{.warps = {warp}, .constants = {}};
  const std::vector<Size> images(256, {384, 512});
  std::vector<StillParameters> rows(images.size());
  RandomState random(1234u);
  for (auto _ : state) {
    draw_rows(transforms, images, {224, 224}, random, rows);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(images.size()));
}

BENCHMARK(draw_batch);

}  // namespace
}  // namespace fuelrail::benzina
