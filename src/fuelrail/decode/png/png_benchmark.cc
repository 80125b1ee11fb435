// Decodes PNGs, whole and by random resized crops, to RGB, and masks to values, with fuelrail's
// decoder and with bare calls of libspng.
//
//   taskset -c 0 decode_benchmark --benchmark_filter='^(png|values)_'
//   --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
//
// Data: benchmark_images.h; skipped if they are missing. One iteration decodes every image once;
// `values` those that have values.
#include <spng.h>

#include <memory>

#include "fuelrail/testing/benchmark_images.h"

namespace fuelrail {
namespace {

using testing::BenchmarkImage;

const std::vector<BenchmarkImage>& images() {
  static const std::vector<BenchmarkImage> kImages =
      testing::benchmark_images([](const ImageInfo& info) { return info.format == &kPngFormat; });
  return kImages;
}

const std::vector<BenchmarkImage>& masks() {
  static const std::vector<BenchmarkImage> kMasks = [] {
    std::vector<BenchmarkImage> all = images();
    std::erase_if(all, [](const BenchmarkImage& image) {
      return !image.info.values || image.info.bits != 8;
    });
    return all;
  }();
  return kMasks;
}

void png_with_fuelrail(benchmark::State& state, bool cropped) {
  std::vector<uint8_t> pixels = testing::memory_for_all(images());
  const auto decoder = make_decoder();
  testing::decode_all(state, images(), [&](const BenchmarkImage& image) {
    testing::decode_with_fuelrail(state, *decoder, as_bytes(image.encoded),
                                  cropped ? image.crop : whole(image.info.stored), pixels.data());
  });
}

void values_with_fuelrail(benchmark::State& state) {
  std::vector<uint8_t> memory = testing::memory_for_all(images());
  const auto decoder = make_decoder();
  testing::decode_all(state, masks(), [&](const BenchmarkImage& image) {
    const auto [height, width] = image.info.stored;
    decode_all_values(
        *decoder, as_bytes(image.encoded), probe(as_bytes(image.encoded)), ValueEncoding::kStored,
        {reinterpret_cast<std::byte*>(memory.data()), height, width, 1, DType::kUint8, width});
    benchmark::DoNotOptimize(memory.data());
  });
}

// Bare calls: whole images at once; of a crop, the rows down to its last one, into the same memory.
// As fuelrail's, they check the checksums of chunks.
void barely(const BenchmarkImage& image, bool cropped, spng_format format, uint8_t* memory) {
  spng_ctx* const png = spng_ctx_new(0);
  spng_set_png_buffer(png, image.encoded.data(), image.encoded.size());
  size_t bytes = 0;
  spng_decoded_image_size(png, format, &bytes);
  if (!cropped) {
    spng_decode_image(png, memory, bytes, format, 0);
  } else {
    spng_decode_image(png, nullptr, 0, format, SPNG_DECODE_PROGRESSIVE);
    const size_t row_bytes = bytes / static_cast<size_t>(image.info.stored.height);
    for (int64_t y = 0; y < image.crop.bottom(); ++y) {
      spng_decode_scanline(png, memory, row_bytes);
    }
  }
  spng_ctx_free(png);
  benchmark::DoNotOptimize(memory);
}

void png_barely(benchmark::State& state, bool cropped) {
  std::vector<uint8_t> pixels = testing::memory_for_all(images());
  testing::decode_all(state, images(), [&](const BenchmarkImage& image) {
    barely(image, cropped, SPNG_FMT_RGB8, pixels.data());
  });
}

void values_barely(benchmark::State& state) {
  std::vector<uint8_t> memory = testing::memory_for_all(images());
  testing::decode_all(state, masks(), [&](const BenchmarkImage& image) {
    barely(image, false, SPNG_FMT_PNG, memory.data());
  });
}

BENCHMARK_CAPTURE(png_with_fuelrail, whole, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(png_barely, whole, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(png_with_fuelrail, crop, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(png_barely, crop, true)->Unit(benchmark::kMillisecond);
BENCHMARK(values_with_fuelrail)->Unit(benchmark::kMillisecond);
BENCHMARK(values_barely)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace fuelrail
