#include "fuelrail/loader/image_worker.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/loader/field_program.h"
#include "fuelrail/loader/upright_decoder.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/plan_runner.h"

namespace fuelrail {
namespace {

// Warns of what images lose in the conversion to 8-bit RGB. One object per loader, shared by its
// workers. Threads: any.
class LossWarnings {
 public:
  // If `warn` is empty, no warning is given.
  explicit LossWarnings(Warn warn) : warn_(std::move(warn)) {}

  // Warns of the first image with more than 8 bits per channel and of the first that may have
  // alpha.
  void look_at(const ImageInfo& info, const Container& container, uint64_t record) {
    const auto warn = [&](const std::string& loss) {
      if (!warn_) return;
      const Place place = container.place(record);
      warn_(
          fmt::format("{}: record {}, offset {}: {}, load the field 'encoded' and decode it "
                      "yourself. This warning appears only once.",
                      place.path, place.record, place.offset, loss));
    };
    if (info.bits > 8 && is_first(told_of_bits_)) {
      warn(fmt::format(
          "the image has {} bits per channel, of which only the upper 8 are kept. "
          "For a different conversion, convert the image before packing it; to keep all "
          "bits",
          info.bits));
    }
    if (info.alpha && is_first(told_of_alpha_)) {
      warn(
          "the image may have an alpha channel, which is dropped without blending. To blend the "
          "image with a background, do so before packing it; to keep the alpha channel");
    }
  }

 private:
  // Reads the flag before writing it, because a write for each image would slow down all threads.
  static bool is_first(std::atomic<bool>& told) {
    return !told.load(std::memory_order_relaxed) && !told.exchange(true, std::memory_order_relaxed);
  }

