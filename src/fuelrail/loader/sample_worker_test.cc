#include "fuelrail/loader/sample_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/formats.h"
#include "fuelrail/engine/bad_records.h"
#include "fuelrail/loader/loader.h"
#include "fuelrail/loader/sample_program.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/image_set.h"
#include "fuelrail/testing/invented_codec.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/npy_text.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/worker_conformance.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/resize.h"

namespace fuelrail {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Size kOut{16, 16};

ImageOptions training_options() {
  ImageOptions options;
  options.transforms = {RandomResizedCrop{.size = kOut}, HorizontalFlip{}};
  options.dtype = DType::kUint8;
  options.layout = ImageLayout::kNhwc;
  options.fields = {"image", "label", "id", "index", "position", "valid"};
  return options;
}

// One batch and the tasks that fill it with records [0, rows).
class Rows {
 public:
  Rows(const std::shared_ptr<const Container>& container, const ImageOptions& options, size_t rows)
      : layout_(std::make_shared<BatchLayout>(sample_work(container, options).columns, rows)),
        pool_(layout_->total_bytes(), 1),
        batch_(layout_, pool_.take(), rows),
        framed_(rows) {
    for (size_t i = 0; i < rows; ++i) {
      const Extent extent = container->extent(i);
      framed_[i].resize(extent.length);
      extent.source->read(extent.offset, framed_[i]);
      tasks_.push_back({.entry = {.record = i, .position = 10 + i, .epoch = 3},
                        .framed = framed_[i],
                        .batch = &batch_,
                        .row = i});
    }
  }

  std::span<Task> tasks() { return tasks_; }
  const Batch& batch() const { return batch_; }

  template <typename T>
  T value(const std::string& column, size_t row) const {
    T value;
    std::memcpy(&value, batch_.row(layout_->index_of(column), row), sizeof value);
    return value;
  }
  std::vector<uint8_t> image(size_t row, size_t column = 0) const {
    const auto* pixels = reinterpret_cast<const uint8_t*>(batch_.row(column, row));
    return {pixels, pixels + layout_->columns()[column].row_bytes()};
  }

