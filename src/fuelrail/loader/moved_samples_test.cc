// Masks, maps, partners, boxes, points and cameras that move with their image.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/loader/sample_program.h"
#include "fuelrail/loader/sample_worker.h"
#include "fuelrail/testing/loader_job.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/npy_text.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/worker_conformance.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing::npy_text;
using testing::refusal_of;

constexpr int64_t kHeight = 6;
constexpr int64_t kWidth = 8;

FieldSpec spec(std::string name, Role role, FieldKind kind = FieldKind::kImage) {
  FieldSpec field{.name = std::move(name), .kind = kind, .role = role};
  if (role != Role::kLabel && role != Role::kNone) field.of = 0;
  return field;
}

FieldSpec tensor(std::string name, Role role, std::vector<int64_t> shape,
                 DType dtype = DType::kFloat32) {
  FieldSpec field = spec(std::move(name), role, FieldKind::kTensor);
  field.shape = std::move(shape);
  field.dtype = dtype;
  return field;
}

enum Field : uint16_t { kImage, kMask, kDepth, kRight, kBoxes, kLabels, kPoints, kCamera };

Schema scene_schema() {
  Schema schema{{image_field("image"), spec("mask", Role::kMask),
                 tensor("depth", Role::kMap, {-1, -1}), spec("right", Role::kImage),
                 tensor("boxes", Role::kBoxes, {-1, 4}),
                 tensor("labels", Role::kLabel, {-1}, DType::kInt64),
                 tensor("points", Role::kPoints, {-1, 1, 3}, DType::kFloat64),
                 tensor("camera", Role::kCamera, {3, 3}, DType::kFloat64)}};
  schema.fields[kMask].detail = 255;
  for (const Field field : {kBoxes, kLabels, kPoints}) schema.fields[field].rows = kBoxes;
  return schema;
}

// Pixel (x, y) of the image is (x, y, 0), of the mask 10 y + x, of the depth likewise.
std::string pixels_text() {
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < kHeight * kWidth; ++i) {
    for (const int64_t level : {i % kWidth, i / kWidth, int64_t{0}}) {
      pixels.push_back(static_cast<uint8_t>(level));
    }
  }
  return npy_text("|u1", "(6, 8, 3)", pixels);
}

template <typename Number>
std::vector<Number> grid() {
  std::vector<Number> numbers;
  for (int64_t i = 0; i < kHeight * kWidth; ++i) {
    numbers.push_back(static_cast<Number>(10 * (i / kWidth) + i % kWidth));
  }
  return numbers;
}

std::string mask_text() { return npy_text("|u1", "(6, 8)", grid<uint8_t>()); }

// Two objects: one in the upper left corner, one in the lower right.
MemoryContainer::Record scene() {
  const std::vector<float> depths = grid<float>();
  std::string depth(reinterpret_cast<const char*>(depths.data()), depths.size() * sizeof(float));
  return {.fields = {pixels_text(), mask_text(), shaped_bytes({kHeight, kWidth}, depth),
                     pixels_text(), numbers_bytes<float>({0, 0, 2, 2, 4, 3, 8, 6}),
                     numbers_bytes<int64_t>({7, 9}), numbers_bytes<double>({1, 1, 2, 6, 4.5, 1}),
                     numbers_bytes<double>({1, 0, 4, 0, 1, 3, 0, 0, 1})}};
}

std::shared_ptr<MemoryContainer> scenes(const Schema& schema,
                                        const std::vector<MemoryContainer::Record>& records) {
  return std::make_shared<MemoryContainer>("memory://scenes", schema, records);
}

ImageOptions every_field(const Transforms& transforms) {
  ImageOptions options;
  options.transforms = transforms;
  options.dtype = DType::kUint8;
  options.layout = ImageLayout::kNhwc;
  options.fields = {"image",  "mask",   "depth",  "right",      "boxes",
                    "labels", "points", "camera", "image.size", "image.affine"};
  return options;
}

Batch first_batch(const ImageOptions& options, const MemoryContainer::Record& record = scene()) {
  Loader loader(scenes(scene_schema(), {record}), {}, options);
  return loader.next().value();
}