  const Warn warn_;
  std::atomic<bool> told_of_bits_ = false;
  std::atomic<bool> told_of_alpha_ = false;
};

void copy_bytes(Bytes from, std::byte* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

// The data that the workers of one loader share.
struct ImageWork {
  std::shared_ptr<const Container> container;
  std::vector<FieldProgram> programs;  // one for each column
  uint64_t seed;
  OnError on_error;
  LossWarnings losses;
};

// Writes the columns of a row one after another; only images take noticeable time.
class ImageWorker final : public Worker {
 public:
  explicit ImageWorker(std::shared_ptr<ImageWork> work) : work_(std::move(work)) {}

  void process(std::span<Task> tasks) override {
    write_each(tasks, [this](Task& task) { write_row(task); });
  }

 private:
  void write_row(Task& task) {
    work_->container->parse(task.entry.record, task.framed, sample_);
    for (size_t column = 0; column < work_->programs.size(); ++column) {
      std::visit([&](const auto& source) { write(task, source, column); },
                 work_->programs[column].source);
    }
  }

  void write(Task& task, RowValue value, size_t column) {
    std::byte* const to = task.batch->row(column, task.row);
    switch (value) {
      case RowValue::kId:
        std::memcpy(to, &sample_.id, sizeof sample_.id);
        return;
      case RowValue::kIndex:
        std::memcpy(to, &task.entry.record, sizeof task.entry.record);
        return;
      case RowValue::kPosition:
        std::memcpy(to, &task.entry.position, sizeof task.entry.position);
        return;
      case RowValue::kValid:
        *to = std::byte{task.entry.valid};
        return;
      case RowValue::kSubstituted:
        *to = std::byte{task.entry.substitute > 0};
        return;
    }
  }

  void write(Task& task, const BytesCopy& source, size_t column) {
    const FieldValue& value = sample_.fields[source.field];
    if (!source.list) return write_bytes(task, value.bytes, column);
    task.batch->make_list(column, task.row, value.items.size());
    for (size_t item = 0; item < value.items.size(); ++item) {
      const Bytes bytes = value.items[item];
      const int64_t shape[] = {static_cast<int64_t>(bytes.size())};
      copy_bytes(bytes, task.batch->make_item(column, task.row, item, shape));
    }
  }

  void write(Task& task, const EncodedCopy& source, size_t column) {
    const EncodedImage& image = sample_.fields[source.field];
    write_bytes(task, image.stands_alone() ? image.bytes : task.framed, column);
  }

  void write_bytes(Task& task, Bytes bytes, size_t column) {
    const int64_t shape[] = {static_cast<int64_t>(bytes.size())};
    copy_bytes(bytes, task.batch->make_row(column, task.row, shape));
  }

  void write(Task& task, const TensorCopy& source, size_t column) {
    const FieldValue& value = sample_.fields[source.field];
    const ColumnSpec& spec = task.batch->layout().columns()[column];
    size_t bytes = size_in_bytes(spec.dtype);
    for (const int64_t extent : spec.ragged() ? value.shape : spec.row_shape) {
      bytes *= static_cast<size_t>(extent);
    }
    if (value.bytes.size() != bytes) {
      throw CorruptError(fmt::format("the record's field '{}' has the wrong size", spec.name),
                         {.expected = fmt::format("{} bytes", bytes),
                          .found = fmt::format("{} bytes", value.bytes.size())});
    }
    std::byte* const to = spec.ragged() ? task.batch->make_row(column, task.row, value.shape)
                                        : task.batch->row(column, task.row);
    copy_bytes(value.bytes, to);
  }

  void write(Task& task, const ImageSize& source, size_t column) {
    ImageInfo info = probe(sample_.fields[source.field], source.max_pixels);
    if (source.orientation == Orientation::kIgnore) info.orientation = 1;
    const Size size = info.oriented();
    const int64_t values[] = {size.height, size.width};
    std::memcpy(task.batch->row(column, task.row), values, sizeof values);
  }

  // Adds a remedy to the error of an image that cannot be decoded, unless the decoder gave one.
  void write(Task& task, const ImageProgram& program, size_t column) {
    try {
      if (program.list) return write_images(task, program, column);
      write_image(task, program, sample_.fields[program.field], [&](Size size) {
        if (program.fixed) return task.batch->row(column, task.row);
        return task.batch->make_row(column, task.row, shape_of(program, size));
      });
    } catch (Error& error) {
      if (work_->on_error == OnError::kRaise) {
        error.add({.remedy = "Find all such images with 'fuelrail verify --decode', or skip them "
                             "with on_error=\"skip\""});
      }
      throw;
    }
  }

  // A list of images: one array if the transforms fix the size, else an array for each image.
  void write_images(Task& task, const ImageProgram& program, size_t column) {
    const std::vector<Bytes>& items = sample_.fields[program.field].items;
    std::byte* to = nullptr;
    size_t image_bytes = 0;
    if (program.fixed) {
      const auto [a, b, c] = shape_of(program, *program.fixed);
      to = task.batch->make_row(column, task.row,
                                std::array{static_cast<int64_t>(items.size()), a, b, c});
      image_bytes = static_cast<size_t>(a * b * c) * size_in_bytes(program.dtype);
    } else {
      task.batch->make_list(column, task.row, items.size());
    }
    for (size_t item = 0; item < items.size(); ++item) {
      write_image(task, program, {items[item]}, [&](Size size) {
        if (program.fixed) return to + item * image_bytes;
        return task.batch->make_item(column, task.row, item, shape_of(program, size));
      });
    }
  }

  // Encoded image -> plan -> decoding of the needed pixels -> transforms -> the memory that
  // `memory(size)` returns for an image of this size.
  template <typename Memory>
  void write_image(Task& task, const ImageProgram& program, const EncodedImage& encoded,
                   Memory memory) {
    ImageInfo info = probe(encoded, program.max_pixels);
    work_->losses.look_at(info, *work_->container, task.entry.record);
    if (program.orientation == Orientation::kIgnore) info.orientation = 1;
    const Philox random(work_->seed, task.entry.epoch, task.entry.position);
    resolve(program.transforms, info.oriented(), random, plan_, program.leader);

    const int eighths = scale_decoding(program, info);
    const Box input_box = needed_input(plan_.steps.front());
    const ConstImageView input = decoder_.decode(
        {.encoded = encoded, .info = info, .box = input_box, .eighths = eighths, .stop = task.stop},
        task.tolerated);
    const ConstImageView made = runner_.run(plan_, input, input_box);
    program.writer.write(made, plan_.flip_horizontal, plan_.flip_vertical, memory(made.size()));
  }

  static std::array<int64_t, 3> shape_of(const ImageProgram& program, Size size) {
    if (program.layout == ImageLayout::kNchw) {
      return {PixelBuffer::kChannels, size.height, size.width};
    }
    return {size.height, size.width, PixelBuffer::kChannels};
  }

  // Returns the eighths to decode at, and adapts the plan to them. Images turned by EXIF are
  // decoded in full.
  int scale_decoding(const ImageProgram& program, const ImageInfo& info) {
    if (!program.scaled_decode || !info.scalable || info.orientation != 1) return 8;
    ResampleStep& first = plan_.steps.front();
    const int eighths = decode_eighths(first);
    if (eighths < 8) first = at_eighths(first, info.stored, eighths);
    return eighths;
  }

  const std::shared_ptr<ImageWork> work_;
  UprightDecoder decoder_;
  Plan plan_;
  PlanRunner runner_;
  Sample sample_;
};

}  // namespace

LoaderWork image_work(std::shared_ptr<const Container> container, const ImageOptions& images,
                      const LoaderOptions& loading) {
  std::vector<FieldProgram> programs = field_programs(container->schema(), images);
  std::vector<ColumnSpec> columns;
  bool whole = false;
  for (const FieldProgram& program : programs) {
    columns.push_back(program.column);
    whole = whole || std::holds_alternative<EncodedCopy>(program.source);
  }
  const std::shared_ptr<ImageWork> work(new ImageWork{std::move(container), std::move(programs),
                                                      loading.seed(), loading.errors.on_error,
                                                      LossWarnings(loading.engine.warn)});
  return {std::move(columns), [work] { return std::make_unique<ImageWorker>(work); }, whole};
}

}  // namespace fuelrail
