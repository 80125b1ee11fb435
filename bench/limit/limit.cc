// The limits to compare the loader with: an image is decoded, resized, flipped and normalised into
// one preallocated batch, with the boxes that the loader would draw. There are no queues, no order
// and no allocations.
//
//   fuelrail_limit FILE.rec THREADS BATCH SIDE libjpeg|own|read
//
// libjpeg: libjpeg-turbo's region decoding, of records in memory. own: fuelrail's decoder, of
// records in memory. read: as own, but each record is read from the file and its CRC-32 verified.
// Reads one epoch number per line of standard input. Answers each line with one JSON object:
// images, seconds, cpu_seconds, and four separate times (reading, decoding, resizing, writing) in
// seconds, summed over the threads.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bare_jpeg.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/resize.h"

namespace {

using fuelrail::Box;
using fuelrail::ImageView;
using fuelrail::bench::BareDecoder;
using fuelrail::bench::cpu_seconds;
using Clock = std::chrono::steady_clock;

struct Seconds {
  double read = 0, decode = 0, resize = 0, write = 0;
};

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct alignas(64) CacheLine {
  std::byte bytes[64];
};

enum class Limit { kLibjpeg, kOwn, kRead };

struct Job {
  std::shared_ptr<const fuelrail::Container> container;
  Limit limit = Limit::kLibjpeg;
  fuelrail::Transforms transforms;
  fuelrail::PixelFormat format;
  size_t batch = 0;
  int64_t side = 0;
  std::vector<fuelrail::Sample> samples;       // by record; empty if they are read
  std::vector<std::vector<std::byte>> framed;  // the memory of `samples`
  std::vector<CacheLine> rows;                 // one batch
  size_t row_bytes = 0;
};

// A thread's reader and decoder.
class Images {
 public:
  explicit Images(const Job& job)
      : job_(job),
        field_(job.container->schema().index_of("image")),
        own_(fuelrail::make_decoder()) {}

  // Valid until the next call.
  const fuelrail::EncodedImage& read(uint64_t record) {
    if (job_.limit != Limit::kRead) return job_.samples[record].fields[field_];
    read_sample(*job_.container, record, framed_, sample_);
    return sample_.fields[field_];
  }

  // The pixels of `box`, valid until the next call. An error ends the program.
  ImageView decode(const fuelrail::EncodedImage& encoded, const fuelrail::ImageInfo& info,
                   Box box) {
    if (job_.limit == Limit::kLibjpeg) return bare_.decode(encoded.bytes, box);
    const ImageView output = pixels_.resize(box.size(), fuelrail::kDecodeMargin);
    fuelrail::DecodeJob job{.encoded = encoded,
                            .info = info,
                            .box = box,
                            .output = output,
                            .margin = fuelrail::kDecodeMargin};
    own_->decode({&job, 1});
    if (job.error) std::rethrow_exception(job.error);
    return output;
  }

 private:
  const Job& job_;
  const size_t field_;
  BareDecoder bare_;
  std::unique_ptr<fuelrail::Decoder> own_;
  fuelrail::PixelBuffer pixels_;
  std::vector<std::byte> framed_;
  fuelrail::Sample sample_;
};

ImageView upright(ImageView from, int orientation, fuelrail::Size size,
                  std::vector<uint8_t>& pixels) {
  pixels.resize(static_cast<size_t>(size.height * size.width * 3));
  const ImageView to{pixels.data(), size.height, size.width, 3, size.width * 3};
  turn_upright(from, orientation, to);
  return to;
}

void work(Job& job, const std::vector<fuelrail::Entry>& entries, std::atomic<size_t>& next,
          Seconds& spent) {
  Images images(job);
  fuelrail::Resampler resampler;
  const fuelrail::PixelWriter writer(job.format);
  auto* const rows = reinterpret_cast<std::byte*>(job.rows.data());
  std::vector<uint8_t> turned;
  std::vector<uint8_t> resized(static_cast<size_t>(job.side * job.side * 3));
  const ImageView to{resized.data(), job.side, job.side, 3, job.side * 3};
  for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < entries.size();) {
    const fuelrail::Entry& entry = entries[i];
    auto begin = Clock::now();
    const fuelrail::EncodedImage& encoded = images.read(entry.record);
    spent.read += since(begin);
    const fuelrail::ImageInfo info = fuelrail::probe(encoded);
    const auto geometry = resolve(
        job.transforms,
        {.image = info.oriented(), .random = fuelrail::Philox(1, entry.epoch, entry.position)});
    const Box upright_box = needed_input(geometry.steps.front());
    const Box box = fuelrail::to_stored(upright_box, info.stored, info.orientation);
    begin = Clock::now();
    ImageView decoded = images.decode(encoded, info, box);
    if (info.orientation != 1)
      decoded = upright(decoded, info.orientation, upright_box.size(), turned);
    spent.decode += since(begin);
    begin = Clock::now();
    resampler.resample(decoded, upright_box, geometry.steps.front(), to);
    spent.resize += since(begin);
    begin = Clock::now();
    writer.write(to, geometry.flip_horizontal, geometry.flip_vertical,
                 rows + (i % job.batch) * job.row_bytes);
    spent.write += since(begin);
  }
}