// The elements of the column's only row.
template <typename Number>
std::vector<Number> row_of(const Batch& batch, const std::string& name) {
  const size_t column = batch.layout().index_of(name);
  const ColumnSpec& spec = batch.layout().columns()[column];
  EXPECT_EQ(size_in_bytes(spec.dtype), sizeof(Number)) << name;
  const std::byte* data = batch.row(column, 0);
  size_t count = 1;
  if (spec.ragged()) {
    const RaggedRow& row = batch.ragged_row(column, 0);
    data = row.data;
    for (const int64_t extent : row.shape) count *= static_cast<size_t>(extent);
  } else {
    for (const int64_t extent : spec.row_shape) count *= static_cast<size_t>(extent);
  }
  const auto* const numbers = reinterpret_cast<const Number*>(data);
  return {numbers, numbers + count};
}

TEST(MovedSamples, without_transforms_every_value_stays) {
  const Batch batch = first_batch(every_field({}));
  EXPECT_EQ(row_of<uint8_t>(batch, "mask"), grid<uint8_t>());
  EXPECT_EQ(row_of<float>(batch, "depth"), grid<float>());
  EXPECT_EQ(row_of<uint8_t>(batch, "right"), row_of<uint8_t>(batch, "image"));
  EXPECT_THAT(row_of<float>(batch, "boxes"), ElementsAre(0, 0, 2, 2, 4, 3, 8, 6));
  EXPECT_THAT(row_of<int64_t>(batch, "labels"), ElementsAre(7, 9));
  EXPECT_THAT(row_of<double>(batch, "points"), ElementsAre(1, 1, 2, 6, 4.5, 1));
  EXPECT_THAT(row_of<double>(batch, "camera"), ElementsAre(1, 0, 4, 0, 1, 3, 0, 0, 1));
  EXPECT_THAT(row_of<int64_t>(batch, "image.size"), ElementsAre(6, 8));
  EXPECT_THAT(row_of<double>(batch, "image.affine"), ElementsAre(1, 0, 0, 0, 1, 0));
}

TEST(MovedSamples, a_crop_and_a_flip_move_all_fields_and_remove_objects_from_all_of_theirs) {
  // Columns 2 to 5 and rows 1 to 4, mirrored.
  const Batch batch =
      first_batch(every_field({CenterCrop{.size = {4, 4}}, HorizontalFlip{.p = 1}}));
  const auto expected = [](const auto& at) {
    std::vector<float> numbers;
    for (int64_t y = 0; y < 4; ++y) {
      for (int64_t x = 0; x < 4; ++x) numbers.push_back(static_cast<float>(at(5 - x, 1 + y)));
    }
    return numbers;
  };
  const auto moved = expected([](int64_t x, int64_t y) { return 10 * y + x; });
  EXPECT_THAT(row_of<uint8_t>(batch, "mask"), ElementsAreArray(moved));
  EXPECT_EQ(row_of<float>(batch, "depth"), moved);
  const std::vector<uint8_t> image = row_of<uint8_t>(batch, "image");
  EXPECT_EQ(row_of<uint8_t>(batch, "right"), image);
  EXPECT_THAT(std::vector<uint8_t>(image.begin(), image.begin() + 3), ElementsAre(5, 1, 0));
  // The first object's box would be (4, -1, 6, 1).
  EXPECT_THAT(row_of<float>(batch, "boxes"), ElementsAre(0, 2, 2, 4));
  EXPECT_THAT(row_of<int64_t>(batch, "labels"), ElementsAre(9));
  EXPECT_THAT(row_of<double>(batch, "points"), ElementsAre(0, 3.5, 1));
  EXPECT_THAT(row_of<double>(batch, "image.affine"), ElementsAre(-1, 0, 6, 0, 1, -1));
  EXPECT_THAT(row_of<double>(batch, "camera"), ElementsAre(-1, 0, 2, 0, 1, 2, 0, 0, 1));
}

