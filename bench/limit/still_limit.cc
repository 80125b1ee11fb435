// The limits to compare `.bzna` files with: bare calls of the plugin's decoder and encoder, and the
// costs of single steps. All records and pixels are in memory.
//
//   fuelrail_still_limit decode FILE.bzna THREADS
//     decodes the thumbnails
//
//   fuelrail_still_limit encode FOLDER THREADS CRF PRESET
//     encodes the folder's images in their frames
//
//   fuelrail_still_limit costs FILE.bzna
//     prints one JSON object of nanoseconds
//
// The first two run once per line of standard input, and answer with one JSON object: images,
// seconds, cpu_seconds, bytes.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bare_jpeg.h"
#include "fuelrail/base/crc32.h"
#include "fuelrail/base/hevc_library.h"
#include "fuelrail/benzina/row_parameters.h"
#include "fuelrail/container/open.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/hevc/nal_units.h"
#include "fuelrail/encode/hevc_encoder.h"
#include "fuelrail/mp4/nested_file.h"
#include "fuelrail/pack/image/still_maker.h"

namespace {

using namespace fuelrail;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<std::byte> file_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return {as_bytes(bytes).begin(), as_bytes(bytes).end()};
}

// Calls work(item), which returns a number of bytes, for all items on these threads, once per line
// of standard input. `make_work` is called once on each thread.
using Work = std::function<uint64_t(size_t item)>;
void serve(size_t items, int threads, const std::function<Work()>& make_work) {
  std::cout << "{\"ready\": true}" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::atomic<size_t> next{0};
    std::atomic<uint64_t> bytes{0};
    const double cpu = bench::cpu_seconds();
    const auto begin = Clock::now();
    {
      std::vector<std::jthread> pool;
      for (int i = 0; i < threads; ++i) {
        pool.emplace_back([&] {
          const Work work = make_work();
          for (size_t at; (at = next.fetch_add(1)) < items;) bytes += work(at);
        });
      }
    }
    std::cout << fmt::format(
                     R"({{"images": {}, "seconds": {:.6f}, "cpu_seconds": {:.6f}, "bytes": {}}})",
                     items, since(begin), bench::cpu_seconds() - cpu, bytes.load())
              << std::endl;
  }
}

// A still with all that its decoder needs, ready to be passed to the plugin.
struct Still {
  std::vector<std::byte> record;
  std::vector<fuelrail_nal> units;
  int64_t pixels = 0;
};

void decode_stills(const std::string& path, int threads) {
  const auto container = open_container(path);
  std::vector<Still> stills(container->size());
  for (uint64_t i = 0; i < container->size(); ++i) {
    Still& still = stills[i];
    const Extent extent = container->record_extent(i);
    still.record.resize(extent.length);
    extent.source->read(extent.offset, still.record);
    const mp4::NestedFile nested = mp4::read_nested_file(still.record, path, 0);
    const mp4::Still& at = nested.thumb ? *nested.thumb : *nested.input;
    const hevc::DecoderConfiguration configuration = hevc::read_hvcc(
        Bytes(still.record).subspan(at.entry.parameters, at.entry.parameters_bytes));
    std::vector<Bytes> units = configuration.units;
    hevc::append_hevc_units(Bytes(still.record).subspan(at.offset, at.bytes),
                            configuration.length_bytes, units);
    for (const Bytes unit : units) {
      still.units.push_back({reinterpret_cast<const uint8_t*>(unit.data()), unit.size()});
    }
    still.pixels = (at.entry.coded.height + 64) * (at.entry.coded.width + 64);
  }
  const fuelrail_hevc_table& table = hevc_library();
  serve(stills.size(), threads, [&]() -> Work {
    void* decoder = nullptr;
    fuelrail_failure failure{};
    if (table.make_decoder(FUELRAIL_H265, &decoder, &failure) != FUELRAIL_OK) std::abort();
    const std::shared_ptr<void> owner(decoder, table.free_decoder);
    return [&, owner](size_t i) -> uint64_t {
      fuelrail_planes planes{};
      fuelrail_failure why{};
      const Still& still = stills[i];
      if (table.decode(owner.get(), still.units.data(), still.units.size(), still.pixels, &planes,
                       &why) != FUELRAIL_OK) {
        std::abort();
      }
      return still.record.size();
    };
  });
}

