#include "fuelrail/mxnet/record_iter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/mxnet/det_augmenter.h"
#include "fuelrail/mxnet/label_list.h"
#include "fuelrail/mxnet/record_files.h"
#include "fuelrail/mxnet/record_order.h"
#include "fuelrail/mxnet/record_sampler.h"
#include "fuelrail/mxnet/record_worker.h"
#include "fuelrail/split/split_uri.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::mxnet {
namespace {

constexpr std::chrono::hours kForEver(24 * 365);

void check(const RecordIterOptions& options) {
  if (options.path_imgrec.empty()) {
    throw InvalidArgumentError(
        "`path_imgrec` is missing",
        {.remedy = "Give the path of a RecordIO file, or several separated by ';'"});
  }
  check(options.data_shape);
  RecordIterOptions::table(options.detection.has_value()).check(options);
  if (options.part_index >= options.num_parts) {
    throw InvalidArgumentError(
        "`part_index` is out of range",
        {.expected = fmt::format("less than num_parts ({})", options.num_parts),
         .found = fmt::format("{}", options.part_index)});
  }
  check(options.output, options.data_shape);
  if (options.detection) {
    check(options.detection->augment, options.data_shape);
  } else {
    check(options.augment, options.data_shape);
  }
}

// The record files that `path_imgrec` names. Indices (.idx) and lists (.lst) beside them are
// skipped.
std::vector<std::string> files_of(const std::string& path_imgrec) {
  const split::SplitUri uri = split::parse_split_uri(path_imgrec);
  if (!uri.cache.empty()) {
    throw UnsupportedError("`path_imgrec` names a cache file, which the iterator does not support",
                           {.path = path_imgrec, .remedy = "Remove the '#' and the name after it"});
  }
  std::vector<std::string> files;
  for (const FileInfo& file : find_split_files(uri, false).files) {
    if (!file.uri.ends_with(".idx") && !file.uri.ends_with(".lst")) files.push_back(file.uri);
  }
  if (!files.empty()) return files;
  throw NotFoundError("`path_imgrec` names no record file",
                      {.path = path_imgrec,
                       .remedy = "Give a RecordIO file, a directory of RecordIO files, or a "
                                 "pattern that matches their paths"});
}

RecordOrderOptions order_options(const RecordIterOptions& options) {
  return {.num_parts = static_cast<uint64_t>(options.num_parts),
          .part_index = static_cast<uint64_t>(options.part_index),
          .indexed = !options.path_imgidx.empty(),
          .shuffle = options.shuffle,
          .seed = options.seed,
          .detection = options.detection.has_value(),
          .shuffle_chunk_size = static_cast<uint64_t>(options.shuffle_chunk_size),
          .shuffle_chunk_seed = options.shuffle_chunk_seed,
          .batch_size = static_cast<uint64_t>(options.batch_size)};
}

std::shared_ptr<const LabelList> labels_of(const RecordIterOptions& options) {
  if (options.path_imglist.empty()) return nullptr;
  const int64_t width = options.detection ? options.detection->label_width : options.label_width;
  return std::make_shared<const LabelList>(LabelList::read(options.path_imglist, width));
}

// The number of values in a row of labels. For detection, it is at least the length of the longest
// label of all parts, so that batches have the same shape on every rank.
size_t label_numbers(const RecordWork& work, const OpenOptions& open) {
  const RecordIterOptions& options = work.options;
  if (!options.detection) return static_cast<size_t>(options.label_width);
  const auto longest = work.labels ? work.labels->widest() : work.files->most_labels(open);
  const auto wanted =
      static_cast<uint64_t>(std::max<int64_t>(0, options.detection->label_pad_width));
  if (wanted > 0 && wanted < longest) {
    throw InvalidArgumentError(
        "`label_pad_width` is smaller than the length of the longest label",
        {.expected = fmt::format("at least {}", longest),
         .found = fmt::format("{}", wanted),
         .remedy =
             "Set label_pad_width to 0 to pad all labels to the length of the longest label"});
  }
  return kDetRowPrefix + static_cast<size_t>(std::max<uint64_t>(wanted, longest));
}

std::unique_ptr<Loader> make_loader(const std::shared_ptr<const RecordWork>& work,
                                    const std::shared_ptr<const RecordOrder>& order,
                                    const RecordSamplerOptions& sampling) {
  const RecordIterOptions& options = work->options;
  const auto threads =
      static_cast<int>(std::min<int64_t>(options.preprocess_threads, default_threads()));
  const auto make = [order, sampling](Progress start, const Shard& /*shard*/) {
    return std::make_unique<RecordSampler>(order, sampling, start);
  };
  return std::make_unique<Loader>(
      work->files,
      LoaderOptions{
          .order = FedOrder{.make = make, .rows = sampling.batch_size},
          .engine = {.threads = threads, .prefetch = static_cast<size_t>(options.prefetch_buffer)}},
      LoaderWork{.columns = record_columns(*work), .make_worker = record_worker_factory(work)});
}

bool valid_row(const Batch& batch, size_t row) {
  return *batch.row(RecordColumns::kValid, row) != std::byte{0};
}

// The mean of the part's images after augmentation, but without normalising and mirroring.
MeanImage mean_of(const RecordWork& of, const RecordOrderOptions& ordering,
                  const OpenOptions& open) {
  auto work = std::make_shared<RecordWork>(of);
  work->options.output = {};
  RecordOrderOptions in_order = ordering;
  in_order.shuffle = false;
  in_order.shuffle_chunk_size = 0;
  const auto order = std::make_shared<const RecordOrder>(work->files, in_order);
  const auto loader = make_loader(work, order,
                                  {.batch_size = in_order.batch_size,
                                   .round_batch = false,
                                   .chunk_positions = work->options.seed_aug.has_value()});
  MeanImageSum sum(work->options.data_shape);
  for (;;) {
    const Engine::Next next = loader->next_for(std::chrono::milliseconds(50));
    check_keep_going(open.keep_going);
    if (next.status == Engine::Status::kEndOfEpoch) return sum.mean();
    if (next.status == Engine::Status::kTimeout) continue;
    for (size_t row = 0; row < next.batch->rows(); ++row) {
      if (!valid_row(*next.batch, row)) continue;
      sum.add(reinterpret_cast<const float*>(next.batch->row(RecordColumns::kData, row)));
    }
  }
}

std::shared_ptr<const MeanImage> mean_image(const RecordWork& work,
                                            const RecordOrderOptions& ordering,
                                            const OpenOptions& open) {
  const std::string& uri = work.options.mean_img;
  FileSystem& place = file_system_for(uri);
  if (!place.stat(uri)) {
    // The file is created first, so that an invalid path fails before images are read.
    const std::unique_ptr<Sink> sink = place.create(uri);
    write_mean_image(*sink, mean_of(work, ordering, open));
  }
  return std::make_shared<const MeanImage>(read_mean_image(uri, work.options.data_shape));
}

}  // namespace