TEST(MovedSamples, the_options_decide_on_the_boxes_format_and_on_what_stays) {
  ImageOptions options = every_field({CenterCrop{.size = {4, 4}}});
  options.boxes = BoxColumns{BoxFormat::kCxcywh, true};
  EXPECT_THAT(row_of<float>(first_batch(options), "boxes"), ElementsAre(0.75, 0.75, 0.5, 0.5));
  options.keep.keep_empty = true;
  EXPECT_THAT(row_of<int64_t>(first_batch(options), "labels"), ElementsAre(7, 9));
  options.keep = {.min_size = 3};
  EXPECT_THAT(row_of<float>(first_batch(options), "boxes"), ElementsAre());
  EXPECT_THAT(row_of<int64_t>(first_batch(options), "labels"), ElementsAre());
  options.keep = {.min_area = 0.3};
  EXPECT_THAT(row_of<int64_t>(first_batch(options), "labels"), ElementsAre(9));
  options.keep = {.min_area = 0.4};  // 4 of 12 pixels are visible
  EXPECT_THAT(row_of<int64_t>(first_batch(options), "labels"), ElementsAre());
}

TEST(MovedSamples, objects_without_boxes_go_with_their_points_if_asked) {
  Schema schema = scene_schema();
  schema.fields[kBoxes].rows.reset();
  for (const Field field : {kLabels, kPoints}) schema.fields[field].rows = kLabels;
  ImageOptions options = every_field({CenterCrop{.size = {4, 4}}});
  for (const bool drop : {false, true}) {
    options.drop_points = drop;
    Loader loader(scenes(schema, {scene()}), {}, options);
    const Batch batch = loader.next().value();
    if (drop) {
      EXPECT_THAT(row_of<int64_t>(batch, "labels"), ElementsAre(9));
      EXPECT_THAT(row_of<double>(batch, "points"), ElementsAre(4, 3.5, 1));
    } else {
      EXPECT_THAT(row_of<int64_t>(batch, "labels"), ElementsAre(7, 9));
      EXPECT_THAT(row_of<double>(batch, "points"), ElementsAre(-1, 0, 0, 4, 3.5, 1));
    }
  }
}

TEST(MovedSamples, a_masks_type_is_that_of_the_first_record_or_of_the_option) {
  MemoryContainer::Record wide = scene();
  wide.fields[kMask] = npy_text("<u2", "(6, 8)", grid<uint16_t>());
  ImageOptions options = every_field({});
  options.fields = {"mask"};
  EXPECT_EQ(row_of<uint16_t>(first_batch(options, wide), "mask"), grid<uint16_t>());
  Loader mixed(scenes(scene_schema(), {scene(), wide}), {.order = OrderOptions{.batch_size = 1}},
               options);
  mixed.next();
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { mixed.next(); }),
              HasSubstr("record 1, field 'mask', offset"));
  options.dtype_of = {{"mask", DType::kInt64}};
  EXPECT_EQ(row_of<int64_t>(first_batch(options, wide), "mask"), grid<int64_t>());
  EXPECT_EQ(row_of<int64_t>(first_batch(options), "mask"), grid<int64_t>());
  options.dtype_of = {{"mask", DType::kFloat32}};
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { first_batch(options); }),
              HasSubstr("`dtype` of the mask 'mask' is invalid: expected uint8, uint16, int32 or "
                        "int64, found float32"));
}

TEST(MovedSamples, a_masks_fill_is_written_whole) {
  Schema schema = scene_schema();
  schema.fields[kMask].detail = 300;
  ImageOptions options = every_field({Pad{.padding = {.left = 1}}});
  options.fields = {"mask"};
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { sample_program(schema, options); }),
              HasSubstr("the `fill` of the mask 'mask' does not fit its column: expected at most "
                        "255, because the column is uint8, found 300"));
  const auto first_number = [&](DType dtype) {
    options.dtype_of = {{"mask", dtype}};
    Loader loader(scenes(schema, {scene()}), {}, options);
    const Batch batch = loader.next().value();
    if (dtype == DType::kUint16) return int64_t{row_of<uint16_t>(batch, "mask")[0]};
    return row_of<int64_t>(batch, "mask")[0];
  };
  EXPECT_EQ(first_number(DType::kUint16), 300);
  EXPECT_EQ(first_number(DType::kInt64), 300);
}

