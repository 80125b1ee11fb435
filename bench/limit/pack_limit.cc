// The limit to compare packing with: libjpeg-turbo's decoding of whole images, OpenCV's bilinear
// resize (transform/cv_resize.h) of the shorter side, and encoding. All files are in memory.
// Nothing is read or written, and the images are in no order.
//
//   fuelrail_pack_limit FOLDER IMAGES THREADS SIDE QUALITY     IMAGES: the number of
//   images, for which the folder's images are repeated; runs once per line of standard input
//
// Answers each line with one JSON object: images, seconds, cpu_seconds, bytes.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "bare_jpeg.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/transform/cv_resize.h"

namespace {

using fuelrail::ImageView;
using fuelrail::Size;
using Clock = std::chrono::steady_clock;
using Encoded = std::vector<std::byte>;

struct Job {
  std::vector<Encoded> files;
  size_t images = 0;
  int64_t side = 0;
  int quality = 0;
};

std::vector<Encoded> read_all(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Encoded> files;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
    files.emplace_back(begin, begin + bytes.size());
  }
  return files;
}

Size shorter_side(Size from, int64_t side) {
  if (from.height < from.width) return {side, from.width * side / from.height};
  return {from.height * side / from.width, side};
}

void work(const Job& job, std::atomic<size_t>& next, std::atomic<size_t>& bytes) {
  fuelrail::bench::BareDecoder decoder;
  fuelrail::bench::BareEncoder encoder;
  fuelrail::CvResizer resizer;
  std::vector<uint8_t> pixels;
  for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < job.images;) {
    const fuelrail::Bytes encoded = job.files[i % job.files.size()];
    const Size stored = fuelrail::probe(encoded).stored;
    const ImageView image = decoder.decode(encoded, {0, 0, stored.height, stored.width});
    const Size size = shorter_side(stored, job.side);
    pixels.resize(static_cast<size_t>(size.height * size.width * 3));
    const ImageView to{pixels.data(), size.height, size.width, 3, size.width * 3};
    resizer.resize(image, to, fuelrail::CvInterpolation::kLinear);
    bytes.fetch_add(encoder.encode(to, job.quality), std::memory_order_relaxed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: fuelrail_pack_limit FOLDER IMAGES THREADS SIDE QUALITY\n";
    return 2;
  }
  const Job job{.files = read_all(argv[1]),
                .images = static_cast<size_t>(std::atoll(argv[2])),
                .side = std::atoll(argv[4]),
                .quality = std::atoi(argv[5])};
  const int threads = std::atoi(argv[3]);
  std::cout << "{\"ready\": true}" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::atomic<size_t> next{0}, bytes{0};
    const double cpu = fuelrail::bench::cpu_seconds();
    const auto begin = Clock::now();
    {
      std::vector<std::jthread> pool;
      for (int i = 0; i < threads; ++i) pool.emplace_back([&] { work(job, next, bytes); });
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::cout << fmt::format(
                     "{{\"images\": {}, \"seconds\": {}, \"cpu_seconds\": {}, \"bytes\": {}}}",
                     job.images, seconds, fuelrail::bench::cpu_seconds() - cpu, bytes.load())
              << std::endl;
  }
}
