// A fixed epoch for counting instructions: one thread reads 64 images with pread, and the loader's
// worker writes them into the rows of a batch, without the engine. The images are computed, so they
// are the same on every machine.
//
//   fuelrail_instructions make-image-records FILE.rec      writes the images and their labels
//   fuelrail_instructions make-sample-records FILE.rec     writes the same as sample records
//   fuelrail_instructions run FILE.rec                     runs the epoch, in `counted_epoch`
//
// `run` prints one JSON object: the number of images, the instruction set of the SIMD code, and a
// checksum of the pixels.
#include <fmt/format.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/container/sample_record.h"
#include "fuelrail/loader/sample_worker.h"
#include "fuelrail/sampler/epoch_sampler.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/testing/photographs.h"

namespace {

using fuelrail::Size;

constexpr size_t kImages = 64;
constexpr size_t kBatch = 16;
// The sizes of ordinary photographs on the web, as in ImageNet.
constexpr Size kSizes[] = {{375, 500}, {500, 375}, {333, 500}, {480, 640}, {256, 341}, {400, 300}};

using AppendRecord =
    std::function<void(size_t id, std::span<const std::byte> jpeg, std::vector<std::byte>& out)>;

void make(const std::string& uri, const AppendRecord& append) {
  const auto sink = fuelrail::file_system_for(uri).create(uri);
  fuelrail::recordio::RecordWriter writer(*sink);
  for (size_t i = 0; i < kImages; ++i) {
    const Size size = kSizes[i % std::size(kSizes)];
    std::vector<std::byte> payload;
    append(i, fuelrail::make_jpeg(size.height, size.width, i), payload);
    writer.append(payload);
  }
  sink->commit();
}

void append_image_record(size_t id, std::span<const std::byte> jpeg, std::vector<std::byte>& out) {
  const auto label = static_cast<float>(id);
  fuelrail::append_image_record(id, {&label, 1}, jpeg, out);
}

void append_sample_record(size_t id, std::span<const std::byte> jpeg, std::vector<std::byte>& out) {
  static const fuelrail::SampleEncoder encoder(
      {{fuelrail::image_field("image"), fuelrail::label_field("label")}});
  const auto label = static_cast<int64_t>(id);
  std::vector<fuelrail::FieldValue> values(2);
  values[0].bytes = jpeg;
  values[1].bytes = std::as_bytes(std::span(&label, 1));
  encoder.append(id, values, out);
}

constexpr uint64_t kSeed = 1;

fuelrail::ImageOptions job() {
  return {
      .transforms = {
          fuelrail::RandomResizedCrop{.size = {224, 224}}, fuelrail::HorizontalFlip{},
          fuelrail::Normalize{.mean = {0.485F, 0.456F, 0.406F}, .std = {0.229F, 0.224F, 0.225F}}}};
}

// All objects that an epoch needs, except those that start a thread.
struct Epoch {
  explicit Epoch(const std::string& uri)
      : container(fuelrail::open_container(uri)),
        layout(
            std::make_shared<fuelrail::BatchLayout>(sample_work(container, job()).columns, kBatch)),
        pool(layout->total_bytes(), 1),
        batch(layout, pool.take(), kBatch),
        worker(sample_work(container, job(), {.order = fuelrail::OrderOptions{.seed = kSeed}})
                   .make_worker()),
        queue(fuelrail::make_read_queue({.threads = 0, .backend = fuelrail::ReadBackend::kPread})),
        sampler(
            {.records = container->size(),
             .order = {.seed = kSeed, .shuffle = fuelrail::Shuffle::kFull, .batch_size = kBatch}}),
        framed(kBatch) {
    std::memset(batch.column(0), 0, layout->total_bytes());  // maps its pages
  }

  std::shared_ptr<const fuelrail::Container> container;
  std::shared_ptr<const fuelrail::BatchLayout> layout;
  fuelrail::SlotPool pool;
  fuelrail::Batch batch;
  std::unique_ptr<fuelrail::Worker> worker;
  std::unique_ptr<fuelrail::ReadQueue> queue;
  fuelrail::EpochSampler sampler;
  std::vector<std::vector<std::byte>> framed;  // one record per row
};

void read_records(Epoch& epoch, const fuelrail::BatchPlan& plan) {
  std::vector<fuelrail::Extent> extents;
  std::vector<fuelrail::ReadRequest> requests;
  for (size_t row = 0; row < plan.entries.size(); ++row) {
    extents.push_back(epoch.container->extent(plan.entries[row].record));
    epoch.framed[row].resize(extents.back().length);
    requests.push_back({.source = extents.back().source.get(),
                        .offset = extents.back().offset,
                        .into = epoch.framed[row],
                        .tag = row});
  }
  epoch.queue->submit(requests);
  std::vector<fuelrail::Completion> done(requests.size());
  if (epoch.queue->wait(done, done.size()) != done.size()) std::terminate();
  for (const fuelrail::Completion& one : done) {
    if (one.error) std::rethrow_exception(one.error);
  }
}

void run_batch(Epoch& epoch, const fuelrail::BatchPlan& plan) {
  read_records(epoch, plan);
  for (size_t row = 0; row < plan.entries.size(); ++row) {
    fuelrail::Task task{
        .entry = plan.entries[row], .framed = epoch.framed[row], .batch = &epoch.batch, .row = row};
    epoch.worker->process({&task, 1});
    if (task.error) std::rethrow_exception(task.error);
  }
}

}  // namespace

// The function that callgrind counts (--toggle-collect). It has a C name, because compilers do
// not change C names.
extern "C" __attribute__((noinline)) void counted_epoch(void* opaque) {
  Epoch& epoch = *static_cast<Epoch*>(opaque);
  for (size_t done = 0; done < kImages;) {
    const fuelrail::BatchPlan plan = *epoch.sampler.next();
    run_batch(epoch, plan);
    done += plan.entries.size();
  }
}

int main(int argc, char** argv) {
  const std::string verb = argc == 3 ? argv[1] : "";
  try {
    if (verb == "make-image-records" || verb == "make-sample-records") {
      make(argv[2], verb == "make-image-records" ? append_image_record : append_sample_record);
      return 0;
    }
    if (verb == "run") {
      Epoch epoch(argv[2]);
      counted_epoch(&epoch);
      const std::span<const std::byte> rows(epoch.batch.column(0), epoch.layout->total_bytes());
      std::cout << fmt::format(
          "{{\"images\": {}, \"target\": \"{}\", \"pixels\": \"{:08x}\"}}\n", kImages,
          hwy::TargetName(hwy::SupportedAndGeneratedTargets().front()), fuelrail::crc32(rows));
      return 0;
    }
  } catch (const fuelrail::Error& error) {
    std::cerr << "fuelrail_instructions: " << error.what() << "\n";
    return 1;
  }
  std::cerr << "usage: fuelrail_instructions make-image-records|make-sample-records|run FILE.rec\n";
  return 2;
}