 private:
  std::shared_ptr<const BatchLayout> layout_;
  SlotPool pool_;
  Batch batch_;
  std::vector<std::vector<std::byte>> framed_;
  std::vector<Task> tasks_;
};

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// The expected row, computed from the whole decoded image.
std::vector<uint8_t> expected_image(Bytes jpeg, const Transforms& transforms, const Philox& random,
                                    uint32_t leader = 0) {
  const ImageInfo info = probe(jpeg);
  std::vector<uint8_t> pixels(static_cast<size_t>(info.stored.height * info.stored.width * 3));
  const ImageView all{pixels.data(), info.stored.height, info.stored.width, 3,
                      info.stored.width * 3};
  DecodeJob job{.encoded = jpeg, .info = info, .box = whole(info.stored), .output = all};
  make_decoder()->decode({&job, 1});
  Plan geometry;
  resolve(transforms, {.image = info.stored, .random = random, .leader = leader}, geometry);
  std::vector<uint8_t> out(static_cast<size_t>(kOut.height * kOut.width * 3));
  Resampler().resample(all, whole(info.stored), geometry.steps.front(),
                       {out.data(), kOut.height, kOut.width, 3, kOut.width * 3});
  std::vector<uint8_t> flipped(out.size());
  PixelWriter({DType::kUint8, ImageLayout::kNhwc, {}})
      .write({out.data(), kOut.height, kOut.width, 3, kOut.width * 3}, geometry.flip_horizontal,
             geometry.flip_vertical, reinterpret_cast<std::byte*>(flipped.data()));
  return flipped;
}

TEST(SampleWorker, rows_equal_the_transforms_on_the_whole_image) {
  const auto set = make_image_set("memory://worker/whole.rec", 12);
  const ImageOptions options = training_options();
  Rows rows(set.container, options, 12);
  sample_work(set.container, options).make_worker()->process(rows.tasks());
  for (size_t i = 0; i < 12; ++i) {
    ASSERT_EQ(rows.tasks()[i].error, nullptr) << message_of(rows.tasks()[i].error);
    EXPECT_EQ(rows.image(i), expected_image(set.jpegs[i], options.transforms, Philox(0, 3, 10 + i)))
        << i;
  }
}

TEST(SampleWorker, every_field_is_written) {
  const auto set = make_image_set("memory://worker/fields.rec", 3);
  const ImageOptions options = training_options();
  Rows rows(set.container, options, 3);
  rows.tasks()[2].entry.valid = false;
  sample_work(set.container, options).make_worker()->process(rows.tasks());
  EXPECT_EQ(rows.value<int64_t>("label", 1), 1);
  EXPECT_EQ(rows.value<int64_t>("id", 1), 1001);
  EXPECT_EQ(rows.value<int64_t>("index", 1), 1);
  EXPECT_EQ(rows.value<int64_t>("position", 1), 11);
  EXPECT_EQ(rows.value<uint8_t>("valid", 1), 1);
  EXPECT_EQ(rows.value<uint8_t>("valid", 2), 0);
}

TEST(SampleWorker, a_record_that_is_no_image_fails_alone) {
  const auto set = make_image_set("memory://worker/broken.rec", 4, /*broken=*/1);
  Rows rows(set.container, training_options(), 4);
  sample_work(set.container, training_options()).make_worker()->process(rows.tasks());
  EXPECT_EQ(rows.tasks()[0].error, nullptr);
  EXPECT_NE(rows.tasks()[1].error, nullptr);
  EXPECT_EQ(rows.tasks()[2].error, nullptr);
  EXPECT_EQ(rows.tasks()[3].error, nullptr);
}

TEST(SampleWorker, an_image_above_the_pixel_limit_is_refused) {
  const auto set = make_image_set("memory://worker/limit.rec", 1);
  ImageOptions options = training_options();
  options.max_pixels = 100;
  Rows rows(set.container, options, 1);
  sample_work(set.container, options).make_worker()->process(rows.tasks());
  ASSERT_NE(rows.tasks()[0].error, nullptr);
  EXPECT_THAT(message_of(rows.tasks()[0].error), HasSubstr("100"));
}

// A cancelled task, as loaders pass it to their workers.
TEST(SampleWorker, a_row_that_is_not_wanted_any_more_is_not_decoded) {
  const auto set = make_image_set("memory://worker/stop.rec", 2);
  Rows rows(set.container, training_options(), 2);
  std::stop_source unwanted;
  unwanted.request_stop();
  rows.tasks()[0].stop = unwanted.get_token();
  sample_work(set.container, training_options()).make_worker()->process(rows.tasks());
  EXPECT_THAT(message_of(rows.tasks()[0].error), HasSubstr("cancelled"));
  EXPECT_EQ(rows.tasks()[1].error, nullptr);
}

TEST(SampleWorker, the_first_image_that_loses_bits_and_the_first_that_loses_alpha_are_told) {
  std::vector<MemoryContainer::Record> records;
  for (const char* name : {"rgb8.png", "grey16_interlaced.png", "rgba16.png", "rgba8.png"}) {
    records.push_back({.fields = {testing::golden_image(name).encoded}, .id = 0});
  }
  const auto container = std::make_shared<MemoryContainer>(
      "memory://lossy", Schema{{{.name = "image", .kind = FieldKind::kImage}}}, records);
  ImageOptions options = training_options();
  options.fields = {"image"};
  std::vector<std::string> told;
  LoaderOptions loading;
  loading.engine.warn = [&](const std::string& text) { told.push_back(text); };
  const WorkerFactory make = sample_work(container, options, loading).make_worker;
  for (int worker = 0; worker < 2; ++worker) {
    Rows rows(container, options, records.size());
    make()->process(rows.tasks());
    for (const Task& task : rows.tasks()) EXPECT_EQ(task.error, nullptr);
  }
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[0], HasSubstr("memory://lossy: record 1, offset "));
  EXPECT_THAT(told[0], HasSubstr("16 bits per channel, of which only the upper 8 are kept"));
  EXPECT_THAT(told[1], HasSubstr("memory://lossy: record 2, offset "));
  EXPECT_THAT(told[1], HasSubstr("may have an alpha channel, which is dropped"));
}

