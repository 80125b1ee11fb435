#include "fuelrail/loader/sample_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/field_rules.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/loader/follower_loader.h"
#include "fuelrail/loader/image_counts.h"
#include "fuelrail/loader/loss_warnings.h"
#include "fuelrail/loader/sample_motion.h"
#include "fuelrail/loader/sample_program.h"
#include "fuelrail/loader/upright_decoder.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/plan_runner.h"

namespace fuelrail {
namespace {

void copy_bytes(Bytes from, std::byte* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

// The data that the workers of one loader share.
struct SampleWork {
  SampleWork(std::shared_ptr<const Container> records, SampleProgram columns,
             const LoaderOptions& loading)
      : container(std::move(records)),
        program(std::move(columns)),
        seed(loading.seed()),
        on_error(loading.errors.on_error),
        losses(*container, loading.engine.warn) {}

  const std::shared_ptr<const Container> container;
  const SampleProgram program;
  const uint64_t seed;
  const OnError on_error;
  LossWarnings losses;
};

// Writes the columns of a row one after another; only images take noticeable time.
class SampleWorker final : public Worker {
 public:
  explicit SampleWorker(std::shared_ptr<SampleWork> work)
      : work_(std::move(work)),
        motion_(work_->container->schema(), work_->program, work_->seed, work_->losses) {}

  void process(std::span<Task> tasks) override {
    write_each(tasks, [this](Task& task) { write_row(task); });
  }

 private:
  void write_row(Task& task) {
    work_->container->parse(task.entry.record, task.framed, sample_);
    motion_.begin(sample_, task.entry);
    const std::vector<ColumnProgram>& columns = work_->program.columns;
    for (size_t column = 0; column < columns.size(); ++column) {
      std::visit([&](const auto& source) { write(task, source, column); }, columns[column].source);
    }
    if (task.counts.others[kHintsRefused] > 0) {
      work_->losses.tell_of_refused_hints(task.entry.record);
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
    write_tensor(task, value, value.bytes, column);
  }

  // `elements`: in the shape of `value`.
  static void write_tensor(Task& task, const FieldValue& value, Bytes elements, size_t column) {
    const ColumnSpec& spec = task.batch->layout().columns()[column];
    size_t bytes = size_in_bytes(spec.dtype);
    for (const int64_t extent : spec.ragged() ? value.shape : spec.row_shape) {
      bytes *= static_cast<size_t>(extent);
    }
    if (elements.size() != bytes) {
      throw CorruptError(fmt::format("the record's field '{}' has the wrong size", spec.name),
                         {.expected = fmt::format("{} bytes", bytes),
                          .found = fmt::format("{} bytes", elements.size())});
    }
    std::byte* const to = spec.ragged() ? task.batch->make_row(column, task.row, value.shape)
                                        : task.batch->row(column, task.row);
    copy_bytes(elements, to);
  }

  void write(Task& task, const ImageSize& source, size_t column) {
    guard(source.field, [&] {
      const std::vector<LeaderProgram>& leaders = work_->program.leaders;
      const auto leader = std::ranges::find(leaders, source.field, &LeaderProgram::field);
      const Size size =
          leader == leaders.end()
              ? motion_.look_at(sample_.fields[source.field]).oriented()
              : motion_.leader(static_cast<size_t>(leader - leaders.begin())).info.oriented();
      const int64_t values[] = {size.height, size.width};
      std::memcpy(task.batch->row(column, task.row), values, sizeof values);
    });
  }

  // --- Images, and what moves with them ---

  void write(Task& task, const LeaderPixels& program, size_t column) {
    if (program.list) return write_images(task, program, column);
    const LeaderProgram& leader = work_->program.leaders[program.leader];
    guard(leader.field, [&] {
      write_image(task, program, sample_.fields[leader.field], motion_.leader(program.leader),
                  [&](Size size) { return pixels_at(task, program.pixels, column, size); });
    });
  }

  // A list of images: one array if the transforms fix the size, else an array for each image.
  void write_images(Task& task, const LeaderPixels& program, size_t column) {
    const size_t field = work_->program.leaders[program.leader].field;
    const std::vector<Bytes>& items = sample_.fields[field].items;
    const PixelColumn& pixels = program.pixels;
    std::byte* to = nullptr;
    size_t image_bytes = 0;
    if (pixels.fixed) {
      const auto [a, b, c] = image_shape(pixels.layout, *pixels.fixed, PixelBuffer::kChannels);
      image_bytes = static_cast<size_t>(a * b * c) * size_in_bytes(pixels.dtype);
      require_room_for(items.size(), image_bytes, work_->container->schema().fields[field].name);
      to = task.batch->make_row(column, task.row,
                                std::array{static_cast<int64_t>(items.size()), a, b, c});
    } else {
      task.batch->make_list(column, task.row, items.size());
    }
    for (size_t item = 0; item < items.size(); ++item) {
      const EncodedImage image{items[item]};
      const auto memory = [&](Size size) {
        if (pixels.fixed) return to + item * image_bytes;
        return task.batch->make_item(column, task.row, item,
                                     image_shape(pixels.layout, size, PixelBuffer::kChannels));
      };
      guard(
          field,
          [&] { write_image(task, program, image, motion_.leader(program.leader, image), memory); },
          item);
    }
  }

  // A record of a megabyte can have a hundred thousand items, none of which is an image.
  static void require_room_for(size_t images, size_t image_bytes, const std::string& field) {
    if (images <= static_cast<size_t>(kMaxValueBytes) / image_bytes) return;
    throw UnsupportedError(
        "a list of images is too long for one array",
        {.field = field,
         .expected = fmt::format("at most {} bytes", kMaxValueBytes),
         .found = fmt::format("{} images of {} bytes", images, image_bytes),
         .remedy = "Resize the images to a smaller size, or pack shorter lists"});
  }

  // Encoded image -> plan -> decoding of the needed pixels -> transforms -> the memory that
  // `memory(size)` returns for an image of this size.
  template <typename Memory>
  void write_image(Task& task, const LeaderPixels& program, const EncodedImage& encoded,
                   SampleMotion::Leader& leader, Memory memory) {
    Plan& plan = leader.plan;
    const ResampleStep whole_size = plan.steps.front();
    const int eighths = decode_scale(leader);
    if (eighths < 8) {
      plan.steps.front() = at_eighths(whole_size, leader.info.stored, eighths);
    }
    const Box input_box = needed_input(plan.steps.front());
    const ConstImageView input = decoder_.decode({.encoded = encoded,
                                                  .info = leader.info,
                                                  .box = input_box,
                                                  .eighths = eighths,
                                                  .stop = task.stop},
                                                 task.counts);
    const ConstImageView made = runner_.run(plan, input, input_box);
    program.pixels.writer.write(made, plan.flip_horizontal, plan.flip_vertical,
                                memory(made.size()));
    if (eighths < 8) plan.steps.front() = whole_size;
  }

  // Returns the eighths to decode at. Images turned by EXIF are decoded in full.
  int decode_scale(const SampleMotion::Leader& leader) const {
    const ImageInfo& info = leader.info;
    if (!work_->program.scaled_decode || !info.scalable || info.orientation != 1) return 8;
    return decode_eighths(leader.plan.steps.front());
  }

  void write(Task& task, const PartnerPixels& program, size_t column) {
    guard(program.field, [&] {
      const SampleMotion::Leader& leader = motion_.leader(program.leader);
      const FollowerLoader::Image image = follower(task, program.field);
      work_->losses.look_at(image.info, program.field, task.entry.record);
      followers_.write(program, leader, image,
                       pixels_at(task, program.pixels, column, leader.plan.output));
    });
  }

  void write(Task& task, const MaskValues& program, size_t column) {
    guard(program.field, [&] {
      const SampleMotion::Leader& leader = motion_.leader(program.leader);
      const Size size = leader.plan.output;
      std::byte* const to =
          program.fixed
              ? task.batch->row(column, task.row)
              : task.batch->make_row(column, task.row, std::array{size.height, size.width});
      followers_.write(program, leader, follower(task, program.field), to);
    });
  }

  void write(Task& task, const MapValues& program, size_t column) {
    guard(program.field, [&] {
      const SampleMotion::Leader& leader = motion_.leader(program.leader);
      const auto memory = [&](int64_t channels) {
        if (program.fixed) return task.batch->row(column, task.row);
        return task.batch->make_row(column, task.row,
                                    image_shape(program.layout, leader.plan.output, channels));
      };
      const FieldSpec& spec = work_->container->schema().fields[program.field];
      if (spec.kind == FieldKind::kImage) {
        const FollowerLoader::Image image = follower(task, program.field);
        const ValueLayout values = value_layout(image.info, ValueEncoding::kStored);
        return followers_.write(program, leader, image, memory(values.channels));
      }
      const ConstRawView tensor = map_tensor(spec, sample_.fields[program.field]);
      followers_.write(program, leader, tensor, memory(tensor.channels));
    });
  }

  static ConstRawView map_tensor(const FieldSpec& spec, const FieldValue& value) {
    const std::vector<int64_t>& shape = value.shape.empty() ? spec.shape : value.shape;
    const int64_t channels = shape.size() == 3 ? shape[2] : 1;
    ConstRawView view{value.bytes.data(), shape[0], shape[1], channels, spec.dtype, 0};
    view.row_stride_bytes = view.row_bytes();
    return view;
  }

  FollowerLoader::Image follower(Task& task, size_t field) {
    const FieldValue& value = sample_.fields[field];
    return {.encoded = value,
            .info = motion_.look_at(value),
            .stop = task.stop,
            .counts = &task.counts};
  }

  static std::byte* pixels_at(Task& task, const PixelColumn& pixels, size_t column, Size size) {
    if (pixels.fixed) return task.batch->row(column, task.row);
    return task.batch->make_row(column, task.row,
                                image_shape(pixels.layout, size, PixelBuffer::kChannels));
  }

  // Adds the field of an image, if it is given, and a remedy to errors.
  template <typename Write>
  void guard(std::optional<size_t> field, Write write, size_t item = 0) {
    try {
      write();
    } catch (Error& error) {
      if (field) error.add({.field = image_name(work_->container->schema(), *field, item)});
      if (work_->on_error == OnError::kRaise) {
        error.add({.remedy = "Find all such images with 'fuelrail verify --decode', or skip them "
                             "with on_error=\"skip\""});
      }
      throw;
    }
  }

  // --- Objects ---

  void write(Task& task, const MovedBoxes& program, size_t column) {
    const BoxesProgram& boxes = work_->program.boxes[program.boxes];
    Size output;
    boxes_.clear();
    guard({}, [&] {
      const std::span<const Corners> moved = motion_.boxes(program.boxes);
      const std::span<const uint8_t> kept = motion_.kept(program.objects);
      for (size_t i = 0; i < moved.size(); ++i) {
        if (kept[i] != 0) boxes_.push_back(moved[i]);
      }
      output = motion_.leader(boxes.leader).motion.output();
    });
    const auto count = static_cast<int64_t>(boxes_.size());
    std::byte* const to = task.batch->make_row(column, task.row, std::array<int64_t, 2>{count, 4});
    write_numbers(boxes.dtype, to, 4 * boxes_.size(), [&](auto numbers) {
      write_boxes(std::span<const Corners>(boxes_), program.format, program.form, output, numbers);
    });
  }

  void write(Task& task, const MovedPoints& program, size_t column) {
    const FieldValue& value = sample_.fields[program.points.field];
    guard({}, [&] {
      if (!program.objects) {
        return write_tensor(task, value, motion_.points(program.points), column);
      }
      const std::span<const uint8_t> kept = motion_.kept(*program.objects);
      write_kept(task, kept, value, motion_.points(program.points), column);
    });
  }

  void write(Task& task, const MovedCamera& program, size_t column) {
    const FieldValue& value = sample_.fields[program.field];
    const FieldSpec& spec = work_->container->schema().fields[program.field];
    std::byte* const to = task.batch->row(column, task.row);
    copy_bytes(value.bytes, to);
    write_numbers(
        spec.dtype, to, static_cast<size_t>(spec.shape[0] * spec.shape[1]), [&](auto numbers) {
          move_camera(affine_of(program.leader), spec.has(kPixelCenters), spec.shape[1], numbers);
        });
  }

  void write(Task& task, const KeptRows& program, size_t column) {
    const FieldValue& value = sample_.fields[program.field];
    guard({}, [&] { write_kept(task, motion_.kept(program.objects), value, value.bytes, column); });
  }

  void write(Task& task, const AffineRows& program, size_t column) {
    const Affine& affine = affine_of(program.leader);
    std::memcpy(task.batch->row(column, task.row), affine.data(), sizeof affine);
  }

  const Affine& affine_of(size_t leader) {
    const Affine* affine = nullptr;
    guard({}, [&] { affine = &motion_.leader(leader).motion.affine(); });
    return *affine;
  }

  // `rows`: the elements, in the shape of `value`.
  void write_kept(Task& task, std::span<const uint8_t> kept, const FieldValue& value, Bytes rows,
                  size_t column) {
    shape_.assign(value.shape.begin(), value.shape.end());
    shape_[0] = count_kept(kept);
    std::byte* const to = task.batch->make_row(column, task.row, shape_);
    if (kept.empty()) return;
    const size_t bytes = rows.size() / kept.size() * static_cast<size_t>(shape_[0]);
    copy_kept(kept, rows, {to, bytes});
  }

  // Calls write(std::span<Number>) with the elements at `to`.
  template <typename Write>
  static void write_numbers(DType dtype, std::byte* to, size_t count, Write write) {
    if (dtype == DType::kFloat32) return write(std::span(reinterpret_cast<float*>(to), count));
    write(std::span(reinterpret_cast<double*>(to), count));
  }

  const std::shared_ptr<SampleWork> work_;
  SampleMotion motion_;
  UprightDecoder decoder_;
  PlanRunner runner_;
  FollowerLoader followers_;
  std::vector<Corners> boxes_;
  std::vector<int64_t> shape_;
  Sample sample_;
};

// Reads the first records, for the properties of their images.
class FirstSamples {
 public:
  FirstSamples(const Container& container, int64_t max_pixels)
      : container_(container), max_pixels_(max_pixels) {}

  // Of the first record whose image can be read; empty if there are no records. Errors: the last
  // one, if none of the first kMost can be read.
  std::optional<ImageInfo> image(size_t field) {
    const uint64_t records = std::min(container_.size(), kMost);
    for (uint64_t i = 0; i < records; ++i) {
      try {
        read_sample(container_, i, framed_, sample_);
        return probe(sample_.fields[field], max_pixels_);
      } catch (Error& error) {
        if (i + 1 < records) continue;
        error.add(container_.place(i).detail());
        error.add({.field = image_name(container_.schema(), field)});
        throw;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr uint64_t kMost = 16;

  const Container& container_;
  const int64_t max_pixels_;
  std::vector<std::byte> framed_;
  Sample sample_;
};

}  // namespace

LoaderWork sample_work(std::shared_ptr<const Container> container, const ImageOptions& images,
                       const LoaderOptions& loading) {
  FirstSamples first(*container, images.max_pixels);
  SampleProgram program = sample_program(container->schema(), images,
                                         [&first](size_t field) { return first.image(field); });
  std::vector<ColumnSpec> columns;
  bool whole = false;
  for (const ColumnProgram& column : program.columns) {
    columns.push_back(column.column);
    whole = whole || std::holds_alternative<EncodedCopy>(column.source);
  }
  const auto work = std::make_shared<SampleWork>(std::move(container), std::move(program), loading);
  return {std::move(columns), [work] { return std::make_unique<SampleWorker>(work); }, whole};
}

}  // namespace fuelrail
