// The limits to compare loading of samples of many fields with: bare decoding, and fuelrail's
// resampling, flip and normalisation into one preallocated batch, of the boxes that the loader
// would draw. There are no queues, no order and no allocations. Boxes, points and matrices are not
// moved.
//
//   fuelrail_sample_limit masks FILE.rec THREADS      an image and its mask
//   fuelrail_sample_limit boxes FILE.rec THREADS      an image with boxes
//   fuelrail_sample_limit cameras FILE.rec THREADS    two images
//     The records are in memory. JPEGs are decoded by libjpeg-turbo (bare_jpeg.h), masks by
//     fuelrail's decoder.
//
//   fuelrail_sample_limit raw FILE.rec THREADS PASSES
//     .npy arrays. Each record is read from the file and its checksum computed; the pixels are
//     resampled where they lie in the record. An epoch is PASSES epochs of the loader.
//
// Reads one epoch number per line of standard input, and answers with one JSON object: images
// (samples), seconds, cpu_seconds.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bare_jpeg.h"
#include "fuelrail/base/crc32.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/open.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/npy/npy_header.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/transform/coordinates.h"
#include "fuelrail/transform/mask_runner.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/resize.h"

namespace {

using namespace fuelrail;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kSeed = 1;
const Normalize kNormalize{{0.485F, 0.456F, 0.406F}, {0.229F, 0.224F, 0.225F}};

// Steps of a job, as in bench/peers/fuelrail_samples.py.
struct Job {
  Transforms transforms;
  Size size;         // of the images in a batch
  size_t batch = 0;  // images
};

Job job_named(std::string_view name) {
  const HorizontalFlip flip;
  if (name == "masks")
    return {{RandomResizedCrop{.size = {512, 512}}, flip, kNormalize}, {512, 512}, 32};
  if (name == "boxes")
    return {{RandomIoUCrop{}, flip, Resize{.size = {640, 640}}, kNormalize}, {640, 640}, 16};
  if (name == "cameras") {
    return {
        {Resize{.size = {396, 704}}, RandomCrop{.size = {384, 704}}, kNormalize}, {384, 704}, 32};
  }
  return {{RandomResizedCrop{.size = {224, 224}}, flip, kNormalize}, {224, 224}, 256};
}

// One batch of images and masks, written again and again.
class Rows {
 public:
  explicit Rows(const Job& job)
      : job_(job),
        images_(job.batch * image_bytes()),
        masks_(job.batch * static_cast<size_t>(job.size.height * job.size.width)) {}

  std::byte* image(size_t row) { return images_.data() + row % job_.batch * image_bytes(); }
  RawView mask(size_t row) {
    const auto bytes = static_cast<size_t>(job_.size.height * job_.size.width);
    return {masks_.data() + row % job_.batch * bytes,
            job_.size.height,
            job_.size.width,
            1,
            DType::kUint8,
            job_.size.width};
  }

 private:
  size_t image_bytes() const {
    return static_cast<size_t>(job_.size.height * job_.size.width * 3) * sizeof(float);
  }

  const Job& job_;
  std::vector<std::byte> images_, masks_;
};

// What one thread needs to draw, resample and write.
class Maker {
 public:
  Maker(const Job& job, Rows& rows)
      : job_(job),
        rows_(rows),
        writer_({.normalize = kNormalize}),
        pixels_(static_cast<size_t>(job.size.height * job.size.width * 3)) {}

  const Plan& draw(const Entry& entry, Size image, uint32_t leader = 0,
                   std::span<const Corners> boxes = {}) {
    resolve(job_.transforms,
            {.image = image,
             .random = Philox(kSeed, entry.epoch, entry.position),
             .leader = leader,
             .boxes = boxes},
            plan_);
    return plan_;
  }

  // `input`: the pixels of `box`.
  void write(ConstImageView input, Box box, size_t row) {
    const ImageView to{pixels_.data(), job_.size.height, job_.size.width, 3, job_.size.width * 3};
    resampler_.resample(input, box, plan_.steps.front(), to);
    writer_.write(to, plan_.flip_horizontal, plan_.flip_vertical, rows_.image(row));
  }

