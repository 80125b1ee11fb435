// What MXNet's augmentation costs after decoding, an image of 375 x 500 a time:
//   build/release/src/fuelrail/mxnet/mxnet_benchmark
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "fuelrail/mxnet/augmenter.h"
#include "fuelrail/mxnet/output.h"

namespace fuelrail::mxnet {
namespace {

struct Photograph {
  Photograph() : bytes(375 * 500 * 3 + 64) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(i / 1500 + i % 1500 / 9 + i * 2654435761u % 16);
    }
  }
  ConstImageView view() const { return {bytes.data(), 375, 500, 3, 1500}; }
  std::vector<uint8_t> bytes;
};

const MxShape kShape{3, 224, 224};

void augment(benchmark::State& state, const AugmentOptions& options) {
  const Photograph photograph;
  Augmenter augmenter(options, kShape);
  uint64_t sample = 0;
  for (auto _ : state) {
    CountedDraws draws(Philox(1, 0, ++sample));
    benchmark::DoNotOptimize(augmenter.augment(photograph.view(), draws).data);
  }
}

AugmentOptions crop_only() {
  AugmentOptions options;
  options.rand_crop = true;
  return options;
}

AugmentOptions resized(int64_t method) {
  AugmentOptions options = crop_only();
  options.resize = 256;
  options.inter_method = method;
  return options;
}

void BM_Crop(benchmark::State& state) { augment(state, crop_only()); }
void BM_ResizeAndCrop(benchmark::State& state) { augment(state, resized(state.range(0))); }
void BM_RandomResizedCrop(benchmark::State& state) {
  AugmentOptions options;
  options.random_resized_crop = true;
  options.min_random_area = 0.08f;
  options.max_aspect_ratio = 0.25f;
  augment(state, options);
}
void BM_Rotate(benchmark::State& state) {
  AugmentOptions options = crop_only();
  options.max_rotate_angle = 10;
  augment(state, options);
}
void BM_Jitter(benchmark::State& state) {
  AugmentOptions options = crop_only();
  options.brightness = options.contrast = options.saturation = 0.4f;
  augment(state, options);
}
void BM_Hls(benchmark::State& state) {
  AugmentOptions options = crop_only();
  options.random_h = options.random_s = options.random_l = 20;
  augment(state, options);
}
void BM_Lighting(benchmark::State& state) {
  AugmentOptions options = crop_only();
  options.pca_noise = 0.1f;
  augment(state, options);
}
BENCHMARK(BM_Crop);
BENCHMARK(BM_ResizeAndCrop)->Arg(0)->Arg(1)->Arg(2)->Arg(3)->Arg(4);
BENCHMARK(BM_RandomResizedCrop);
BENCHMARK(BM_Rotate);
BENCHMARK(BM_Jitter);
BENCHMARK(BM_Hls);
BENCHMARK(BM_Lighting);

void BM_Write(benchmark::State& state) {
  const Photograph photograph;
  OutputOptions options{.dtype = static_cast<MxDType>(state.range(0)),
                        .mean = {123.68f, 116.78f, 103.94f, 0},
                        .std = {58.4f, 57.12f, 57.38f, 1},
                        .mirror = state.range(1) != 0};
  OutputWriter writer(options, kShape);
  std::vector<float> row(static_cast<size_t>(kShape.elements()));
  for (auto _ : state) {
    CountedDraws draws(Philox(1, 0, 0));
    writer.write(photograph.view().crop({0, 0, 224, 224}), draws,
                 reinterpret_cast<std::byte*>(row.data()));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_Write)->ArgNames({"dtype", "mirror"})->ArgsProduct({{0, 1, 2}, {0, 1}});

void BM_SeededDraws(benchmark::State& state) {
  uint64_t sample = 0;
  for (auto _ : state) {
    SeededDraws draws(1, ++sample);
    benchmark::DoNotOptimize(draws.unit());
  }
}
BENCHMARK(BM_SeededDraws);

}  // namespace
}  // namespace fuelrail::mxnet
