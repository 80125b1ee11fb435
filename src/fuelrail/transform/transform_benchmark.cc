// Milliseconds per image for each part of the transform stage, with one thread:
//     ninja transform_benchmark && src/fuelrail/transform/transform_benchmark
// Boxes: `average` is the middle random resized crop of ImageNet photographs, the others its
// extremes. The label names the instruction set.
#include <benchmark/benchmark.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/base/philox.h"
#include "fuelrail/transform/cv_color.h"
#include "fuelrail/transform/cv_resize.h"
#include "fuelrail/transform/cv_warp.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/plan_runner.h"
#include "fuelrail/transform/resize.h"
#include "fuelrail/transform/still_warp.h"

namespace fuelrail {
namespace {

struct Pixels {
  explicit Pixels(Size s) : size(s), bytes(static_cast<size_t>(s.height * s.width * 3)) {
    uint32_t state = 1;
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((state = state * 1664525 + 1) >> 24);
  }
  ImageView view() { return {bytes.data(), size.height, size.width, 3, size.width * 3}; }
  Size size;
  std::vector<uint8_t> bytes;
};

void label(benchmark::State& state) {
  state.SetLabel(hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()));
}

// To 224 x 224; arguments: height, width, filter.
void resample(benchmark::State& state) {
  Pixels from({state.range(0), state.range(1)});
  Pixels to({224, 224});
  const ResampleStep step{.box = whole(from.size),
                          .scaled = to.size,
                          .window = whole(to.size),
                          .interpolation = static_cast<Interpolation>(state.range(2))};
  Resampler resampler;
  for (auto _ : state) {
    resampler.resample(from.view(), whole(from.size), step, to.view());
    benchmark::ClobberMemory();
  }
  label(state);
}

// As in an epoch, every image has a different box, so tables are recomputed and branches
// unpredicted.
void resample_random_crops(benchmark::State& state) {
  Pixels from({400, 500});
  Pixels to({224, 224});
  const Transforms transforms{RandomResizedCrop{.size = to.size}};
  Resampler resampler;
  uint64_t position = 0;
  for (auto _ : state) {
    const Plan plan = resolve(transforms, {.image = from.size, .random = Philox(1, 0, position++)});
    resampler.resample(from.view(), whole(from.size), plan.steps[0], to.view());
    benchmark::ClobberMemory();
  }
  label(state);
}

// OpenCV's, to 224 x 224; arguments: height, width, channels, interpolation.
void cv_resize(benchmark::State& state) {
  const Size size{state.range(0), state.range(1)};
  const int64_t channels = state.range(2);
  Pixels from({size.height, size.width * channels});
  Pixels to({224, 224 * channels});
  const ConstImageView input{from.bytes.data(), size.height, size.width, channels,
                             size.width * channels};
  const ImageView output{to.bytes.data(), 224, 224, channels, 224 * channels};
  CvResizer resizer;
  for (auto _ : state) {
    resizer.resize(input, output, static_cast<CvInterpolation>(state.range(3)));
    benchmark::ClobberMemory();
  }
  label(state);
}

// A rotation by 30 degrees, 256 x 256 to the same size; argument: interpolation.
void cv_warp(benchmark::State& state) {
  Pixels from({256, 256});
  Pixels to({256, 256});
  const CvAffine affine{{0.866, 0.5, -46.8, -0.5, 0.866, 81.2}};
  for (auto _ : state) {
    cv_warp_affine(from.view(), affine, static_cast<CvInterpolation>(state.range(0)), 255,
                   to.view());
    benchmark::ClobberMemory();
  }
}

// To HLS and back, 224 x 224.
void cv_hls(benchmark::State& state) {
  Pixels pixels({224, 224});
  for (auto _ : state) {
    cv_rgb_to_hls(pixels.view(), pixels.view());
    cv_hls_to_rgb(pixels.view(), pixels.view());
    benchmark::ClobberMemory();
  }
}

// As in an epoch, every image has a different size and crop, so tables are computed for each.
// Argument: interpolation.
void cv_resize_random_crops(benchmark::State& state) {
  Pixels from({400, 500});
  Pixels to({224, 224});
  CvResizer resizer;
  uint32_t random = 1;
  for (auto _ : state) {
    random = random * 1664525 + 1013904223;
    const ConstImageView crop =
        from.view().crop({random >> 24 & 63, random >> 16 & 63, 150 + (random >> 8 & 127),
                          200 + (random >> 20 & 127)});
    resizer.resize(crop, to.view(), static_cast<CvInterpolation>(state.range(0)));
    benchmark::ClobberMemory();
  }
  label(state);
}

// The middle of a 4:2:0 still of 512 x 512, turned by 15 degrees and shrunk by 1.5, to 224 x 224.
// Argument: antialias.
void warp_still_planes(benchmark::State& state) {
  const Pixels values({512, 512});
  Planes still;
  for (size_t p = 0; p < 3; ++p) {
    const int64_t side = p == 0 ? 512 : 256;
    still.planes[p] = {reinterpret_cast<const std::byte*>(values.bytes.data()), side, {side, side}};
  }
  const StillParameters parameters{.warp = {1.45f, -0.39f, 138, 0.39f, 1.45f, 50, 0, 0, 1}};
  std::vector<float> to(3 * 224 * 224);
  for (auto _ : state) {
    warp_still(still, {512, 512}, parameters, {.antialias = state.range(0) != 0}, {224, 224},
               to.data());
    benchmark::ClobberMemory();
  }
  label(state);
}

void resolve_random_crop(benchmark::State& state) {
  const Transforms transforms{RandomResizedCrop{.size = {224, 224}}, HorizontalFlip{}};
  uint64_t position = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        resolve(transforms, {.image = {400, 500}, .random = Philox(1, 0, position++)}));
  }
}