std::vector<fuelrail::Entry> epoch_order(uint64_t records, uint32_t epoch) {
  fuelrail::EpochSampler sampler(
      {.records = records,
       .order = {.seed = 1, .shuffle = fuelrail::Shuffle::kFull, .batch_size = records}},
      {epoch, 0});
  return sampler.next()->entries;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string_view, Limit> limits{
      {"libjpeg", Limit::kLibjpeg}, {"own", Limit::kOwn}, {"read", Limit::kRead}};
  if (argc != 6 || !limits.contains(argv[5])) {
    std::cerr << "usage: fuelrail_limit FILE.rec THREADS BATCH SIDE libjpeg|own|read\n";
    return 2;
  }
  const int threads = std::atoi(argv[2]);
  Job job;
  job.container = fuelrail::open_container(argv[1]);
  job.limit = limits.at(argv[5]);
  job.batch = static_cast<size_t>(std::atoi(argv[3]));
  job.side = std::atoi(argv[4]);
  const fuelrail::Normalize normalize{{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};
  job.transforms = {fuelrail::RandomResizedCrop{.size = {job.side, job.side}},
                    fuelrail::HorizontalFlip{}, normalize};
  job.format.normalize = normalize;
  job.row_bytes = static_cast<size_t>(job.side * job.side * 3) * sizeof(float);
  job.rows.resize(job.batch * job.row_bytes / sizeof(CacheLine) + 1);
  const uint64_t records = job.container->size();
  if (job.limit != Limit::kRead) {
    job.samples = std::vector<fuelrail::Sample>(records);
    job.framed.resize(records);
    for (uint64_t i = 0; i < records; ++i) {
      read_sample(*job.container, i, job.framed[i], job.samples[i]);
    }
  }
  std::cout << "{\"ready\": true}" << std::endl;

  for (std::string line; std::getline(std::cin, line);) {
    const auto entries = epoch_order(records, static_cast<uint32_t>(std::stoul(line)));
    std::atomic<size_t> next{0};
    std::vector<Seconds> spent(static_cast<size_t>(threads));
    const double cpu = cpu_seconds();
    const auto begin = Clock::now();
    {
      std::vector<std::jthread> pool;
      for (auto& mine : spent) pool.emplace_back([&] { work(job, entries, next, mine); });
    }
    const double seconds = since(begin);
    Seconds sum;
    for (const Seconds& s : spent) {
      sum.read += s.read;
      sum.decode += s.decode;
      sum.resize += s.resize;
      sum.write += s.write;
    }
    std::cout
        << fmt::format(
               R"({{"images": {}, "seconds": {:.6f}, "cpu_seconds": {:.6f}, "read": {:.6f}, "decode": {:.6f}, "resize": {:.6f}, "write": {:.6f}}})",
               entries.size(), seconds, cpu_seconds() - cpu, sum.read, sum.decode, sum.resize,
               sum.write)
        << std::endl;
  }
  return 0;
}