struct ImageRecordIter::Impl {
  Impl(RecordIterOptions options, const OpenOptions& open) {
    options.output.detection = options.detection.has_value();
    check(options);
    auto made = std::make_shared<RecordWork>();
    made->files = std::make_shared<const RecordFiles>(files_of(options.path_imgrec), open);
    if (!options.path_imgidx.empty()) check_index(options.path_imgidx, *made->files);
    made->labels = labels_of(options);
    made->options = std::move(options);
    made->label_numbers = label_numbers(*made, open);
    const RecordOrderOptions ordering = order_options(made->options);
    order = std::make_shared<const RecordOrder>(made->files, ordering);
    if (!made->options.mean_img.empty()) {
      made->options.output.mean_image = mean_image(*made, ordering, open);
    }
    work = std::move(made);
    loader = make_loader(work, order,
                         {.batch_size = ordering.batch_size,
                          .round_batch = work->options.round_batch,
                          .chunk_positions = work->options.seed_aug.has_value()});
  }

  std::shared_ptr<const RecordWork> work;
  std::shared_ptr<const RecordOrder> order;
  std::unique_ptr<Loader> loader;
};

ImageRecordIter::ImageRecordIter(RecordIterOptions options, const OpenOptions& open)
    : impl_(std::make_unique<Impl>(std::move(options), open)) {}
ImageRecordIter::~ImageRecordIter() = default;

std::optional<RecordBatch> ImageRecordIter::next() { return next_for(kForEver).batch; }

ImageRecordIter::Next ImageRecordIter::next_for(std::chrono::milliseconds timeout) {
  if (impl_->loader->phase() == Engine::Phase::kOver) {
    return {.status = Engine::Status::kEndOfEpoch};
  }
  Engine::Next taken = impl_->loader->next_for(timeout);
  Next next{.status = taken.status};
  if (taken.batch) {
    size_t pad = 0;
    const size_t rows = taken.batch->rows();
    while (pad < rows && !valid_row(*taken.batch, rows - 1 - pad)) ++pad;
    next.batch = RecordBatch{*std::move(taken.batch), pad};
  }
  return next;
}

void ImageRecordIter::reset() { impl_->loader->next_epoch(); }

const RecordIterOptions& ImageRecordIter::options() const { return impl_->work->options; }
const BatchLayout& ImageRecordIter::layout() const { return impl_->loader->layout(); }
uint64_t ImageRecordIter::records() const { return impl_->order->size(); }
Stats ImageRecordIter::stats() const { return impl_->loader->stats(); }
void ImageRecordIter::stop() { impl_->loader->stop(); }

}  // namespace fuelrail::mxnet