TEST(SampleWorker, images_are_not_decoded_when_nobody_asks_for_them) {
  const auto set = make_image_set("memory://worker/labels.rec", 2, /*broken=*/1);
  ImageOptions options = training_options();
  options.fields = {"label"};
  Rows rows(set.container, options, 2);
  sample_work(set.container, options).make_worker()->process(rows.tasks());
  EXPECT_EQ(rows.tasks()[1].error, nullptr);
  EXPECT_EQ(rows.value<int64_t>("label", 1), 1);
}

TEST(SampleWorker, two_resamplings_follow_one_another) {
  const auto set = make_image_set("memory://worker/steps.rec", 5);
  ImageOptions options = training_options();
  options.transforms = {Resize{.size = {20, 30}}, RandomResizedCrop{.size = kOut}};
  Rows rows(set.container, options, 5);
  sample_work(set.container, options).make_worker()->process(rows.tasks());
  for (const Task& task : rows.tasks()) EXPECT_EQ(task.error, nullptr) << message_of(task.error);
}

TEST(ImageColumns, take_shape_and_type_from_options_and_schema) {
  const auto set = make_image_set("memory://worker/columns.rec", 1);
  ImageOptions options = training_options();
  EXPECT_THAT(sample_work(set.container, options).columns[0].row_shape, ElementsAre(16, 16, 3));
  options.layout = ImageLayout::kNchw;
  options.dtype = DType::kFloat16;
  const auto columns = sample_work(set.container, options).columns;
  EXPECT_THAT(columns[0].row_shape, ElementsAre(3, 16, 16));
  EXPECT_EQ(columns[0].dtype, DType::kFloat16);
  EXPECT_EQ(columns[1].dtype, DType::kInt64);
}

TEST(ImageColumns, an_unknown_field_is_refused_with_the_nearest_name) {
  const auto set = make_image_set("memory://worker/unknown.rec", 1);
  ImageOptions options = training_options();
  options.fields = {"imagee"};
  try {
    sample_work(set.container, options);
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Did you mean 'image'?"));
  }
  options.fields = {};
  EXPECT_THROW(sample_work(set.container, options).columns, InvalidArgumentError);
}

TEST(ImageColumns, transforms_without_a_fixed_size_make_a_ragged_column) {
  const auto set = make_image_set("memory://worker/ragged.rec", 1);
  ImageOptions options = training_options();
  options.transforms = {Resize{.shorter_side = 20}};
  EXPECT_THAT(sample_work(set.container, options).columns[0].row_shape, ElementsAre(-1, -1, 3));
  options.layout = ImageLayout::kNchw;
  options.transforms = {};
  EXPECT_THAT(sample_work(set.container, options).columns[0].row_shape, ElementsAre(3, -1, -1));
}

TEST(ImageColumns, encoded_bytes_are_a_ragged_column_of_bytes) {
  const auto set = make_image_set("memory://worker/encoded.rec", 1);
  ImageOptions options = training_options();
  options.fields = {"encoded"};
  EXPECT_EQ(sample_work(set.container, options).columns[0].dtype, DType::kUint8);
  EXPECT_THAT(sample_work(set.container, options).columns[0].row_shape, ElementsAre(-1));
}