// 256 images of 224 x 224 into a batch, which is larger than the caches. Arguments: dtype, layout,
// flip.
void write_pixels(benchmark::State& state) {
  PixelFormat format{static_cast<DType>(state.range(0)), static_cast<ImageLayout>(state.range(1))};
  if (format.dtype != DType::kUint8) {
    format.normalize = Normalize{{0.485f, 0.456f, 0.406f}, {0.229f, 0.224f, 0.225f}};
  }
  const PixelWriter writer(format);
  Pixels from({224, 224});
  const size_t image_bytes = from.bytes.size() * size_in_bytes(format.dtype);
  std::vector<std::byte> batch(256 * image_bytes, std::byte{1});
  size_t row = 0;
  for (auto _ : state) {
    writer.write(from.view(), state.range(2) != 0, false, batch.data() + row * image_bytes);
    row = (row + 1) % 256;
    benchmark::ClobberMemory();
  }
  label(state);
}

// A list's steps after the decoding, on 224 x 224 pixels, with new random numbers for every image.
void pixel_steps(benchmark::State& state, const Transforms& transforms) {
  Pixels from({224, 224});
  PlanRunner runner;
  Plan plan;
  uint64_t position = 0;
  for (auto _ : state) {
    resolve(transforms, {.image = from.size, .random = Philox(1, 0, position++)}, plan);
    benchmark::DoNotOptimize(runner.run(plan, from.view(), whole(from.size)));
    benchmark::ClobberMemory();
  }
  label(state);
}

