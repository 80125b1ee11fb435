// Decodes photographs, whole and by random resized crops (area 8 to 100 %, aspect 3/4 to 4/3), with
// fuelrail's decoder (crops also from entry points) and with bare calls of libjpeg-turbo.
//
//   taskset -c 0 decode_benchmark --benchmark_enable_random_interleaving=true
//   --benchmark_repetitions=5
//
// Data: the folder in FUELRAIL_BENCHMARK_IMAGES, by default
// ../shared/data/imagenet-sample relative to the checkout's root; skipped if it is missing. One
// iteration decodes every photograph once.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

// Each of these headers needs the one before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/probe.h"

namespace fuelrail {
namespace {

struct Photograph {
  std::string encoded;
  ImageInfo info;
  Box crop;
  std::vector<std::byte> hints;
};

Box random_crop(Size size, std::mt19937_64& random) {
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

std::vector<Photograph> load_photographs() {
  const char* given = std::getenv("FUELRAIL_BENCHMARK_IMAGES");
  const std::filesystem::path folder = given ? given : "../shared/data/imagenet-sample";
  std::vector<std::filesystem::path> paths;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::mt19937_64 random(1);
  const auto make_hints = hint_maker();
  std::vector<Photograph> photographs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    Photograph photograph;
    photograph.encoded = {std::istreambuf_iterator<char>(file), {}};
    photograph.info = probe(as_bytes(photograph.encoded));
    if (photograph.info.format != &kJpegFormat || photograph.info.channels != 3) continue;
    photograph.crop = random_crop(photograph.info.stored, random);
    photograph.hints = make_hints(as_bytes(photograph.encoded));
    photographs.push_back(std::move(photograph));
  }
  return photographs;
}

const std::vector<Photograph>& photographs() {
  static const std::vector<Photograph> kPhotographs = load_photographs();
  return kPhotographs;
}

// Memory for the largest box.
std::vector<uint8_t> pixels_for_all() {
  int64_t largest = 0;
  for (const Photograph& photograph : photographs()) {
    largest = std::max(largest, photograph.info.stored.height * photograph.info.stored.width * 3);
  }
  return std::vector<uint8_t>(static_cast<size_t>(largest));
}

bool skipped(benchmark::State& state) {
  if (!photographs().empty()) return false;
  state.SkipWithError("no photographs: set FUELRAIL_BENCHMARK_IMAGES");
  return true;
}

void count(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(photographs().size()));
}

void decode_with_fuelrail(benchmark::State& state, bool cropped, bool indexed) {
  if (skipped(state)) return;
  std::vector<uint8_t> pixels = pixels_for_all();
  const auto decoder = make_decoder();
  for (auto _ : state) {
    for (const Photograph& photograph : photographs()) {
      const Bytes encoded = as_bytes(photograph.encoded);
      const ImageInfo info = probe(encoded);
      const Box box = cropped ? photograph.crop : whole(info.stored);
      DecodeJob job;
      job.encoded = encoded;
      if (indexed) job.encoded.hints = photograph.hints;
      job.info = info;
      job.box = box;
      job.output = {pixels.data(), box.height, box.width, 3, box.width * 3};
      decoder->decode({&job, 1});
      if (job.error) state.SkipWithError("a photograph does not decode");
    }
    benchmark::DoNotOptimize(pixels.data());
  }
  count(state);
}

// Bare calls: decode one row at a time into the same memory, with the margin that an exact crop
// needs.
void decode_barely(benchmark::State& state, bool cropped) {
  if (skipped(state)) return;
  std::vector<uint8_t> pixels = pixels_for_all();
  jpeg_decompress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_decompress(&codec);
  for (auto _ : state) {
    for (const Photograph& photograph : photographs()) {
      jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(photograph.encoded.data()),
                   static_cast<unsigned long>(photograph.encoded.size()));
      jpeg_read_header(&codec, TRUE);
      jpeg_start_decompress(&codec);
      const Box box = cropped ? photograph.crop : whole(photograph.info.stored);
      if (cropped) {
        const int64_t margin = codec.max_h_samp_factor > 1 ? codec.max_h_samp_factor * DCTSIZE : 0;
        const int64_t left = std::max<int64_t>(0, box.left - margin);
        const int64_t right = std::min<int64_t>(codec.image_width, box.right() + margin);
        auto first = static_cast<JDIMENSION>(left), width = static_cast<JDIMENSION>(right - left);
        jpeg_crop_scanline(&codec, &first, &width);
        if (box.top > 0) jpeg_skip_scanlines(&codec, static_cast<JDIMENSION>(box.top));
      }
      JSAMPROW row = pixels.data();
      while (codec.output_scanline < static_cast<JDIMENSION>(box.bottom())) {
        if (!cropped) row = pixels.data() + size_t{codec.output_scanline} * codec.output_width * 3;
        jpeg_read_scanlines(&codec, &row, 1);
      }
      jpeg_abort_decompress(&codec);
    }
    benchmark::DoNotOptimize(pixels.data());
  }
  jpeg_destroy_decompress(&codec);
  count(state);
}

// Calls `work` with each photograph's bytes.
template <typename Work>
void work_on_all(benchmark::State& state, Work work) {
  if (skipped(state)) return;
  for (auto _ : state) {
    for (const Photograph& photograph : photographs()) {
      benchmark::DoNotOptimize(work(as_bytes(photograph.encoded)));
    }
  }
  count(state);
}

void probe_all(benchmark::State& state) {
  work_on_all(state, [](Bytes encoded) { return probe(encoded); });
}

void make_all_hints(benchmark::State& state) { work_on_all(state, hint_maker()); }

BENCHMARK(probe_all)->Unit(benchmark::kMillisecond);
BENCHMARK(make_all_hints)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_with_fuelrail, whole, false, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_barely, whole, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_with_fuelrail, crop_indexed, true, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_with_fuelrail, crop, true, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode_barely, crop, true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fuelrail
