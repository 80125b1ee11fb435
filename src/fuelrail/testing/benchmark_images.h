// Images for benchmarks of decoders, with a random resized crop of each (area 8 to 100 %, aspect
// 3/4 to 4/3).
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail::testing {

struct BenchmarkImage {
  std::string encoded;
  ImageInfo info;
  Box crop;
};

inline Box random_crop(Size size, std::mt19937_64& random) {
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random() >> 11) / 9007199254740992.0;
  };
  const double area = static_cast<double>(size.height * size.width) * uniform(0.08, 1.0);
  const double aspect = std::exp(uniform(std::log(3.0 / 4), std::log(4.0 / 3)));
  Box box;
  box.height = std::clamp<int64_t>(std::llround(std::sqrt(area / aspect)), 1, size.height);
  box.width = std::clamp<int64_t>(std::llround(std::sqrt(area * aspect)), 1, size.width);
  box.top = static_cast<int64_t>(uniform(0, static_cast<double>(size.height - box.height + 1)));
  box.left = static_cast<int64_t>(uniform(0, static_cast<double>(size.width - box.width + 1)));
  return box;
}

// The images for which `is_wanted(info)` is true, sorted by path, in the folder that
// FUELRAIL_BENCHMARK_IMAGES names; by default ../shared/data/imagenet-sample relative to the
// checkout's root. Empty if the folder is missing.
template <typename IsWanted>
std::vector<BenchmarkImage> benchmark_images(IsWanted is_wanted) {
  const char* given = std::getenv("FUELRAIL_BENCHMARK_IMAGES");
  const std::filesystem::path folder = given ? given : "../shared/data/imagenet-sample";
  std::vector<std::filesystem::path> paths;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::mt19937_64 random(1);
  std::vector<BenchmarkImage> images;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    BenchmarkImage image;
    image.encoded = {std::istreambuf_iterator<char>(file), {}};
    image.info = probe(as_bytes(image.encoded));
    if (!is_wanted(image.info)) continue;
    image.crop = random_crop(image.info.stored, random);
    images.push_back(std::move(image));
  }
  return images;
}

// Memory for the RGB pixels of the largest image.
inline std::vector<uint8_t> memory_for_all(const std::vector<BenchmarkImage>& images) {
  int64_t largest = 0;
  for (const BenchmarkImage& image : images) {
    largest = std::max(largest, image.info.stored.height * image.info.stored.width * 3);
  }
  return std::vector<uint8_t>(static_cast<size_t>(largest));
}

// Calls decode(image) for each image, once for each iteration.
template <typename Decode>
void decode_all(benchmark::State& state, const std::vector<BenchmarkImage>& images, Decode decode) {
  if (images.empty()) {
    state.SkipWithError("no images: set FUELRAIL_BENCHMARK_IMAGES");
    return;
  }
  for (auto _ : state) {
    for (const BenchmarkImage& image : images) decode(image);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(images.size()));
}

// Decodes the box of an image to RGB, as a loader does: with its header.
inline void decode_with_fuelrail(benchmark::State& state, Decoder& decoder,
                                 const EncodedImage& encoded, Box box, uint8_t* pixels) {
  DecodeJob job;
  job.encoded = encoded;
  job.info = probe(encoded.bytes);
  job.box = box;
  job.output = {pixels, box.height, box.width, 3, box.width * 3};
  decoder.decode({&job, 1});
  if (job.error) state.SkipWithError("an image does not decode");
  benchmark::DoNotOptimize(pixels);
}

}  // namespace fuelrail::testing
