#include "fuelrail/loader/image_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/loader/loss_warnings.h"
#include "fuelrail/loader/upright_decoder.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/plan_runner.h"

namespace fuelrail {
namespace {

constexpr int64_t kChannels = PixelBuffer::kChannels;

// What a column holds, and of which field of the sample.
struct Filling {
  enum class Kind : uint8_t {
    kImage,
    kEncoded,
    kTensor,
    kId,
    kIndex,
    kPosition,
    kValid,
    kSubstituted,
  };
  Kind kind = Kind::kImage;
  size_t field = 0;
};

// A name among the loader's own, else of a field of the dataset.
Filling filling_of(const std::string& name, const Schema& schema) {
  using enum Filling::Kind;
  if (name == "id") return {kId};
  if (name == "index") return {kIndex};
  if (name == "position") return {kPosition};
  if (name == "valid") return {kValid};
  if (name == "substituted") return {kSubstituted};
  if (name == "encoded" && schema.has("image")) return {kEncoded, schema.index_of("image")};
  if (schema.has(name)) {
    const size_t field = schema.index_of(name);
    switch (schema.fields[field].kind) {
      case FieldKind::kImage:
        return {kImage, field};
      case FieldKind::kTensor:
        return {kTensor, field};
      case FieldKind::kBytes:
        return {kEncoded, field};
    }
  }
  std::vector<std::string> known;
  for (const FieldSpec& field : schema.fields) known.push_back(field.name);
  if (schema.has("image")) known.push_back("encoded");
  known.insert(known.end(), {"id", "index", "position", "valid", "substituted"});
  throw InvalidArgumentError("a batch has no field of this name",
                             {.found = "'" + name + "'", .remedy = suggest(name, known)});
}

// Ragged where the transforms give images of different sizes.
std::vector<int64_t> image_shape(const ImageOptions& options) {
  const Size size = output_size(options.transforms).value_or(Size{-1, -1});
  if (options.layout == ImageLayout::kNchw) return {kChannels, size.height, size.width};
  return {size.height, size.width, kChannels};
}

ColumnSpec column_of(const std::string& name, const Schema& schema, const ImageOptions& options) {
  const Filling filling = filling_of(name, schema);
  switch (filling.kind) {
    case Filling::Kind::kImage:
      return {name, options.dtype, image_shape(options)};
    case Filling::Kind::kEncoded:
      return {name, DType::kUint8, {-1}};
    case Filling::Kind::kTensor:
      return {name, schema.fields[filling.field].dtype, schema.fields[filling.field].shape};
    case Filling::Kind::kId:
    case Filling::Kind::kIndex:
    case Filling::Kind::kPosition:
      return {name, DType::kInt64, {}};
    case Filling::Kind::kValid:
    case Filling::Kind::kSubstituted:
      break;
  }
  return {name, DType::kBool, {}};
}

// Whoever names transforms wants them done.
void refuse_transforms_of_bytes(const Schema& schema, const ImageOptions& options) {
  const bool has_images =
      std::any_of(schema.fields.begin(), schema.fields.end(),
                  [](const FieldSpec& field) { return field.kind == FieldKind::kImage; });
  if (has_images || options.transforms.empty()) return;
  throw InvalidArgumentError(
      "the transforms have nothing to change: the records are bytes, not images",
      {.expected = "no transforms",
       .found = fmt::format("{} of them", options.transforms.size()),
       .remedy = "Leave `transforms` out, and decode the bytes in `batch_transforms`; or open "
                 "images in a packed folder with the schema 'class_folders'"});
}

// Writes one column of one row; the image's is the only one that costs anything.
class ImageWorker final : public Worker {
 public:
  ImageWorker(std::shared_ptr<const Container> container, const ImageOptions& options,
              uint64_t seed, OnError on_error, std::shared_ptr<LossWarnings> losses)
      : container_(std::move(container)),
        options_(options),
        seed_(seed),
        on_error_(on_error),
        losses_(std::move(losses)),
        writer_({options.dtype, options.layout, normalization(options.transforms)}) {
    for (const std::string& name : options_.fields) {
      fillings_.push_back(filling_of(name, container_->schema()));
    }
  }

  void process(std::span<Task> tasks) override {
    write_each(tasks, [this](Task& task) { write_row(task); });
  }

 private:
  void write_row(Task& task) {
    container_->parse(task.entry.record, task.framed, sample_);
    for (size_t i = 0; i < fillings_.size(); ++i) write_column(task, i);
  }

  void write_column(Task& task, size_t column) {
    const Filling filling = fillings_[column];
    std::byte* const to = task.batch->row(column, task.row);
    switch (filling.kind) {
      case Filling::Kind::kImage:
        return write_image_or_say(task, sample_.fields[filling.field].bytes, column);
      case Filling::Kind::kEncoded:
        return write_bytes(task, sample_.fields[filling.field].bytes, column);
      case Filling::Kind::kTensor:
        return write_tensor(task, sample_.fields[filling.field], column);
      case Filling::Kind::kId:
        std::memcpy(to, &sample_.id, sizeof sample_.id);
        return;
      case Filling::Kind::kIndex:
        std::memcpy(to, &task.entry.record, sizeof task.entry.record);
        return;
      case Filling::Kind::kPosition:
        std::memcpy(to, &task.entry.position, sizeof task.entry.position);
        return;
      case Filling::Kind::kValid:
        *to = std::byte{task.entry.valid};
        return;
      case Filling::Kind::kSubstituted:
        *to = std::byte{task.entry.substitute > 0};
        return;
    }
  }

