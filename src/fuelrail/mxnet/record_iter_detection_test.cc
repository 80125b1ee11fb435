// ImageRecordIter with `detection`: MXNet's ImageDetRecordIter.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/record_iter.h"
#include "fuelrail/mxnet/record_worker.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/image_set.h"
#include "fuelrail/testing/record_batches.h"
#include "fuelrail/testing/worker_conformance.h"

namespace fuelrail::mxnet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

constexpr size_t kDetImages = 10;
constexpr const char* kDetUri = "memory://record_iter/detection.rec";
const std::vector<float> kDetLabel{2, 5, 7, 0.25f, 0.25f, 0.75f, 0.5f};

RecordIterOptions detection_options(const std::string& uri = kDetUri) {
  RecordIterOptions options;
  options.path_imgrec = uri;
  options.data_shape = {3, 16, 20};
  options.batch_size = 4;
  options.detection.emplace();
  return options;
}

// Options with random numbers in every step.
RecordIterOptions random_detection_options(const std::string& uri = kDetUri) {
  RecordIterOptions options = detection_options(uri);
  DetOptions& augment = options.detection->augment;
  augment.inter_method = 10;
  augment.random_hue_prob = 0.5f;
  augment.max_random_hue = 40;
  augment.rand_mirror_prob = 0.5f;
  augment.rand_pad_prob = 0.5f;
  augment.max_pad_scale = 2;
  augment.rand_crop_prob = 0.7f;
  augment.min_crop_scales = {0.4f};
  return options;
}

std::vector<float> det_row(const RecordBatch& batch, size_t row) {
  const size_t bytes = batch.batch.layout().columns()[RecordColumns::kLabel].row_bytes();
  std::vector<float> values(bytes / sizeof(float));
  std::memcpy(values.data(), batch.batch.row(RecordColumns::kLabel, row), bytes);
  return values;
}

// Returns the images, labels and ids of all batches of an epoch, then begins the next epoch.
std::vector<std::vector<std::byte>> detection_epoch(ImageRecordIter& iterator) {
  std::vector<std::vector<std::byte>> rows;
  while (const auto made = iterator.next()) {
    for (size_t row = 0; row < made->batch.rows(); ++row) {
      for (const size_t at : {RecordColumns::kData, RecordColumns::kLabel, RecordColumns::kIndex}) {
        const std::byte* const begin = made->batch.row(at, row);
        rows.emplace_back(begin, begin + made->batch.layout().columns()[at].row_bytes());
      }
    }
  }
  iterator.reset();
  return rows;
}

void write_text(const std::string& uri, const std::string& text) {
  const std::unique_ptr<Sink> sink = file_system_for(uri).create(uri);
  sink->write(as_bytes(text));
  sink->commit();
}

class DetectionIterTest : public ::testing::Test {
 protected:
  ImageSet set_ = make_image_set(kDetUri, kDetImages, SIZE_MAX, kDetLabel);
};

TEST_F(DetectionIterTest, rows_say_what_is_in_use_and_hold_the_label_and_what_fills_it) {
  RecordIterOptions options = detection_options();
  options.detection->augment.resize_mode = DetResizeMode::kFit;
  options.detection->label_pad_width = 9;
  options.detection->label_pad_value = -3;
  ImageRecordIter iterator(options);
  const auto batch = iterator.next();
  for (size_t row = 0; row < 4; ++row) {
    const std::vector<float> found = det_row(*batch, row);
    EXPECT_EQ(found[0], 3);
    EXPECT_TRUE(found[1] == 16 || found[2] == 20);
    std::vector<float> expected{7};
    expected.insert(expected.end(), kDetLabel.begin(), kDetLabel.end());
    expected.insert(expected.end(), {-3, -3});
    EXPECT_EQ(std::vector<float>(found.begin() + 3, found.end()), expected);
  }
  for (const int64_t automatic : {-1, 0}) {
    options.detection->label_pad_width = automatic;
    ImageRecordIter longest(options);
    EXPECT_THAT(det_row(*longest.next(), 0), SizeIs(4 + kDetLabel.size()));
  }
}

TEST_F(DetectionIterTest, boxes_are_mirrored_with_their_image) {
  RecordIterOptions options = detection_options();
  ImageRecordIter plain(options);
  options.detection->augment.rand_mirror_prob = 1;
  ImageRecordIter mirrored(options);
  const auto before = plain.next();
  const auto after = mirrored.next();
  for (size_t row = 0; row < 4; ++row) {
    const std::vector<float> was = det_row(*before, row);
    const std::vector<float> is = det_row(*after, row);
    EXPECT_EQ(is[7], 1 - was[9]);
    EXPECT_EQ(is[8], was[8]);
    EXPECT_EQ(is[9], 1 - was[7]);
    EXPECT_EQ(is[10], was[10]);
  }
}