// Fields of every kind that a dataset may have.
TEST(SampleWorker, fields_of_the_dataset_are_columns_by_name) {
  const auto number = [](float value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  const std::vector<MemoryContainer::Record> records{
      {.fields = {"one", number(1) + number(2), number(3)}},
      {.fields = {"", number(4) + number(5), number(6) + number(7)}}};
  const Schema schema{
      {{.name = "text"},
       {.name = "pair", .kind = FieldKind::kTensor, .dtype = DType::kFloat32, .shape = {2}},
       {.name = "some", .kind = FieldKind::kTensor, .dtype = DType::kFloat32, .shape = {-1}}}};
  const auto container =
      std::make_shared<MemoryContainer>("memory://worker/kinds", schema, records);
  ImageOptions options;
  options.fields = {"some", "text", "pair"};
  Rows rows(container, options, 2);
  sample_work(container, options).make_worker()->process(rows.tasks());
  for (const Task& task : rows.tasks()) ASSERT_EQ(task.error, nullptr) << message_of(task.error);
  const Batch& batch = rows.batch();
  EXPECT_EQ(batch.ragged_row(0, 0).shape[0], 1);
  ASSERT_EQ(batch.ragged_row(0, 1).shape[0], 2);
  EXPECT_EQ(std::memcmp(batch.ragged_row(0, 1).data, records[1].fields[2].data(), 8), 0);
  ASSERT_EQ(batch.ragged_row(1, 0).shape[0], 3);
  EXPECT_EQ(std::memcmp(batch.ragged_row(1, 0).data, "one", 3), 0);
  EXPECT_EQ(batch.ragged_row(1, 1).shape[0], 0);
  EXPECT_EQ(std::memcmp(batch.row(2, 1), records[1].fields[1].data(), 8), 0);
  options.fields = {"image"};
  EXPECT_THROW(sample_work(container, options), InvalidArgumentError);
  options.fields = {"text"};
  options.transforms = {HorizontalFlip{}};
  EXPECT_THROW(sample_work(container, options), InvalidArgumentError);
}

TEST(SampleWorker, images_of_no_common_size_are_rows_of_their_own) {
  const auto set = make_image_set("memory://worker/sizes.rec", 6);
  ImageOptions options = training_options();
  options.transforms = {};
  options.fields = {"image", "encoded"};
  Rows rows(set.container, options, 6);
  sample_work(set.container, options).make_worker()->process(rows.tasks());
  for (size_t i = 0; i < 6; ++i) {
    ASSERT_EQ(rows.tasks()[i].error, nullptr) << message_of(rows.tasks()[i].error);
    const RaggedRow& image = rows.batch().ragged_row(0, i);
    EXPECT_THAT(image.shape, ElementsAre(set.sizes[i].height, set.sizes[i].width, 3));
    const ImageInfo info = probe(set.jpegs[i]);
    std::vector<uint8_t> pixels(static_cast<size_t>(info.stored.height * info.stored.width * 3));
    DecodeJob job{
        .encoded = set.jpegs[i],
        .info = info,
        .box = whole(info.stored),
        .output = {pixels.data(), info.stored.height, info.stored.width, 3, info.stored.width * 3}};
    make_decoder()->decode({&job, 1});
    EXPECT_EQ(std::memcmp(image.data, pixels.data(), pixels.size()), 0);
    const RaggedRow& encoded = rows.batch().ragged_row(1, i);
    ASSERT_EQ(static_cast<size_t>(encoded.shape[0]), set.jpegs[i].size());
    EXPECT_EQ(std::memcmp(encoded.data, set.jpegs[i].data(), set.jpegs[i].size()), 0);
  }
}

Schema images_named(const std::vector<std::string>& names) {
  Schema schema;
  for (const std::string& name : names) {
    schema.fields.push_back({.name = name, .kind = FieldKind::kImage});
  }
  return schema;
}

TEST(SampleWorker, each_image_field_of_a_sample_draws_its_own_random_numbers) {
  const std::vector<std::byte> jpeg = make_jpeg(48, 64, 1);
  const std::string image(as_text(jpeg));
  const auto one = std::make_shared<MemoryContainer>(
      "memory://worker/one", images_named({"left"}),
      std::vector<MemoryContainer::Record>(3, {.fields = {image}}));
  const auto two = std::make_shared<MemoryContainer>(
      "memory://worker/two", images_named({"left", "right"}),
      std::vector<MemoryContainer::Record>(3, {.fields = {image, image}}));
  ImageOptions options = training_options();
  options.fields = {"left"};
  Rows alone(one, options, 3);
  sample_work(one, options).make_worker()->process(alone.tasks());
  options.fields = {"right", "left"};
  Rows both(two, options, 3);
  sample_work(two, options).make_worker()->process(both.tasks());
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(both.tasks()[i].error, nullptr) << message_of(both.tasks()[i].error);
    const Philox random(0, 3, 10 + i);
    EXPECT_EQ(both.image(i, 1), alone.image(i));
    EXPECT_EQ(both.image(i, 0), expected_image(jpeg, options.transforms, random, 1));
    EXPECT_NE(both.image(i, 0), both.image(i, 1));
  }
}