  static void write_bytes(const Task& task, Bytes bytes, size_t column) {
    const int64_t shape[] = {static_cast<int64_t>(bytes.size())};
    std::byte* const to = task.batch->make_row(column, task.row, shape);
    if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }

  static void write_tensor(const Task& task, const FieldValue& value, size_t column) {
    const ColumnSpec& spec = task.batch->layout().columns()[column];
    size_t bytes = size_in_bytes(spec.dtype);
    for (const int64_t extent : spec.ragged() ? value.shape : spec.row_shape) {
      bytes *= static_cast<size_t>(extent);
    }
    if (value.bytes.size() != bytes) {
      throw CorruptError(
          fmt::format("the record's field '{}' does not have the dataset's width", spec.name),
          {.expected = fmt::format("{} bytes", bytes),
           .found = fmt::format("{} bytes", value.bytes.size())});
    }
    std::byte* const to = spec.ragged() ? task.batch->make_row(column, task.row, value.shape)
                                        : task.batch->row(column, task.row);
    if (bytes > 0) std::memcpy(to, value.bytes.data(), bytes);
  }

  // What a user can do about an image that cannot be decoded, where the decoder has no better word.
  void write_image_or_say(Task& task, Bytes encoded, size_t column) {
    try {
      write_image(task, encoded, column);
    } catch (Error& error) {
      if (on_error_ == OnError::kRaise) {
        error.add({.remedy = "Find all such images with 'fuelrail verify --decode', and pass over "
                             "them with on_error=\"skip\""});
      }
      throw;
    }
  }

  // Encoded bytes -> plan -> the pixels that it needs -> what it says -> the row.
  void write_image(Task& task, Bytes encoded, size_t column) {
    ImageInfo info = probe(encoded, options_.max_pixels);
    losses_->look_at(info, *container_, task.entry.record);
    if (options_.orientation == Orientation::kIgnore) info.orientation = 1;
    const Philox random(seed_, task.entry.epoch, task.entry.position);
    resolve(options_.transforms, info.oriented(), random, plan_);

    const int eighths = scale_decoding(info);
    const Box input_box = needed_input(plan_.steps.front());
    const ConstImageView input = decoder_.decode(
        {.encoded = encoded, .info = info, .box = input_box, .eighths = eighths, .stop = task.stop},
        task.tolerated);
    const ConstImageView made = runner_.run(plan_, input, input_box);
    writer_.write(made, plan_.flip_horizontal, plan_.flip_vertical,
                  image_row(task, column, made.size()));
  }

  // Where an image of this size goes.
  std::byte* image_row(const Task& task, size_t column, Size size) const {
    if (!task.batch->layout().columns()[column].ragged()) return task.batch->row(column, task.row);
    if (options_.layout == ImageLayout::kNchw) {
      return task.batch->make_row(column, task.row, std::array{kChannels, size.height, size.width});
    }
    return task.batch->make_row(column, task.row, std::array{size.height, size.width, kChannels});
  }

  // The eighths to decode at; makes the plan one for that size. Turned images are decoded in full.
  int scale_decoding(const ImageInfo& info) {
    if (!options_.scaled_decode || !info.scalable || info.orientation != 1) return 8;
    ResampleStep& first = plan_.steps.front();
    const int eighths = decode_eighths(first);
    if (eighths < 8) first = at_eighths(first, info.stored, eighths);
    return eighths;
  }

  const std::shared_ptr<const Container> container_;
  const ImageOptions options_;
  const uint64_t seed_;
  const OnError on_error_;
  const std::shared_ptr<LossWarnings> losses_;
  const PixelWriter writer_;
  UprightDecoder decoder_;
  std::vector<Filling> fillings_;  // of the columns
  Plan plan_;
  PlanRunner runner_;
  Sample sample_;
};

}  // namespace

std::vector<ColumnSpec> image_columns(const Container& container, const ImageOptions& options) {
  if (options.fields.empty()) {
    throw InvalidArgumentError(
        "`fields` is empty",
        {.remedy = "Name at least one of: image, encoded, label, id, index, position, valid, "
                   "substituted"});
  }
  refuse_transforms_of_bytes(container.schema(), options);
  std::vector<ColumnSpec> columns;
  for (const std::string& field : options.fields) {
    columns.push_back(column_of(field, container.schema(), options));
  }
  return columns;
}

WorkerFactory image_worker_factory(std::shared_ptr<const Container> container,
                                   const ImageOptions& options, const LoaderOptions& loading) {
  return [container = std::move(container), options, seed = loading.seed(),
          on_error = loading.errors.on_error,
          losses = std::make_shared<LossWarnings>(loading.engine.warn)] {
    return std::make_unique<ImageWorker>(container, options, seed, on_error, losses);
  };
}

}  // namespace fuelrail
