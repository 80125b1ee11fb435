#include "fuelrail/mxnet/record_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/record_file.h"

namespace fuelrail::mxnet {
namespace {

using recordio::as_labels;
using recordio::image_payload;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Three files whose own schemas differ: one whole number as label, one fraction, and several
// labels.
struct MixedFiles {
  static constexpr bool kDetectsTruncation = true;
  std::shared_ptr<const Container> make() {
    return std::make_shared<const RecordFiles>(
        std::vector<std::string>{whole.path, fractions.path, several.path});
  }
  std::shared_ptr<const Container> make_copy() { return make(); }
  std::vector<ExpectedSample> expected() {
    return {{.fields = {"a", as_labels({3})}, .id = 5, .shapes = {{}, {1}}},
            {.fields = {"bc", as_labels({-4})}, .id = 6, .shapes = {{}, {1}}},
            {.fields = {"d", as_labels({0.5f})}, .id = 7, .shapes = {{}, {1}}},
            {.fields = {"e", as_labels({1, 2})}, .id = 8, .shapes = {{}, {2}}},
            {.fields = {"f", as_labels({1, 2, 3})}, .id = 9, .shapes = {{}, {3}}}};
  }
  recordio::RecordFile whole{
      std::vector<std::string>{image_payload(5, {3}, "a"), image_payload(6, {-4}, "bc")}};
  recordio::RecordFile fractions{std::vector<std::string>{image_payload(7, {0.5f}, "d")}};
  recordio::RecordFile several{
      std::vector<std::string>{image_payload(8, {1, 2}, "e"), image_payload(9, {1, 2, 3}, "f")}};
};

}  // namespace
INSTANTIATE_TYPED_TEST_SUITE_P(RecordFiles, ContainerConformance, ::testing::Types<MixedFiles>);
namespace {

TEST(RecordFiles, offsets_count_through_all_files) {
  MixedFiles mixed;
  const RecordFiles files({mixed.whole.path, mixed.fractions.path});
  EXPECT_EQ(files.offset(0), 0U);
  EXPECT_EQ(files.offset(1), 36U);
  EXPECT_EQ(files.offset(2), 72U);
  EXPECT_EQ(files.offset(3), files.total_bytes());
  EXPECT_EQ(files.first_from(1), 1U);
  EXPECT_EQ(files.first_from(36), 1U);
  EXPECT_EQ(files.first_from(73), 3U);
}

TEST(RecordFiles, files_of_sample_records_are_refused) {
  const recordio::RecordFile samples(testing::made_payloads(2));
  EXPECT_THAT([&] { RecordFiles({samples.path}); },
              ThrowsMessage<UnsupportedError>(
                  HasSubstr(samples.path + ": the file has sample records, not image records")));
}

TEST(RecordFiles, most_labels_are_counted_over_all_files) {
  MixedFiles mixed;
  EXPECT_EQ(RecordFiles({mixed.whole.path}).most_labels(), 1U);
  EXPECT_EQ(RecordFiles({mixed.several.path, mixed.whole.path}).most_labels(), 3U);
}

TEST(RecordFiles, what_is_no_image_record_is_an_error_with_its_place) {
  const recordio::RecordFile bytes{std::vector<std::string>{"short", "also short"}};
  const RecordFiles files({bytes.path});
  std::vector<std::byte> framed;
  Sample sample;
  EXPECT_THAT([&] { read_sample(files, 1, framed, sample); },
              ThrowsMessage<CorruptError>(HasSubstr("x.rec: record 1, offset 16: the record is too "
                                                    "short for its image header")));
}

}  // namespace
}  // namespace fuelrail::mxnet