TEST(MovedSamples, vectors_are_mirrored_with_the_image_unless_they_are_only_numbers) {
  Schema schema = scene_schema();
  schema.fields[kDepth].shape = {-1, -1, 2};
  std::vector<float> vectors;
  for (int64_t i = 0; i < kHeight * kWidth; ++i) {
    vectors.insert(vectors.end(), {static_cast<float>(i % kWidth), 1});
  }
  MemoryContainer::Record record = scene();
  const auto* const bytes = reinterpret_cast<const char*>(vectors.data());
  record.fields[kDepth] =
      shaped_bytes({kHeight, kWidth}, std::string(bytes, vectors.size() * sizeof(float)));
  record.fields[kMask].push_back('x');  // so that the vectors are at an odd address
  ImageOptions options = every_field({HorizontalFlip{1}});
  options.fields = {"depth"};
  for (const float sign : {-1.0F, 1.0F}) {
    Loader loader(scenes(schema, {record}), {}, options);
    const std::vector<float> made = row_of<float>(loader.next().value(), "depth");
    EXPECT_THAT(std::vector<float>(made.begin(), made.begin() + 4),
                ElementsAre(sign * 7, 1, sign * 6, 1));
    schema.fields[kDepth].flags = kNoVectors;
  }
}

TEST(MovedSamples, a_bad_first_record_does_not_decide_on_the_type) {
  MemoryContainer::Record wide = scene();
  wide.fields[kMask] = npy_text("<u2", "(6, 8)", grid<uint16_t>());
  MemoryContainer::Record bad = wide;
  bad.fields[kMask] = "no image";
  ImageOptions options = every_field({});
  options.fields = {"mask"};
  const auto mask_of = [&](const std::vector<MemoryContainer::Record>& records) {
    return sample_work(scenes(scene_schema(), records), options).columns[0];
  };
  EXPECT_EQ(mask_of({bad, wide}).dtype, DType::kUint16);
  EXPECT_THAT(refusal_of<Error>([&] {
                mask_of({bad, bad});
              }),
              HasSubstr("memory://scenes: record 1, field 'mask'"));
}

TEST(MovedSamples, errors_name_the_field) {
  const auto error_of = [](Field field, std::string bytes) {
    MemoryContainer::Record record = scene();
    record.fields[field] = std::move(bytes);
    return refusal_of<Error>([&] { first_batch(every_field({}), record); });
  };
  EXPECT_THAT(error_of(kImage, "no image"), HasSubstr("record 0, field 'image'"));
  EXPECT_THAT(error_of(kRight, "no image"), HasSubstr("record 0, field 'right'"));
  EXPECT_THAT(error_of(kMask, npy_text("|u1", "(8, 6)", grid<uint8_t>())),
              HasSubstr("field 'mask', offset 0: a mask, map or partner image has another aspect "
                        "ratio than its image: expected the ratio of height 6, width 8, found "
                        "height 8, width 6"));
  EXPECT_THAT(error_of(kMask, npy_text("<f4", "(6, 8)", grid<float>())),
              HasSubstr("the values of a mask are not class or object numbers"));
  EXPECT_THAT(error_of(kDepth, shaped_bytes({0, 8}, "")),
              HasSubstr("field 'depth', offset 0: a mask, map or partner image has another aspect "
                        "ratio than its image: expected the ratio of height 6, width 8, found "
                        "height 0, width 8"));
  ImageOptions too_large = every_field({RandomCrop{.size = {9, 9}}});
  too_large.fields = {"mask"};
  EXPECT_THAT(
      refusal_of<Error>([&] { first_batch(too_large); }),
      HasSubstr("field 'image', offset 0: the image is smaller than RandomCrop's crop size"));
  EXPECT_THAT(error_of(kBoxes, numbers_bytes<float>({0, 0, 2, 2, 4, 3, 3, 6})),
              HasSubstr("a box of the field 'boxes' is invalid"));
}

class MovingStage : public PixelStage {
  void apply(ConstImageView, ImageView, const StageRandom&) const override {}
};

TEST(MovedSamples, what_cannot_move_is_refused_when_the_loader_is_made) {
  const auto refused = [](const Schema& schema, const ImageOptions& options) {
    return refusal_of<Error>([&] { sample_program(schema, options); });
  };
  ImageOptions options = every_field({CustomStage{std::make_shared<MovingStage>()}});
  EXPECT_THAT(refused(scene_schema(), options),
              HasSubstr("a custom stage moves pixels, so masks, boxes and points cannot move with "
                        "the image: found transform 0 of the image 'image'"));
  options.fields = {"image"};
  sample_program(scene_schema(), options);
  options.transforms = {RandomIoUCrop{}};
  sample_program(scene_schema(), options);
  Schema schema = scene_schema();
  schema.fields[kBoxes].role = Role::kNone;
  schema.fields[kBoxes].of.reset();
  EXPECT_THAT(refused(schema, options),
              HasSubstr("RandomIoUCrop needs boxes, but no boxes refer to the image 'image'"));
  schema = scene_schema();
  schema.fields[kImage].flags = kListField;
  options = every_field({});
  options.fields = {"boxes"};
  EXPECT_THAT(refused(schema, options),
              HasSubstr("fields that refer to a list of images cannot be loaded: found fields that "
                        "refer to 'image'"));
}

