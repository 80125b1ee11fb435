#include "fuelrail/benzina/still_work.h"

#include <fmt/format.h>

#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/loader/image_counts.h"

namespace fuelrail::benzina {
namespace {

struct StillWork {
  std::shared_ptr<const Container> container;
  std::shared_ptr<const FedRows> rows;
  StillWorkOptions options;
  size_t image;  // the field
};

class StillWorker final : public Worker {
 public:
  explicit StillWorker(std::shared_ptr<const StillWork> work) : work_(std::move(work)) {}

  void process(std::span<Task> tasks) override {
    write_each(tasks, [this](Task& task) { write_row(task); });
  }

 private:
  void write_row(Task& task) {
    const uint64_t record = task.entry.record;
    work_->container->parse(record, task.framed, sample_);
    const EncodedImage& encoded = sample_.fields[work_->image];
    try {
      write_image(task, encoded, probe(encoded));
    } catch (Error& error) {
      const Place place = work_->container->place(record);
      error.add({.path = place.path, .record = place.record, .offset = place.offset});
      throw;
    }
  }

  void write_image(Task& task, const EncodedImage& encoded, const ImageInfo& info) {
    const StillParameters parameters = work_->rows->at(task.entry.position);
    auto* const to = reinterpret_cast<float*>(task.batch->row(0, task.row));
    DecodeJob job{.encoded = encoded,
                  .info = info,
                  .box = whole(info.stored),
                  .output = {},
                  .stop = task.stop};
    job.take_planes = [&](const Planes& planes) {
      warp_still(planes, info.stored, parameters, work_->options.still, work_->options.output, to);
    };
    decoder_->decode({&job, 1});
    count_image(job, task.counts);
    if (job.error) std::rethrow_exception(job.error);
  }

  std::shared_ptr<const StillWork> work_;
  std::unique_ptr<Decoder> decoder_ = make_decoder();
  Sample sample_;
};

}  // namespace

void FedRows::add(uint64_t position, std::vector<StillParameters> rows) {
  const Lock lock(mutex_);
  batches_.erase(batches_.lower_bound(position), batches_.end());
  batches_.emplace(position, std::move(rows));
}

void FedRows::remove_before(uint64_t position) {
  const Lock lock(mutex_);
  while (!batches_.empty()) {
    const auto& [first, rows] = *batches_.begin();
    if (first + rows.size() > position) return;
    batches_.erase(batches_.begin());
  }
}

StillParameters FedRows::at(uint64_t position) const {
  const Lock lock(mutex_);
  auto batch = batches_.upper_bound(position);
  if (batch != batches_.begin()) {
    --batch;
    const uint64_t row = position - batch->first;
    if (row < batch->second.size()) return batch->second[row];
  }
  throw StateError("a sample has no parameters", {.found = fmt::format("position {}", position),
                                                  .remedy = "Report this as a bug of fuelrail"});
}

LoaderWork still_work(std::shared_ptr<const Container> container,
                      std::shared_ptr<const FedRows> rows, const StillWorkOptions& options) {
  const Size output = options.output;
  if (output.height < 1 || output.width < 1) {
    throw InvalidArgumentError("the shape of the images is out of range",
                               {.expected = "a height and width of at least 1",
                                .found = fmt::format("{} x {}", output.height, output.width)});
  }
  const size_t image = container->schema().index_of("image");
  const std::shared_ptr<const StillWork> work(
      new StillWork{std::move(container), std::move(rows), options, image});
  return {.columns = {{"image", DType::kFloat32, {3, output.height, output.width}}},
          .make_worker = [work] { return std::make_unique<StillWorker>(work); }};
}

std::vector<Size> image_sizes(const Container& container, std::span<const uint64_t> records) {
  std::vector<Size> sizes;
  sizes.reserve(records.size());
  std::vector<std::byte> framed;
  Sample sample;
  const size_t image = container.schema().index_of("image");
  for (const uint64_t record : records) {
    if (const auto known = container.image_size(record)) {
      sizes.push_back(*known);
      continue;
    }
    read_sample(container, record, framed, sample);
    try {
      sizes.push_back(probe(sample.fields[image]).stored);
    } catch (Error& error) {
      error.add(container.place(record).detail());
      throw;
    }
  }
  return sizes;
}

}  // namespace fuelrail::benzina
