// Decodes photographs, whole and by random resized crops, with fuelrail's decoder (crops also from
// entry points) and with bare calls of libjpeg-turbo.
//
//   taskset -c 0 decode_benchmark --benchmark_filter='^(decode_|probe_all|make_all_hints)'
//   --benchmark_enable_random_interleaving=true --benchmark_repetitions=5
//
// Data: benchmark_images.h; skipped if they are missing. One iteration decodes every photograph
// once.
#include <memory>

// Each of these headers needs the one before it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include "fuelrail/testing/benchmark_images.h"

namespace fuelrail {
namespace {

using testing::BenchmarkImage;

const std::vector<BenchmarkImage>& photographs() {
  static const std::vector<BenchmarkImage> kPhotographs = testing::benchmark_images(
      [](const ImageInfo& info) { return info.format == &kJpegFormat && info.channels == 3; });
  return kPhotographs;
}

// The entry points of each photograph.
const std::vector<std::vector<std::byte>>& all_hints() {
  static const std::vector<std::vector<std::byte>> kHints = [] {
    std::vector<std::vector<std::byte>> all;
    const auto make_hints = hint_maker();
    for (const BenchmarkImage& image : photographs()) {
      all.push_back(make_hints(as_bytes(image.encoded)));
    }
    return all;
  }();
  return kHints;
}

void decode_with_fuelrail(benchmark::State& state, bool cropped, bool indexed) {
  std::vector<uint8_t> pixels = testing::memory_for_all(photographs());
  const auto decoder = make_decoder();
  const std::vector<std::vector<std::byte>>& hints = all_hints();
  testing::decode_all(state, photographs(), [&](const BenchmarkImage& image) {
    EncodedImage encoded = as_bytes(image.encoded);
    if (indexed) encoded.hints = hints[static_cast<size_t>(&image - photographs().data())];
    testing::decode_with_fuelrail(state, *decoder, encoded,
                                  cropped ? image.crop : whole(image.info.stored), pixels.data());
  });
}

// Bare calls: decode one row at a time into the same memory, with the margin that an exact crop
// needs.
void decode_barely(benchmark::State& state, bool cropped) {
  std::vector<uint8_t> pixels = testing::memory_for_all(photographs());
  jpeg_decompress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  errors.output_message = [](j_common_ptr) {};
  jpeg_create_decompress(&codec);
  testing::decode_all(state, photographs(), [&](const BenchmarkImage& image) {
    jpeg_mem_src(&codec, reinterpret_cast<const unsigned char*>(image.encoded.data()),
                 static_cast<unsigned long>(image.encoded.size()));
    jpeg_read_header(&codec, TRUE);
    jpeg_start_decompress(&codec);
    const Box box = cropped ? image.crop : whole(image.info.stored);
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
    benchmark::DoNotOptimize(pixels.data());
  });
  jpeg_destroy_decompress(&codec);
}

// Calls `work` with each photograph's bytes.
template <typename Work>
void work_on_all(benchmark::State& state, Work work) {
  testing::decode_all(state, photographs(), [&](const BenchmarkImage& image) {
    benchmark::DoNotOptimize(work(as_bytes(image.encoded)));
  });
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