TEST(MovedSamples, images_draw_apart_or_as_shared_says_together) {
  Schema schema{{image_field("left"), image_field("right")}};
  const auto container = scenes(schema, {{.fields = {pixels_text(), pixels_text()}}});
  ImageOptions options = every_field({RandomCrop{.size = {2, 2}}});
  options.fields = {"left", "right"};
  const auto equal = [&] {
    int same = 0;
    for (uint64_t seed = 0; seed < 8; ++seed) {
      Loader loader(container, {.order = OrderOptions{.seed = seed}}, options);
      const Batch batch = loader.next().value();
      if (row_of<uint8_t>(batch, "left") == row_of<uint8_t>(batch, "right")) ++same;
    }
    return same;
  };
  EXPECT_LT(equal(), 4);
  options.shared = {{"left", "right"}};
  EXPECT_EQ(equal(), 8);
  options.shared = {{"*"}};
  EXPECT_EQ(equal(), 8);
  const auto refused = [&](std::vector<std::vector<std::string>> shared) {
    options.shared = std::move(shared);
    return refusal_of<InvalidArgumentError>([&] { sample_program(schema, options); });
  };
  EXPECT_THAT(refused({{"left"}}), HasSubstr("`shared` has a group of fewer than two images"));
  EXPECT_THAT(refused({{"left", "middle"}}), HasSubstr("matches no field: found 'middle'"));
  EXPECT_THAT(refused({{"left", "right"}, {"*"}}),
              HasSubstr("two groups of `shared` have the image 'left'"));
}

// Eleven scenes with different images and none to two objects.
std::vector<MemoryContainer::Record> eleven_scenes() {
  std::vector<MemoryContainer::Record> records;
  for (uint64_t i = 0; i < 11; ++i) {
    MemoryContainer::Record record = scene();
    record.id = i;
    record.fields[kImage].back() = static_cast<char>(i);
    for (const Field field : {kBoxes, kLabels, kPoints}) {
      record.fields[field].resize(record.fields[field].size() / 2 * (i % 3));
    }
    records.push_back(record);
  }
  return records;
}

// The shapes and elements of all columns.
std::string bits_of(const Batch& batch) {
  std::string bits;
  const auto append = [&](const ColumnSpec& column, std::span<const int64_t> shape,
                          const std::byte* data) {
    size_t size = size_in_bytes(column.dtype);
    for (const int64_t extent : shape) {
      bits += scalar_bytes(extent);
      size *= static_cast<size_t>(extent);
    }
    bits.append(reinterpret_cast<const char*>(data), size);
  };
  for (size_t i = 0; i < batch.layout().columns().size(); ++i) {
    const ColumnSpec& column = batch.layout().columns()[i];
    if (column.joined()) {
      append(column, batch.shape(i), batch.joined(i).data);
      for (size_t row = 0; row < batch.rows(); ++row) {
        bits += scalar_bytes(batch.joined(i).index[row]);
      }
    } else if (column.ragged()) {
      for (size_t row = 0; row < batch.rows(); ++row) {
        append(column, batch.ragged_row(i, row).shape, batch.ragged_row(i, row).data);
      }
    } else {
      append(column, batch.shape(i), batch.column(i));
    }
  }
  return bits;
}

// A loader of batches of three with dense, packed, padded and ragged columns.
LoaderJob mixed_columns() {
  LoaderJob job;
  job.order = {.seed = 5, .shuffle = Shuffle::kFull, .batch_size = 3};
  job.images = every_field({RandomIoUCrop{}, RandomResizedCrop{.size = {5, 7}}, HorizontalFlip{}});
  job.images.fields.push_back("id");
  job.images.ragged_of = {{"boxes", Ragged::kPacked}, {"labels", Ragged::kPad}};
  return job;
}

