#include "fuelrail/mxnet/record_worker.h"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/loader/upright_decoder.h"
#include "fuelrail/mxnet/augmenter.h"
#include "fuelrail/mxnet/det_augmenter.h"

namespace fuelrail::mxnet {
namespace {

// The random numbers of the present sample.
class SampleDraws {
 public:
  explicit SampleDraws(const RecordIterOptions& options) : options_(options) {}

  Draws& of(const Entry& entry) {
    if (options_.seed_aug) return seeded_.emplace(*options_.seed_aug, entry.position);
    return counted_.emplace(
        Philox(static_cast<uint64_t>(options_.seed), entry.epoch, entry.position));
  }

 private:
  const RecordIterOptions& options_;
  std::optional<SeededDraws> seeded_;
  std::optional<CountedDraws> counted_;
};

class RecordWorker final : public Worker {
 public:
  explicit RecordWorker(std::shared_ptr<const RecordWork> work)
      : work_(std::move(work)),
        options_(work_->options),
        draws_(options_),
        writer_(options_.output, options_.data_shape) {
    if (options_.detection) {
      det_augmenter_.emplace(options_.detection->augment, options_.data_shape);
    } else {
      augmenter_.emplace(options_.augment, options_.data_shape);
    }
  }

  void process(std::span<Task> tasks) override {
    write_each(tasks, [this](Task& task) { write_row(task); });
  }

 private:
  void write_row(Task& task) {
    work_->files->parse(task.entry.record, task.framed, sample_);
    take_labels();
    std::memcpy(task.batch->row(RecordColumns::kIndex, task.row), &sample_.id, sizeof sample_.id);
    *task.batch->row(RecordColumns::kValid, task.row) = std::byte{task.entry.valid};
    if (det_augmenter_) {
      write_detection(task);
    } else {
      write_image(task);
    }
  }

  void take_labels() {
    if (work_->labels) {
      const std::span<const float> found = work_->labels->find(sample_.id);
      labels_.assign(found.begin(), found.end());
      return;
    }
    const Bytes packed = sample_.fields[1].bytes;
    labels_.resize(packed.size() / sizeof(float));
    if (!labels_.empty()) {
      std::memcpy(labels_.data(), packed.data(), labels_.size() * sizeof(float));
    }
  }

  void check_label_width(int64_t width) const {
    if (labels_.size() == static_cast<size_t>(width)) return;
    throw CorruptError("the record's number of labels differs from `label_width`",
                       {.expected = fmt::format("{}", width),
                        .found = fmt::format("{}", labels_.size()),
                        .remedy = "Set `label_width` to the number of labels in each record, or "
                                  "give a list of labels (`path_imglist`)"});
  }

  void write_image(Task& task) {
    check_label_width(options_.label_width);
    std::memcpy(task.batch->row(RecordColumns::kLabel, task.row), labels_.data(),
                labels_.size() * sizeof(float));
    const ImageInfo info = info_of_image();
    Draws& draws = draws_.of(task.entry);
    const Box box = augmenter_->plan(info.oriented(), draws);
    const ConstImageView made = augmenter_->run(decode(task, info, box), box, draws);
    writer_.write(made, draws, task.batch->row(RecordColumns::kData, task.row));
  }

  void write_detection(Task& task) {
    const int64_t width = options_.detection->label_width;
    if (width != -1) check_label_width(width);
    check_det_label(labels_);
    const ImageInfo info = info_of_image();
    Draws& draws = draws_.of(task.entry);
    const DetImage made =
        det_augmenter_->augment(decode(task, info, whole(info.oriented())), labels_, draws);
    const std::span<float> row(
        reinterpret_cast<float*>(task.batch->row(RecordColumns::kLabel, task.row)),
        work_->label_numbers);
    write_det_row(options_.data_shape.channels, made.used, labels_,
                  options_.detection->label_pad_value, row);
    writer_.write(made.image, draws, task.batch->row(RecordColumns::kData, task.row));
  }

  // Orients images by their EXIF tag, except with four channels, as OpenCV does for MXNet.
  ImageInfo info_of_image() const {
    ImageInfo info = probe(sample_.fields[0]);
    if (options_.data_shape.channels == 4) info.orientation = 1;
    return info;
  }

  // The pixels of a box of the upright image.
  ConstImageView decode(Task& task, const ImageInfo& info, Box box) {
    return decoder_.decode({.encoded = sample_.fields[0],
                            .info = info,
                            .box = box,
                            .channels = options_.data_shape.channels,
                            .stop = task.stop},
                           task.counts);
  }

  const std::shared_ptr<const RecordWork> work_;
  const RecordIterOptions& options_;
  UprightDecoder decoder_;
  SampleDraws draws_;
  OutputWriter writer_;
  std::optional<Augmenter> augmenter_;         // either this
  std::optional<DetAugmenter> det_augmenter_;  // or this is set
  Sample sample_;
  std::vector<float> labels_;
};

}  // namespace

std::vector<ColumnSpec> record_columns(const RecordWork& work) {
  const MxShape& shape = work.options.data_shape;
  ColumnSpec label{"label", DType::kFloat32, {}};
  if (work.options.detection || work.options.label_width != 1) {
    label.row_shape = {static_cast<int64_t>(work.label_numbers)};
  }
  return {{"data", work.options.output.dtype, {shape.channels, shape.height, shape.width}},
          std::move(label),
          {"index", DType::kUint64, {}},
          {"valid", DType::kBool, {}}};
}

WorkerFactory record_worker_factory(std::shared_ptr<const RecordWork> work) {
  return [work = std::move(work)] { return std::make_unique<RecordWorker>(work); };
}

}  // namespace fuelrail::mxnet