struct Named {
  const char* name;
  Transforms transforms;
};
const Named kLists[] = {
    {"copy alone", {Pad{{0, 0, 0, 1}}}},
    {"brightness", {ColorJitter{.brightness = {0.6, 1.4}}}},
    {"contrast", {ColorJitter{.contrast = {0.6, 1.4}}}},
    {"saturation", {ColorJitter{.saturation = {0.6, 1.4}}}},
    {"hue", {ColorJitter{.hue = {-0.1, 0.1}}}},
    {"ColorJitter of all four", {ColorJitter{{0.6, 1.4}, {0.6, 1.4}, {0.6, 1.4}, {-0.1, 0.1}}}},
    {"Grayscale", {Grayscale{}}},
    {"Pad constant", {Pad{{8, 8, 8, 8}}}},
    {"Pad reflect", {Pad{{8, 8, 8, 8}, {PaddingMode::kReflect}}}},
    {"RandomCrop padded", {RandomCrop{.size = {224, 224}, .padding = {8, 8, 8, 8}}}},
    {"RandomRotation nearest", {RandomRotation{.degrees = {-30, 30}}}},
    {"RandomRotation bilinear",
     {RandomRotation{.degrees = {-30, 30}, .interpolation = Interpolation::kBilinear}}},
    {"RandomAffine bilinear edge",
     {RandomAffine{.degrees = {-30, 30},
                   .translate = {0.1, 0.1},
                   .scale = {0.8, 1.2},
                   .interpolation = Interpolation::kBilinear,
                   .border = {PaddingMode::kEdge}}}},
    {"flip before a rotation", {HorizontalFlip{1}, RandomRotation{}}},
};
[[maybe_unused]] const bool kRegistered = [] {
  for (const Named& list : kLists) {
    benchmark::RegisterBenchmark(
        (std::string("pixel_steps/") + list.name).c_str(),
        [&list](benchmark::State& state) { pixel_steps(state, list.transforms); })
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

constexpr auto kBilinear = static_cast<int64_t>(Interpolation::kBilinear);
constexpr auto kBicubic = static_cast<int64_t>(Interpolation::kBicubic);

BENCHMARK(resample)
    ->Unit(benchmark::kMillisecond)
    ->ArgNames({"height", "width", "filter"})
    ->Args({300, 350, kBilinear})    // average
    ->Args({350, 300, kBilinear})    // average, upright: vertical pass first
    ->Args({100, 120, kBilinear})    // small crop, enlarged
    ->Args({256, 341, kBilinear})    // of a dataset packed at short side 256
    ->Args({375, 500, kBilinear})    // whole photograph
    ->Args({1200, 1600, kBilinear})  // megapixels
    ->Args({300, 350, kBicubic});
BENCHMARK(cv_resize)
    ->Unit(benchmark::kMillisecond)
    ->ArgNames({"height", "width", "channels", "interpolation"})
    ->ArgsProduct({{375}, {500}, {3}, {0, 1, 2, 3, 4}})
    ->ArgsProduct({{256}, {341}, {3}, {1, 2, 3}})
    ->ArgsProduct({{100}, {120}, {3}, {1, 2}})
    ->ArgsProduct({{1200}, {1600}, {3}, {1, 2, 3}})
    ->ArgsProduct({{448}, {448}, {3}, {1}})
    ->ArgsProduct({{672}, {672}, {3}, {3}})
    ->ArgsProduct({{375}, {500}, {1, 4}, {1, 2, 3}});
BENCHMARK(cv_hls)->Unit(benchmark::kMillisecond);
BENCHMARK(cv_resize_random_crops)
    ->Unit(benchmark::kMillisecond)
    ->ArgName("interpolation")
    ->DenseRange(1, 3);
BENCHMARK(cv_warp)->Unit(benchmark::kMillisecond)->ArgName("interpolation")->DenseRange(0, 4);
BENCHMARK(resample_random_crops)->Unit(benchmark::kMillisecond);
BENCHMARK(resolve_random_crop)->Unit(benchmark::kMicrosecond);
BENCHMARK(warp_still_planes)->Unit(benchmark::kMillisecond)->ArgName("antialias")->DenseRange(0, 1);
BENCHMARK(write_pixels)
    ->Unit(benchmark::kMillisecond)
    ->ArgNames({"dtype", "nhwc", "flip"})
    ->ArgsProduct({{static_cast<int64_t>(DType::kFloat32), static_cast<int64_t>(DType::kFloat16),
                    static_cast<int64_t>(DType::kBfloat16), static_cast<int64_t>(DType::kUint8)},
                   {0, 1},
                   {0, 1}});

}  // namespace
}  // namespace fuelrail