TEST(MovedSamples, batches_are_the_same_for_any_threads_and_from_any_state_and_never_change) {
  const auto container = scenes(scene_schema(), eleven_scenes());
  LoaderJob job = mixed_columns();
  job.engine.threads = 1;
  std::vector<Batch> kept;
  std::vector<std::string> expected;
  std::vector<State> states;
  Loader whole = job.loader(container);
  for (int epoch = 0; epoch < 2; ++epoch) {
    states.push_back(whole.state());
    while (auto batch = whole.next()) {
      kept.push_back(*batch);
      expected.push_back(bits_of(*batch));
      if (expected.size() % 4 > 0) states.push_back(whole.state());
    }
  }
  ASSERT_EQ(expected.size(), 8U);
  ASSERT_EQ(states.size(), 8U);
  for (size_t taken = 0; taken < states.size(); ++taken) {
    job.engine.threads = 1 + static_cast<int>(taken % 4);
    job.engine.prefetch = 1 + taken % 3;
    Loader loader = job.loader(container);
    loader.restore(states[taken]);
    for (size_t i = taken; i < expected.size(); ++i) {
      auto batch = loader.next();
      if (!batch) batch = loader.next();  // the next epoch
      EXPECT_EQ(bits_of(*batch), expected[i]) << taken << " taken, batch " << i;
    }
  }
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(bits_of(kept[i]), expected[i]);
}

TEST(MovedSamples, a_substitute_brings_all_its_fields) {
  // Without a crop, two samples of one scene have the same bits wherever they are.
  std::vector<MemoryContainer::Record> records = eleven_scenes();
  LoaderJob job = mixed_columns();
  job.order.batch_size = 1;
  job.images.transforms = {VerticalFlip{.p = 1}};
  std::map<int64_t, std::string> alone;
  Loader good = job.loader(scenes(scene_schema(), records));
  while (auto batch = good.next()) alone[row_of<int64_t>(*batch, "id")[0]] = bits_of(*batch);
  records[2].fields[kImage] = "no image";
  records[5].fields[kMask] = npy_text("|u1", "(8, 6)", grid<uint8_t>());
  records[7].fields[kBoxes] = numbers_bytes<float>({3, 3, 2, 2});
  job.errors.on_error = OnError::kSkip;
  Loader skipping = job.loader(scenes(scene_schema(), records));
  std::map<int64_t, int> seen;
  while (auto batch = skipping.next()) {
    const int64_t id = row_of<int64_t>(*batch, "id")[0];
    EXPECT_EQ(bits_of(*batch), alone.at(id));
    ++seen[id];
  }
  EXPECT_EQ(skipping.bad_records().size(), 3U);
  EXPECT_EQ(seen.size(), 8U);
}

// The contract of every worker.
struct MovingWorkers {
  static std::vector<WorkerCase> cases() {
    std::vector<MemoryContainer::Record> records(4, scene());
    records[1].fields[kBoxes] = numbers_bytes<float>({});
    records[1].fields[kLabels] = numbers_bytes<int64_t>({});
    records[1].fields[kPoints] = numbers_bytes<double>({});
    records[3].fields[kMask] = "no image";
    const auto container = scenes(scene_schema(), records);
    ImageOptions crop = every_field({RandomIoUCrop{}, RandomAffine{.degrees = {-30, 30}},
                                     Resize{.size = {7, 5}}, ColorJitter{.hue = {-0.5, 0.5}}});
    crop.layout = ImageLayout::kNchw;
    crop.dtype_of = {{"mask", DType::kInt64}};
    ImageOptions ragged = every_field({ScaleJitter{.target = {9, 9}}, VerticalFlip{}});
    std::vector<WorkerCase> cases;
    for (const auto& [name, options] : {std::pair{"a crop for boxes", crop}, {"ragged", ragged}}) {
      cases.push_back({.name = name,
                       .container = container,
                       .columns = sample_work(container, options).columns,
                       .make = sample_work(container, options).make_worker,
                       .good = {0, 1, 2},
                       .bad = {3}});
    }
    return cases;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(MovedSamples, WorkerConformance, MovingWorkers);

}  // namespace
}  // namespace fuelrail
