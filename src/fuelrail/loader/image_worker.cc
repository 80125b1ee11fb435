#include "fuelrail/loader/image_worker.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/plan_runner.h"

namespace fuelrail {
namespace {

constexpr int64_t kChannels = PixelBuffer::kChannels;

ColumnSpec label_column(const Schema& schema) {
  const FieldSpec& label = schema.fields[schema.index_of("label")];
  for (const int64_t extent : label.shape) {
    if (extent < 0) {
      throw InvalidArgumentError(
          "the number of labels differs from record to record",
          {.expected = "the same number in every record, to make a batch",
           .remedy = "Leave 'label' out of `fields`, or pack the labels with one width"});
    }
  }
  return {"label", label.dtype, label.shape};
}

ColumnSpec image_column(const Schema& schema, const LoaderOptions& options) {
  if (schema.fields[schema.index_of("image")].kind != FieldKind::kImage) {
    throw InvalidArgumentError("the field 'image' of this dataset does not hold encoded images");
  }
  const std::optional<Size> size = output_size(options.transforms);
  if (!size) {
    throw InvalidArgumentError(
        "the transforms do not give all images one size, which a batch needs",
        {.remedy =
             "Add RandomResizedCrop, ResizedCenterCrop, CenterCrop or Resize((height, width)); "
             "where all images have one size already, CenterCrop of it costs nothing"});
  }
  if (options.layout == ImageLayout::kNchw) {
    return {"image", options.dtype, {kChannels, size->height, size->width}};
  }
  return {"image", options.dtype, {size->height, size->width, kChannels}};
}

ColumnSpec column_of(const std::string& field, const Schema& schema, const LoaderOptions& options) {
  if (field == "image") return image_column(schema, options);
  if (field == "label") return label_column(schema);
  if (field == "id" || field == "position") return {field, DType::kInt64, {}};
  if (field == "valid" || field == "substituted") return {field, DType::kBool, {}};
  throw InvalidArgumentError(
      "a batch has no field of this name",
      {.found = "'" + field + "'",
       .remedy = suggest(field, {"image", "label", "id", "position", "valid", "substituted"})});
}

// Writes one column of one row; the image's is the only one that costs anything.
class ImageWorker final : public Worker {
 public:
  ImageWorker(std::shared_ptr<const Container> container, const LoaderOptions& options)
      : container_(std::move(container)),
        options_(options),
        writer_({options.dtype, options.layout, normalization(options.transforms)}),
        decoder_(make_decoder()) {
    const Schema& schema = container_->schema();
    for (const std::string& field : options_.fields) {
      if (field == "image") image_field_ = schema.index_of(field);
      if (field == "label") label_field_ = schema.index_of(field);
    }
  }

  void process(std::span<Task> tasks) override {
    for (Task& task : tasks) {
      try {
        write_row(task);
      } catch (...) {
        task.error = std::current_exception();
      }
    }
  }

 private:
  void write_row(Task& task) {
    container_->parse(task.entry.record, task.framed, sample_);
    for (size_t i = 0; i < options_.fields.size(); ++i) {
      const std::string& field = options_.fields[i];
      std::byte* const to = task.batch->row(i, task.row);
      if (field == "image") {
        write_image(task, sample_.fields[image_field_].bytes, to);
      } else if (field == "label") {
        write_label(sample_.fields[label_field_].bytes, task.batch->layout().columns()[i], to);
      } else if (field == "id") {
        std::memcpy(to, &sample_.id, sizeof sample_.id);
      } else if (field == "position") {
        std::memcpy(to, &task.entry.position, sizeof task.entry.position);
      } else if (field == "valid") {
        *to = std::byte{task.entry.valid};
      } else {
        *to = std::byte{task.entry.substitute > 0};
      }
    }
  }

  static void write_label(Bytes label, const ColumnSpec& column, std::byte* to) {
    if (label.size() != column.row_bytes()) {
      throw CorruptError("the record's labels do not have the dataset's width",
                         {.expected = fmt::format("{} bytes", column.row_bytes()),
                          .found = fmt::format("{} bytes", label.size())});
    }
    std::memcpy(to, label.data(), label.size());
  }

  // Encoded bytes -> plan -> the pixels that it needs -> what it says -> the row.
  void write_image(Task& task, Bytes encoded, std::byte* to) {
    ImageInfo info = probe(encoded, options_.max_pixels);
    if (options_.orientation == Orientation::kIgnore) info.orientation = 1;
    const Philox random(options_.seed, task.entry.epoch, task.entry.position);
    resolve(options_.transforms, info.oriented(), random, plan_);

    const int eighths = scale_decoding(info);
    const Box input_box = needed_input(plan_.steps.front());
    const ConstImageView input = decode_upright(task, encoded, info, input_box, eighths);
    const ConstImageView made = runner_.run(plan_, input, input_box);
    writer_.write(made, plan_.flip_horizontal, plan_.flip_vertical, to);
  }

  // The eighths to decode at; makes the plan one for that size. Turned images are decoded in full.
  int scale_decoding(const ImageInfo& info) {
    if (!options_.scaled_decode || !info.scalable || info.orientation != 1) return 8;
    ResampleStep& first = plan_.steps.front();
    const int eighths = decode_eighths(first);
    if (eighths < 8) first = at_eighths(first, info.stored, eighths);
    return eighths;
  }

  ConstImageView decode_upright(Task& task, Bytes encoded, const ImageInfo& info, Box box,
                                int eighths) {
    const Box stored = to_stored(box, info.stored, info.orientation);
    DecodeJob job{.encoded = encoded,
                  .info = info,
                  .box = stored,
                  .output = decoded_.resize(stored.size()),
                  .eighths = eighths};
    decoder_->decode(
        {&job, 1});  // one at a time: the pixels are still in the cache when they are resampled
    task.tolerated += job.tolerated;
    if (job.error) std::rethrow_exception(job.error);
    if (info.orientation == 1) return job.output;
    const ImageView upright = upright_.resize(box.size());
    turn_upright(job.output, info.orientation, upright);
    return upright;
  }

  const std::shared_ptr<const Container> container_;
  const LoaderOptions options_;
  const PixelWriter writer_;
  const std::unique_ptr<Decoder> decoder_;
  Plan plan_;
  PlanRunner runner_;
  Sample sample_;
  PixelBuffer decoded_;
  PixelBuffer upright_;
  size_t image_field_ = 0;
  size_t label_field_ = 0;
};

}  // namespace

std::vector<ColumnSpec> image_columns(const Container& container, const LoaderOptions& options) {
  if (options.fields.empty()) {
    throw InvalidArgumentError(
        "`fields` is empty",
        {.remedy = "Name at least one of: image, label, id, position, valid, substituted"});
  }
  std::vector<ColumnSpec> columns;
  for (const std::string& field : options.fields) {
    columns.push_back(column_of(field, container.schema(), options));
  }
  return columns;
}

WorkerFactory image_worker_factory(std::shared_ptr<const Container> container,
                                   const LoaderOptions& options) {
  return [container = std::move(container), options] {
    return std::make_unique<ImageWorker>(container, options);
  };
}

}  // namespace fuelrail