TEST(SampleWorker, each_image_field_may_have_a_list_of_transforms_of_its_own) {
  const std::vector<std::byte> jpeg = make_jpeg(48, 64, 1);
  const std::string image(as_text(jpeg));
  const auto container = std::make_shared<MemoryContainer>(
      "memory://worker/lists", images_named({"cameras.0.image", "cameras.1.image"}),
      std::vector<MemoryContainer::Record>(2, {.fields = {image, image}}));
  ImageOptions options = training_options();
  const Transforms resize{Resize{.size = kOut}};
  options.transforms_of = {{"*.1.*", resize}};
  options.fields = {"cameras", "cameras.1.image.size"};
  Rows rows(container, options, 2);
  sample_work(container, options).make_worker()->process(rows.tasks());
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(rows.tasks()[i].error, nullptr) << message_of(rows.tasks()[i].error);
    const Philox random(0, 3, 10 + i);
    EXPECT_EQ(rows.image(i, 0), expected_image(jpeg, options.transforms, random, 0));
    EXPECT_EQ(rows.image(i, 1), expected_image(jpeg, resize, random, 1));
    EXPECT_EQ((rows.value<std::array<int64_t, 2>>("cameras.1.image.size", i)),
              (std::array<int64_t, 2>{48, 64}));
  }
}

TEST(SampleWorker, warnings_name_the_field_and_how_to_read_it) {
  const std::string deep = testing::golden_image("rgba16.png").encoded;
  const std::string rows = testing::npy_text("<u2", "(1, 2)", std::vector<uint16_t>{1, 2});
  const auto container = std::make_shared<MemoryContainer>(
      "memory://lossy", images_named({"image", "cameras.0.image"}),
      std::vector<MemoryContainer::Record>{{.fields = {rows, deep}}, {.fields = {deep, deep}}});
  const auto told_by = [&](const std::string& field) {
    ImageOptions options = training_options();
    options.fields = {field};
    std::vector<std::string> told;
    LoaderOptions loading;
    loading.engine.warn = [&](const std::string& text) { told.push_back(text); };
    Rows made(container, options, 2);
    sample_work(container, options, loading).make_worker()->process(made.tasks());
    return told;
  };
  const std::vector<std::string> told = told_by("cameras.0.image");
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[0], HasSubstr("record 0, field 'cameras.0.image', offset 0: the image has 16"));
  for (const std::string& text : told) {
    EXPECT_THAT(text, HasSubstr("read it with data[i][\"cameras.0.image\"] and decode it"));
  }
  // Record 0 is refused, so nothing of it is lost.
  EXPECT_THAT(told_by("image")[0], AllOf(HasSubstr("record 1, field 'image'"),
                                         HasSubstr("load the field 'encoded' and decode it")));
}