 private:
  const Job& job_;
  Rows& rows_;
  Plan plan_;
  Resampler resampler_;
  const PixelWriter writer_;
  std::vector<uint8_t> pixels_;
};

// A thread's work on the sample that is number `row` of an epoch.
using Work = std::function<void(const Entry& entry, size_t row)>;

// The parts of a record that a job needs.
struct Held {
  std::vector<std::vector<std::byte>> images;  // encoded
  std::vector<std::byte> mask;
  std::vector<Corners> boxes;
};

std::vector<Held> hold_all(const Container& container) {
  std::vector<Held> all(container.size());
  std::vector<std::byte> framed;
  Sample sample;
  for (uint64_t i = 0; i < container.size(); ++i) {
    read_sample(container, i, framed, sample);
    for (size_t at = 0; at < sample.fields.size(); ++at) {
      const FieldSpec& spec = container.schema().fields[at];
      const Bytes bytes = sample.fields[at].bytes;
      if (spec.role == Role::kImage) all[i].images.emplace_back(bytes.begin(), bytes.end());
      if (spec.role == Role::kMask) all[i].mask.assign(bytes.begin(), bytes.end());
      if (spec.role == Role::kBoxes) {
        const std::span numbers(reinterpret_cast<const float*>(bytes.data()), bytes.size() / 4);
        read_boxes(numbers, BoxFormat::kXyxy, {}, {}, spec.name, all[i].boxes);
      }
    }
  }
  return all;
}

// Decodes what the job needs of a held sample.
Work held_work(const Job& job, const std::vector<Held>& all, Rows& rows) {
  struct State {
    State(const Job& job, Rows& rows) : maker(job, rows) {}
    Maker maker;
    bench::BareDecoder jpeg;
    std::unique_ptr<Decoder> decoder = make_decoder();
    MaskRunner masks;
    Plan plan;
    std::vector<std::byte> values;
  };
  const auto state = std::make_shared<State>(job, rows);
  return [state, &all, &rows](const Entry& entry, size_t row) {
    const Held& held = all[entry.record];
    for (size_t i = 0; i < held.images.size(); ++i) {
      const Bytes encoded = held.images[i];
      const Size size = probe(EncodedImage{encoded}).stored;
      const Plan& plan = state->maker.draw(entry, size, static_cast<uint32_t>(i), held.boxes);
      const Box box = needed_input(plan.steps.front());
      state->maker.write(state->jpeg.decode(encoded, box), box, row * held.images.size() + i);
      if (held.mask.empty()) continue;
      const ImageInfo info = probe(EncodedImage{held.mask});
      follow(plan, size, info.stored, Follower::kMask, state->plan);
      const Box mask_box = needed_input(state->plan.steps.front());
      state->values.resize(static_cast<size_t>(mask_box.height * mask_box.width));
      const RawView values{state->values.data(), mask_box.height, mask_box.width, 1,
                           DType::kUint8,        mask_box.width};
      DecodeJob decode{.encoded = {held.mask}, .info = info, .box = mask_box, .values = values};
      state->decoder->decode({&decode, 1});
      if (decode.error) std::rethrow_exception(decode.error);
      state->masks.run(state->plan, values, mask_box, 255, rows.mask(row));
    }
  };
}

// The place of a record, and of its array in the record.
struct RawPlace {
  Extent extent;
  size_t array = 0;
  size_t bytes = 0;
};

std::vector<RawPlace> raw_places(const Container& container) {
  std::vector<RawPlace> places;
  std::vector<std::byte> framed;
  Sample sample;
  const size_t image = container.schema().index_of("image");
  for (uint64_t i = 0; i < container.size(); ++i) {
    read_sample(container, i, framed, sample);
    const Bytes bytes = sample.fields[image].bytes;
    places.push_back(
        {container.extent(i), static_cast<size_t>(bytes.data() - framed.data()), bytes.size()});
  }
  return places;
}

Work raw_work(const Job& job, const std::vector<RawPlace>& places, Rows& rows,
              std::atomic<uint32_t>& sums) {
  struct State {
    State(const Job& job, Rows& rows) : maker(job, rows) {}
    Maker maker;
    std::vector<std::byte> record;
  };
  const auto state = std::make_shared<State>(job, rows);
  return [state, &places, &sums](const Entry& entry, size_t row) {
    const RawPlace& place = places[entry.record];
    std::vector<std::byte>& record = state->record;
    if (record.size() < place.extent.length) record.resize(place.extent.length);
    const MutableBytes read(record.data(), place.extent.length);
    place.extent.source->read(place.extent.offset, read);
    sums.fetch_xor(crc32(read), std::memory_order_relaxed);
    const Bytes array = Bytes(read).subspan(place.array, place.bytes);
    const NpyHeader header = parse_npy_header(array);
    const auto* pixels = reinterpret_cast<const uint8_t*>(array.data() + header.data_at);
    const ConstImageView image{pixels, header.size.height, header.size.width, 3,
                               header.size.width * 3};
    const Box box = needed_input(state->maker.draw(entry, header.size).steps.front());
    state->maker.write(image.crop(box), box, row);
  };
}

std::vector<Entry> epoch_order(uint64_t records, uint32_t epoch) {
  EpochSampler sampler({.records = records,
                        .order = {.seed = kSeed, .shuffle = Shuffle::kFull, .batch_size = records}},
                       {epoch, 0});
  return sampler.next()->entries;
}

// Runs one epoch, made of `passes` of the loader's, on these threads. Returns: samples.
size_t run_epoch(uint64_t records, uint32_t epoch, uint32_t passes, int threads,
                 const std::function<Work()>& make_work) {
  std::vector<Entry> entries;
  for (uint32_t pass = 0; pass < passes; ++pass) {
    const auto order = epoch_order(records, epoch * passes + pass);
    entries.insert(entries.end(), order.begin(), order.end());
  }
  std::atomic<size_t> next{0};
  std::vector<std::jthread> pool;
  for (int i = 0; i < threads; ++i) {
    pool.emplace_back([&] {
      const Work work = make_work();
      for (size_t row; (row = next.fetch_add(1)) < entries.size();) work(entries[row], row);
    });
  }
  pool.clear();
  return entries.size();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (argc != (name == "raw" ? 5 : 4)) {
    std::cerr << "usage: fuelrail_sample_limit masks|boxes|cameras FILE.rec THREADS\n"
                 "       fuelrail_sample_limit raw FILE.rec THREADS PASSES\n";
    return 2;
  }
  const auto container = open_container(argv[2]);
  const int threads = std::atoi(argv[3]);
  const Job job = job_named(name);
  Rows rows(job);
  std::atomic<uint32_t> sums = 0;
  std::vector<Held> held;
  std::vector<RawPlace> places;
  std::function<Work()> make_work;
  if (name == "raw") {
    places = raw_places(*container);
    make_work = [&] { return raw_work(job, places, rows, sums); };
  } else {
    held = hold_all(*container);
    make_work = [&] { return held_work(job, held, rows); };
  }
  std::cout << "{\"ready\": true}" << std::endl;

  for (std::string line; std::getline(std::cin, line);) {
    const double cpu = bench::cpu_seconds();
    const auto begin = Clock::now();
    const size_t samples =
        run_epoch(container->size(), static_cast<uint32_t>(std::stoul(line)),
                  argc > 4 ? static_cast<uint32_t>(std::atoi(argv[4])) : 1, threads, make_work);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::cout << fmt::format(
                     R"({{"images": {}, "seconds": {:.6f}, "cpu_seconds": {:.6f}, "sums": {}}})",
                     samples, seconds, bench::cpu_seconds() - cpu, sums.load())
              << std::endl;
  }
  return 0;
}
