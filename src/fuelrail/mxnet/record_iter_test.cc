#include "fuelrail/mxnet/record_iter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/record_worker.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/image_set.h"
#include "fuelrail/testing/record_batches.h"
#include "fuelrail/testing/record_file.h"
#include "fuelrail/testing/worker_conformance.h"

namespace fuelrail::mxnet {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

constexpr size_t kImages = 10;
constexpr const char* kUri = "memory://record_iter/set.rec";

RecordIterOptions some_options(const std::string& uri = kUri) {
  RecordIterOptions options;
  options.path_imgrec = uri;
  options.data_shape = {3, 16, 20};
  options.batch_size = 4;
  options.augment.rand_crop = true;
  options.augment.brightness = 0.5f;
  options.output.rand_mirror = true;
  options.output.dtype = DType::kUint8;
  return options;
}

template <typename T>
std::vector<T> column(const RecordBatch& batch, size_t index) {
  std::vector<T> values(batch.batch.rows());
  std::memcpy(values.data(), batch.batch.column(index), values.size() * sizeof(T));
  return values;
}

std::vector<std::byte> pixels_of(const RecordBatch& batch) {
  const std::byte* const begin = batch.batch.column(RecordColumns::kData);
  return {begin, begin + batch.batch.rows() * batch.batch.layout().columns()[0].row_bytes()};
}

std::vector<std::vector<std::byte>> epoch_of(ImageRecordIter& iterator) {
  std::vector<std::vector<std::byte>> batches;
  while (const auto batch = iterator.next()) batches.push_back(pixels_of(*batch));
  iterator.reset();
  return batches;
}

class RecordIterTest : public ::testing::Test {
 protected:
  ImageSet set_ = make_image_set(kUri, kImages);
};

TEST_F(RecordIterTest, batches_have_labels_ids_and_pad_and_the_next_epoch_goes_on) {
  ImageRecordIter iterator(some_options());
  EXPECT_EQ(iterator.records(), kImages);
  iterator.next();
  iterator.next();
  const auto last = iterator.next();
  EXPECT_EQ(last->pad, 2U);
  EXPECT_THAT(column<float>(*last, RecordColumns::kLabel), ElementsAre(8, 9, 0, 1));
  EXPECT_THAT(column<uint64_t>(*last, RecordColumns::kIndex), ElementsAre(1008, 1009, 1000, 1001));
  EXPECT_FALSE(iterator.next().has_value());
  EXPECT_FALSE(iterator.next().has_value()) << "the end lasts until `reset`";
  iterator.reset();
  EXPECT_THAT(column<float>(*iterator.next(), RecordColumns::kLabel), ElementsAre(2, 3, 4, 5));
}

TEST_F(RecordIterTest, reset_begins_a_pass_inside_an_epoch_and_does_nothing_before_it) {
  ImageRecordIter iterator(some_options());
  iterator.reset();
  EXPECT_THAT(column<float>(*iterator.next(), RecordColumns::kLabel), ElementsAre(0, 1, 2, 3));
  iterator.reset();
  EXPECT_THAT(column<float>(*iterator.next(), RecordColumns::kLabel), ElementsAre(0, 1, 2, 3));
  iterator.next();
  iterator.next();  // the last batch; no call returns the end
  iterator.reset();
  EXPECT_THAT(column<float>(*iterator.next(), RecordColumns::kLabel), ElementsAre(2, 3, 4, 5));
}

TEST_F(RecordIterTest, epochs_are_the_same_for_any_threads_and_differ_from_one_another) {
  RecordIterOptions options = some_options();
  options.shuffle = true;
  options.round_batch = false;
  options.preprocess_threads = 1;
  ImageRecordIter one(options);
  const auto first = epoch_of(one);
  const auto second = epoch_of(one);
  EXPECT_NE(first, second);
  options.preprocess_threads = 3;
  options.prefetch_buffer = 1;
  ImageRecordIter three(options);
  EXPECT_EQ(epoch_of(three), first);
  EXPECT_EQ(epoch_of(three), second);
}

TEST_F(RecordIterTest, seeded_numbers_come_again_in_each_epoch) {
  RecordIterOptions options = some_options();
  options.round_batch = false;
  options.seed_aug = 5;
  ImageRecordIter iterator(options);
  const auto first = epoch_of(iterator);
  EXPECT_EQ(epoch_of(iterator), first);
  options.seed_aug = 6;
  ImageRecordIter other(options);
  EXPECT_NE(epoch_of(other), first);
}

// Blackens a pixel.
class BlackCorner final : public PixelStage {
 public:
  bool in_place() const override { return true; }
  void apply(ConstImageView, ImageView to, const StageRandom&) const override {
    to.row(0)[0] = to.row(0)[1] = to.row(0)[2] = 0;
  }
};

TEST_F(RecordIterTest, a_users_stage_sees_what_the_augmenter_has_made) {
  RecordIterOptions options = some_options();
  options.output.rand_mirror = false;
  options.augment.brightness = 0;
  ImageRecordIter plain(options);
  options.augment.stages = {std::make_shared<BlackCorner>()};
  ImageRecordIter staged(options);
  const auto expected = plain.next();
  const auto batch = staged.next();
  constexpr size_t kPlane = 16 * 20;
  for (size_t row = 0; row < 4; ++row) {
    const std::byte* const before = expected->batch.row(RecordColumns::kData, row);
    const std::byte* const after = batch->batch.row(RecordColumns::kData, row);
    EXPECT_EQ(after[0], std::byte{0});
    EXPECT_EQ(after[2 * kPlane], std::byte{0});
    EXPECT_EQ(std::memcmp(before + 1, after + 1, kPlane - 1), 0);
  }
}

TEST_F(RecordIterTest, a_missing_mean_image_is_made_of_the_part_and_used) {
  RecordIterOptions options = some_options();
  options.augment = {};
  options.output = {};
  options.mean_img = "memory://record_iter/mean.bin";
  file_system_for(options.mean_img).remove(options.mean_img);
  options.round_batch = false;
  ImageRecordIter iterator(options);
  EXPECT_NEAR(mean_of_epoch(iterator), 0, 1e-4);
  EXPECT_EQ(read_mean_image(options.mean_img, options.data_shape).values.size(), 960U);
  options.data_shape = {3, 8, 8};
  EXPECT_THROW(ImageRecordIter{options}, InvalidArgumentError);
}

TEST_F(RecordIterTest, a_bad_image_comes_in_place_of_its_batch_and_says_where_it_lies) {
  make_image_set("memory://record_iter/bad.rec", kImages, 5);
  ImageRecordIter iterator(some_options("memory://record_iter/bad.rec"));
  EXPECT_TRUE(iterator.next().has_value());
  EXPECT_THAT([&] { iterator.next(); },
              ThrowsMessage<Error>(AllOf(HasSubstr("bad.rec: record 5, offset"))));
  EXPECT_THAT(column<float>(*iterator.next(), RecordColumns::kLabel), ElementsAre(8, 9, 0, 1));
}

TEST_F(RecordIterTest, labels_that_are_not_of_the_width_are_refused) {
  RecordIterOptions options = some_options();
  options.label_width = 2;
  ImageRecordIter iterator(options);
  EXPECT_THAT([&] { iterator.next(); }, ThrowsMessage<CorruptError>(HasSubstr("label_width")));
}

TEST_F(RecordIterTest, bad_options_are_refused_by_name) {
  const auto refused = [](auto change) {
    RecordIterOptions options = some_options();
    change(options);
    try {
      const ImageRecordIter iterator(options);
    } catch (const InvalidArgumentError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(refused([](auto& o) { o.path_imgrec.clear(); }), HasSubstr("path_imgrec"));
  EXPECT_THAT(refused([](auto& o) { o.data_shape.channels = 2; }), HasSubstr("data_shape"));
  EXPECT_THAT(refused([](auto& o) { o.batch_size = 0; }), HasSubstr("batch_size"));
  EXPECT_THAT(refused([](auto& o) { o.batch_size = 21; }), HasSubstr("batch"));
  EXPECT_THAT(refused([](auto& o) { o.label_width = 0; }), HasSubstr("label_width"));
  EXPECT_THAT(refused([](auto& o) { o.detection.emplace().label_width = 0; }),
              HasSubstr("`label_width` is out of range: expected -1 (any), or at least 1"));
  EXPECT_THAT(refused([](auto& o) { o.part_index = 1; }), HasSubstr("part_index"));
  EXPECT_THAT(refused([](auto& o) { o.preprocess_threads = 0; }), HasSubstr("preprocess_threads"));
  EXPECT_THAT(refused([](auto& o) { o.prefetch_buffer = 0; }), HasSubstr("prefetch_buffer"));
  EXPECT_THAT(refused([](auto& o) { o.augment.inter_method = 7; }), HasSubstr("inter_method"));
}

TEST_F(RecordIterTest, more_parts_than_32_bits_count_are_as_many) {
  RecordIterOptions options = some_options();
  options.batch_size = 1;
  options.num_parts = (int64_t{1} << 32) + 1;
  EXPECT_EQ(ImageRecordIter(options).records(), 1U) << "whose head lies in the first four bytes";
  options.part_index = int64_t{1} << 32;
  EXPECT_THAT([&] { ImageRecordIter{options}; },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("part_index 4294967296")));
}

// --- The worker's contract ---

std::shared_ptr<RecordWork> work_of(const std::string& uri) {
  auto work = std::make_shared<RecordWork>();
  work->files = std::make_shared<const RecordFiles>(std::vector<std::string>{uri});
  work->options = some_options(uri);
  return work;
}

struct RecordWorkers {
  static std::vector<WorkerCase> cases() {
    make_image_set("memory://record_iter/worker.rec", kImages, 7);
    std::vector<WorkerCase> cases;
    for (const bool seeded : {false, true}) {
      const auto work = work_of("memory://record_iter/worker.rec");
      if (seeded) work->options.seed_aug = 1;
      cases.push_back({.name = seeded ? "seeded" : "counted",
                       .container = work->files,
                       .columns = record_columns(*work),
                       .make = record_worker_factory(work),
                       .good = {0, 1, 2, 5, 9},
                       .bad = {7}});
    }
    return cases;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(RecordWorker, WorkerConformance, RecordWorkers);

}  // namespace
}  // namespace fuelrail::mxnet