// Two records of a clip, texts and bytes: one of three items and an empty one.
std::shared_ptr<MemoryContainer> clips(const std::vector<std::vector<std::byte>>& frames) {
  FieldSpec clip = image_field("clip");
  clip.flags = kListField;
  std::vector<std::string> images;
  for (const auto& frame : frames) images.emplace_back(as_text(frame));
  return std::make_shared<MemoryContainer>(
      "memory://worker/clips",
      Schema{{clip,
              {.name = "captions", .kind = FieldKind::kText, .flags = kListField},
              {.name = "title", .kind = FieldKind::kText}}},
      std::vector<MemoryContainer::Record>{
          {.fields = {list_bytes(images), list_bytes({"a", "", "three"}), "one"}},
          {.fields = {"", "", ""}}});
}

TEST(SampleWorker, images_of_a_list_share_their_random_numbers) {
  const std::vector<std::vector<std::byte>> frames{make_jpeg(48, 64, 1), make_jpeg(48, 64, 2),
                                                   make_jpeg(40, 30, 3)};
  const auto container = clips(frames);
  ImageOptions options = training_options();
  options.fields = {"clip"};
  Rows rows(container, options, 2);
  sample_work(container, options).make_worker()->process(rows.tasks());
  for (const Task& task : rows.tasks()) ASSERT_EQ(task.error, nullptr) << message_of(task.error);
  const RaggedRow& clip = rows.batch().ragged_row(0, 0);
  EXPECT_THAT(clip.shape, ElementsAre(3, 16, 16, 3));
  for (size_t i = 0; i < 3; ++i) {
    const auto* const pixels = reinterpret_cast<const uint8_t*>(clip.data) + i * 16 * 16 * 3;
    EXPECT_EQ(std::vector<uint8_t>(pixels, pixels + 16 * 16 * 3),
              expected_image(frames[i], options.transforms, Philox(0, 3, 10)))
        << i;
  }
  EXPECT_THAT(rows.batch().ragged_row(0, 1).shape, ElementsAre(0, 16, 16, 3));
}