TEST_F(DetectionIterTest, epochs_are_the_same_for_any_threads_and_differ_from_one_another) {
  RecordIterOptions options = random_detection_options();
  options.shuffle = true;
  options.preprocess_threads = 1;
  ImageRecordIter one(options);
  const auto first = detection_epoch(one);
  const auto second = detection_epoch(one);
  EXPECT_NE(first, second);
  options.preprocess_threads = 3;
  options.prefetch_buffer = 1;
  ImageRecordIter three(options);
  EXPECT_EQ(detection_epoch(three), first);
  EXPECT_EQ(detection_epoch(three), second);
  options.seed = 1;
  ImageRecordIter other(options);
  EXPECT_NE(detection_epoch(other), first);
}

TEST_F(DetectionIterTest, means_and_stds_are_detections_without_another_word) {
  RecordIterOptions options = detection_options();
  ImageRecordIter plain(options);
  options.output.mean = {-5, 0, 0, 0};  // no mean is above 0
  options.output.std = {0, -1, 0, 0};
  ImageRecordIter detection(options);
  EXPECT_TRUE(detection.options().output.detection);
  EXPECT_EQ(detection_epoch(detection), detection_epoch(plain));
}

TEST_F(DetectionIterTest, a_missing_mean_image_is_made_and_used) {
  RecordIterOptions options = detection_options();
  options.mean_img = "memory://record_iter/detection_mean.bin";
  file_system_for(options.mean_img).remove(options.mean_img);
  options.round_batch = false;
  ImageRecordIter iterator(options);
  EXPECT_NEAR(mean_of_epoch(iterator), 0, 1e-4);
}

TEST_F(DetectionIterTest, labels_of_a_list_take_the_place_of_those_that_are_packed) {
  const std::string list = "memory://record_iter/detection.lst";
  std::string text;
  for (size_t i = 0; i < kDetImages; ++i) {
    text += fmt::format("{} 2 5 {} 0 0 1 1 image{}.jpg\n", 1000 + i, 100 + i, i);
  }
  write_text(list, text);
  RecordIterOptions options = detection_options();
  options.path_imglist = list;
  for (const int64_t width : {-1, 7}) {
    options.detection->label_width = width;
    ImageRecordIter iterator(options);
    const auto batch = iterator.next();
    for (size_t row = 0; row < 4; ++row)
      EXPECT_EQ(det_row(*batch, row)[6], static_cast<float>(100 + row));
  }
}

TEST_F(DetectionIterTest, labels_that_are_not_of_the_width_are_refused) {
  RecordIterOptions options = detection_options();
  options.detection->label_width = 7;
  EXPECT_TRUE(ImageRecordIter(options).next().has_value());
  options.detection->label_width = 12;
  ImageRecordIter iterator(options);
  EXPECT_THAT([&] { iterator.next(); },
              ThrowsMessage<CorruptError>(AllOf(HasSubstr("record 0"), HasSubstr("label_width"))));
  for (const int64_t width : {0, -2}) {
    options.detection->label_width = width;
    EXPECT_THAT([&] { ImageRecordIter{options}; },
                ThrowsMessage<InvalidArgumentError>(HasSubstr("label_width")));
  }
  options = detection_options();
  options.detection->label_pad_width = -2;
  EXPECT_THAT([&] { ImageRecordIter{options}; },
              ThrowsMessage<InvalidArgumentError>(HasSubstr("label_pad_width")));
}

TEST_F(DetectionIterTest, an_index_makes_parts_of_equally_many_records) {
  const std::string index = "memory://record_iter/detection.idx";
  const RecordFiles files({kDetUri});
  std::string text;
  for (size_t i = 0; i < kDetImages; ++i) text += fmt::format("{}\t{}\n", i, files.offset(i));
  write_text(index, text);
  RecordIterOptions options = detection_options();
  options.path_imgidx = index;
  options.num_parts = 3;
  for (const auto& [part, records] : {std::pair{0, 4U}, {1, 4U}, {2, 2U}}) {
    options.part_index = part;
    ImageRecordIter iterator(options);
    EXPECT_EQ(iterator.records(), records);
    EXPECT_THAT(det_row(*iterator.next(), 0), SizeIs(4 + kDetLabel.size()));
  }
}

// --- The worker's contract ---

struct DetectionWorkers {
  static std::vector<WorkerCase> cases() {
    const std::string uri = "memory://record_iter/det_worker.rec";
    make_image_set(uri, kDetImages, 7, kDetLabel);
    auto work = std::make_shared<RecordWork>();
    work->files = std::make_shared<const RecordFiles>(std::vector<std::string>{uri});
    work->options = random_detection_options(uri);
    work->options.output.detection = true;
    work->label_numbers = 4 + kDetLabel.size();
    return {{.name = "detection",
             .container = work->files,
             .columns = record_columns(*work),
             .make = record_worker_factory(work),
             .good = {0, 1, 2, 5, 9},
             .bad = {7}}};
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(DetectionWorker, WorkerConformance, DetectionWorkers);

}  // namespace
}  // namespace fuelrail::mxnet