void encode_images(const std::string& folder, int threads, const HevcSettings& settings) {
  struct Pixels {
    std::vector<uint8_t> data;
    Size size;
  };
  std::vector<Pixels> images;
  const auto decoder = make_decoder();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::vector<std::byte> file = file_bytes(entry.path());
    const ImageInfo info = probe(file);
    Pixels& image = images.emplace_back();
    image.size = info.stored;
    image.data.resize(static_cast<size_t>(info.stored.height * info.stored.width * 3));
    decode_whole(
        *decoder, file, info,
        {image.data.data(), info.stored.height, info.stored.width, 3, info.stored.width * 3});
  }
  serve(images.size(), threads, [&]() -> Work {
    const auto encoder = std::make_shared<HevcEncoder>(settings);
    return [&, encoder, still = HevcStill()](size_t i) mutable -> uint64_t {
      const auto& [data, size] = images[i];
      encoder->encode({data.data(), size.height, size.width, 3, size.width * 3},
                      pack::frame_for(size), still);
      return still.bitstream.size();
    };
  });
}

// Nanoseconds of each call of `step`, the least of five rounds of half a second.
double cost_of(const std::function<void(uint64_t i)>& step) {
  double least = 1e9;
  for (int round = 0; round < 5; ++round) {
    uint64_t calls = 0;
    const auto begin = Clock::now();
    while (since(begin) < 0.5) {
      for (int i = 0; i < 256; ++i) step(calls++);
    }
    least = std::min(least, since(begin) / static_cast<double>(calls));
  }
  return 1e9 * least;
}

void print_costs(const std::string& path) {
  const auto container = open_container(path);
  const auto without = open_container(path, {.ignore_sidecar = true});
  const uint64_t count = container->size();
  std::vector<std::vector<std::byte>> records(count), stills(count);
  for (uint64_t i = 0; i < count; ++i) {
    for (const auto& [extent, into] : {std::pair(container->record_extent(i), &records[i]),
                                       {container->extent(i), &stills[i]}}) {
      into->resize(extent.length);
      extent.source->read(extent.offset, *into);
    }
  }
  Sample sample;
  const double boxes =
      cost_of([&](uint64_t i) { mp4::read_nested_file(records[i % count], path, 0); });
  const double record =
      cost_of([&](uint64_t i) { without->parse(i % count, records[i % count], sample); });
  const double still =
      cost_of([&](uint64_t i) { container->parse(i % count, stills[i % count], sample); });
  uint32_t sum = 0;
  const double checksum = cost_of([&](uint64_t i) { sum ^= crc32(stills[i % count]); });
  const double extent = cost_of([&](uint64_t i) { container->extent(i % count); });
  benzina::RandomState random(1);
  const benzina::RowTransforms transforms{
      .warps = {benzina::SimilarityWarp(
          {.scale = {0.08, 1}, .ratio = {{3.0 / 4, 4.0 / 3}}, .flip_h = 0.5, .random_crop = true})},
      .constants = {}};
  const std::vector<Size> sizes(256, Size{384, 512});
  std::vector<StillParameters> rows(sizes.size());
  const double draws = cost_of([&](uint64_t) {
                         benzina::draw_rows(transforms, sizes, {224, 224}, random, rows);
                       }) /
                       256;
  std::cout
      << fmt::format(
             R"({{"boxes": {:.1f}, "record": {:.1f}, "still": {:.1f}, "checksum": {:.1f}, "extent": {:.1f}, "draws": {:.1f}, "sum": {}}})",
             boxes, record, still, checksum, extent, draws, sum)
      << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "decode" && argc == 4) {
    decode_stills(argv[2], std::atoi(argv[3]));
  } else if (mode == "encode" && argc == 6) {
    encode_images(argv[2], std::atoi(argv[3]), {.crf = std::atof(argv[4]), .preset = argv[5]});
  } else if (mode == "costs" && argc == 3) {
    print_costs(argv[2]);
  } else {
    std::cerr << "usage: fuelrail_still_limit decode FILE.bzna THREADS | encode FOLDER THREADS CRF "
                 "PRESET | costs FILE.bzna\n";
    return 2;
  }
  return 0;
}