TEST(SampleWorker, a_short_record_of_many_images_takes_no_memory) {
  const auto container = clips(std::vector(20'000, std::vector<std::byte>(1)));
  ImageOptions options = training_options();
  options.transforms = {Resize{.size = {512, 512}}};
  options.fields = {"clip"};
  Rows rows(container, options, 1);
  sample_work(container, options).make_worker()->process(rows.tasks());
  EXPECT_TRUE(is_skippable(rows.tasks()[0].error));
  EXPECT_THAT(message_of(rows.tasks()[0].error),
              HasSubstr("field 'clip': a list of images is too long for one array: expected at "
                        "most 2147483648 bytes, found 20000 images of 786432 bytes"));
}

TEST(SampleWorker, lists_of_images_without_a_fixed_size_and_of_texts_are_lists_of_items) {
  const std::vector<std::vector<std::byte>> frames{make_jpeg(48, 64, 1), make_jpeg(40, 30, 3)};
  const auto container = clips(frames);
  ImageOptions options = training_options();
  options.transforms = {};
  options.fields = {"clip", "captions", "title"};
  Rows rows(container, options, 2);
  sample_work(container, options).make_worker()->process(rows.tasks());
  for (const Task& task : rows.tasks()) ASSERT_EQ(task.error, nullptr) << message_of(task.error);
  const Batch& batch = rows.batch();
  ASSERT_EQ(batch.items(0, 0).size(), 2u);
  EXPECT_THAT(batch.items(0, 0)[0].shape, ElementsAre(48, 64, 3));
  EXPECT_THAT(batch.items(0, 0)[1].shape, ElementsAre(40, 30, 3));
  ASSERT_EQ(batch.items(1, 0).size(), 3u);
  EXPECT_THAT(batch.items(1, 0)[1].shape, ElementsAre(0));
  EXPECT_EQ(std::memcmp(batch.items(1, 0)[2].data, "three", 5), 0);
  EXPECT_TRUE(batch.items(0, 1).empty());
  EXPECT_TRUE(batch.items(1, 1).empty());
  EXPECT_EQ(std::memcmp(batch.ragged_row(2, 0).data, "one", 3), 0);
  EXPECT_THAT(batch.ragged_row(2, 1).shape, ElementsAre(0));
}

TEST(SampleWorker, tensors_of_any_type_and_eight_dimensions_are_rows) {
  const std::vector<int64_t> shape{-1, 1, 2, 1, -1, 1, 1, 1};
  const auto container = std::make_shared<MemoryContainer>(
      "memory://worker/tensors",
      Schema{{{.name = "x", .kind = FieldKind::kTensor, .dtype = DType::kInt16, .shape = shape}}},
      std::vector<MemoryContainer::Record>{
          {.fields = {shaped_bytes({1, 2}, numbers_bytes<int16_t>({1, 2, 3, 4}))}},
          {.fields = {shaped_bytes({0, 5}, "")}}});
  ImageOptions options;
  options.fields = {"x"};
  Rows rows(container, options, 2);
  sample_work(container, options).make_worker()->process(rows.tasks());
  for (const Task& task : rows.tasks()) ASSERT_EQ(task.error, nullptr) << message_of(task.error);
  const RaggedRow& row = rows.batch().ragged_row(0, 0);
  EXPECT_THAT(row.shape, ElementsAre(1, 1, 2, 1, 2, 1, 1, 1));
  EXPECT_EQ(std::memcmp(row.data, numbers_bytes<int16_t>({1, 2, 3, 4}).data(), 8), 0);
  EXPECT_THAT(rows.batch().ragged_row(0, 1).shape, ElementsAre(0, 1, 2, 1, 5, 1, 1, 1));
}

// The number of the leader whose random numbers the first column takes.
uint32_t draws_of_first(const Schema& schema, const ImageOptions& options) {
  const SampleProgram program = sample_program(schema, options);
  return program.leaders[std::get<LeaderPixels>(program.columns[0].source).leader].draws;
}

TEST(SampleProgram, an_image_field_that_refers_to_another_is_no_leader) {
  Schema schema = images_named({"image", "depth", "right"});
  schema.fields[1].role = Role::kMap;
  schema.fields[1].of = 0;
  ImageOptions options = training_options();
  options.fields = {"right"};
  EXPECT_EQ(draws_of_first(schema, options), 1u);
}

TEST(SampleProgram, a_sample_has_127_image_fields_at_most) {
  std::vector<std::string> names;
  for (int i = 0; i < 128; ++i) names.push_back("camera" + std::to_string(i));
  ImageOptions options = training_options();
  options.fields = {"camera126"};
  EXPECT_EQ(draws_of_first(images_named(names), options), 126u);
  options.fields = {"camera127"};
  const std::string error = testing::refusal_of<InvalidArgumentError>(
      [&] { sample_program(images_named(names), options); });
  EXPECT_THAT(error, HasSubstr("the dataset has too many image fields: expected at most 127, "
                               "found more ('camera127' is image field 128)"));
}

// A container whose records are images only by its description of them.
class DescribedImages {
 public:
  DescribedImages() : codec_{.format = &testing::kInventedFormat, .coded = {2, 4}} {
    codec_.parameters = as_bytes("@");
    container = std::make_shared<MemoryContainer>(
        "memory://worker/described", images_named({"image"}),
        std::vector<MemoryContainer::Record>{{.fields = {std::string(24, 'a')}},
                                             {.fields = {std::string(23, 'a')}}});
    container->describe = [this](uint64_t, Sample& out) {
      out.fields[0].codec = &codec_;
      out.fields[0].visible = {1, 3};
      out.fields[0].hints = as_bytes("\1");
    };
    options.fields = {"image"};
    options.dtype = DType::kUint8;
  }

  std::shared_ptr<MemoryContainer> container;
  ImageOptions options;

 private:
  ImageCodec codec_;
};

TEST(SampleWorker, decodes_images_as_their_container_describes_them) {
  const LentDecoding lent(testing::kInventedDecoding);
  const DescribedImages images;
  Rows rows(images.container, images.options, 2);
  sample_work(images.container, images.options).make_worker()->process(rows.tasks());
  ASSERT_EQ(rows.tasks()[0].error, nullptr) << message_of(rows.tasks()[0].error);
  const RaggedRow& row = rows.batch().ragged_row(0, 0);
  EXPECT_THAT(row.shape, ElementsAre(3, 1, 3));
  EXPECT_EQ(std::memcmp(row.data, "         ", 9), 0);
  EXPECT_THAT(message_of(rows.tasks()[1].error), HasSubstr("cut"));
}

TEST(SampleWorker, a_missing_codec_ends_a_run_that_skips_bad_records) {
  constexpr Decoding kAbsent{&testing::kInventedFormat, nullptr, []() -> std::unique_ptr<Decoder> {
                               throw MissingCodecError("there is no decoder",
                                                       {.remedy = "Install 'invented'"});
                             }};
  const LentDecoding lent(kAbsent);
  const DescribedImages images;
  Loader loader(images.container, {.errors = {.on_error = OnError::kSkip}}, images.options);
  const std::string error = testing::refusal_of<MissingCodecError>([&] { loader.next(); });
  EXPECT_THAT(error,
              HasSubstr("memory://worker/described: record 0, offset 0: there is no decoder"));
  EXPECT_THAT(error, HasSubstr("Install 'invented'"));
}

// The contract of every worker.
struct SampleWorkers {
  // Of images, texts and tensors.
  static WorkerCase lists() {
    FieldSpec frames = image_field("clip.frames");
    frames.flags = kListField;
    const Schema schema{{frames,
                         {.name = "clip.captions", .kind = FieldKind::kText, .flags = kListField},
                         {.name = "clip.points",
                          .kind = FieldKind::kTensor,
                          .dtype = DType::kFloat64,
                          .shape = {-1, 2}}}};
    std::vector<MemoryContainer::Record> records;
    for (const size_t count : {2, 0, 1, 1}) {
      std::vector<std::string> images;
      for (size_t i = 0; i < count; ++i) {
        const auto height = static_cast<int64_t>(30 + 10 * i);
        images.emplace_back(as_text(make_jpeg(height, 40, i)));
      }
      if (records.size() == 3) images[0] = "no image";
      const std::vector<std::string> texts(count, std::string(count, 'x'));
      records.push_back({.fields = {list_bytes(images), list_bytes(texts),
                                    std::string(count * 16, static_cast<char>(count))}});
    }
    const auto container =
        std::make_shared<MemoryContainer>("memory://worker/list_rows", schema, records);
    ImageOptions options;
    options.transforms = {RandomCrop{.size = {20, 20}}};
    options.fields = {"clip"};
    options.ragged = Ragged::kPad;
    options.ragged_of = {{"*.points", Ragged::kPacked}};
    return {.name = "lists",
            .container = container,
            .columns = sample_work(container, options).columns,
            .make = sample_work(container, options).make_worker,
            .good = {0, 1, 2},
            .bad = {3}};
  }

  static std::vector<WorkerCase> cases() {
    const auto set = make_image_set("memory://worker/conformance.rec", 6, /*broken=*/4);
    ImageOptions ragged = training_options();
    ragged.transforms = {Resize{.shorter_side = 20}};
    ragged.dtype = DType::kBfloat16;
    ragged.layout = ImageLayout::kNchw;
    ragged.fields = {"label", "image", "encoded"};
    std::vector<WorkerCase> cases;
    for (const auto& [name, options] :
         {std::pair{"uint8, every field", training_options()}, {"ragged", ragged}}) {
      cases.push_back({.name = name,
                       .container = set.container,
                       .columns = sample_work(set.container, options).columns,
                       .make = sample_work(set.container, options).make_worker,
                       .good = {0, 1, 2, 3, 5},
                       .bad = {4}});
    }
    cases.push_back(lists());
    return cases;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(SampleWorker, WorkerConformance, SampleWorkers);

}  // namespace
}  // namespace fuelrail
