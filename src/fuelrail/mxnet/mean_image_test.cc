#include "fuelrail/mxnet/mean_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/augmenter.h"
#include "fuelrail/mxnet/output.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/mxnet_golden.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::mxnet {
namespace {

using ::testing::HasSubstr;

const std::string kMeanGolden =
    std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/mxnet/iter/mean.bin";
constexpr MxShape kSmallMean{1, 1, 2};

template <typename T>
std::string little_endian(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::string list_head(uint64_t arrays = 1) {
  return little_endian(uint64_t{0x112}) + little_endian(uint64_t{0}) + little_endian(arrays);
}

// The rest of an array of shape (1, 1, 2), from the device on.
std::string rest_of_array(int32_t type = 0) {
  return little_endian(int32_t{2}) + little_endian(int32_t{1}) + little_endian(type) +
         little_endian(1.5f) + little_endian(-2.0f);
}

std::string wide_shape(uint64_t channels = 1, uint64_t height = 1, uint64_t width = 2) {
  return little_endian(uint32_t{3}) + little_endian(channels) + little_endian(height) +
         little_endian(width);
}

std::string dense_array(uint32_t magic = 0xf993fac9, int32_t storage = 0) {
  return little_endian(magic) + little_endian(storage) + wide_shape() + rest_of_array();
}

std::string one_name() { return little_endian(uint64_t{1}) + little_endian(uint64_t{1}) + "m"; }

MeanImage read_text(const std::string& text, const MxShape& shape = kSmallMean) {
  return parse_mean_image(as_bytes(text), "mean.bin", shape);
}

template <typename Expected>
std::string mean_refusal(const std::string& text) {
  return testing::refusal_of<Expected>([&] { read_text(text); });
}

void expect_small_mean(const MeanImage& mean) {
  EXPECT_EQ(mean.shape, kSmallMean);
  EXPECT_EQ(mean.values, (std::vector<float>{1.5f, -2.0f}));
}

TEST(MeanImage, file_of_mxnet_is_read_and_written_byte_for_byte) {
  const MeanImage mean = read_mean_image(kMeanGolden, {3, 32, 32});
  ASSERT_EQ(mean.values.size(), 3072u);
  EXPECT_EQ(mean.values.front(), 132.0f);
  EXPECT_FLOAT_EQ(mean.values.back(), 150.2f);
  const TemporaryDirectory directory;
  write_mean_image(*local_file_system().create(directory / "mean.bin"), mean);
  EXPECT_EQ(file_contents(directory / "mean.bin"), file_contents(kMeanGolden));
}

TEST(MeanImage, arrays_of_all_versions_of_mxnet_are_read) {
  expect_small_mean(read_text(list_head() + dense_array() + one_name()));
  expect_small_mean(read_text(list_head() + dense_array(0xf993faca) + one_name()));
  expect_small_mean(read_text(list_head() + little_endian(0xf993fac8u) + wide_shape() +
                              rest_of_array() + one_name()));
  const std::string narrow_shape = little_endian(uint32_t{3}) + little_endian(uint32_t{1}) +
                                   little_endian(uint32_t{1}) + little_endian(uint32_t{2});
  expect_small_mean(read_text(list_head() + narrow_shape + rest_of_array() + one_name()));
}

TEST(MeanImage, name_may_be_missing) {
  expect_small_mean(read_text(list_head() + dense_array() + little_endian(uint64_t{0})));
}

TEST(MeanImage, file_cut_anywhere_is_reported_as_truncated) {
  const std::string whole = list_head() + dense_array() + one_name();
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(mean_refusal<TruncatedError>(whole.substr(0, size)), HasSubstr("mean image ends"));
  }
}

TEST(MeanImage, what_contradicts_the_format_is_reported_with_its_offset) {
  EXPECT_THAT(mean_refusal<CorruptError>("PNG_PNG_" + dense_array()), HasSubstr("offset 0"));
  EXPECT_THAT(mean_refusal<CorruptError>(list_head() + dense_array(0x12345678)),
              HasSubstr("found 0x12345678"));
  const std::string magic = list_head() + little_endian(0xf993fac9u) + little_endian(int32_t{0});
  EXPECT_THAT(mean_refusal<CorruptError>(magic + little_endian(uint32_t{2})),
              HasSubstr("offset 32: the mean image has an invalid number of dimensions"));
  EXPECT_THAT(mean_refusal<CorruptError>(magic + wide_shape(1, 0)), HasSubstr("invalid side"));
  EXPECT_THAT(mean_refusal<CorruptError>(magic + wide_shape(1, uint64_t{1} << 63)),
              HasSubstr("invalid side"));
  EXPECT_THAT(mean_refusal<CorruptError>(list_head() + dense_array() + one_name() + "x"),
              HasSubstr("has bytes after its end"));
  EXPECT_THAT(mean_refusal<CorruptError>(list_head() + dense_array() + little_endian(uint64_t{2})),
              HasSubstr("number of names"));
}

TEST(MeanImage, value_that_is_no_number_is_reported_with_its_offset) {
  const std::string good = list_head() + dense_array() + one_name();
  const size_t at = good.find(little_endian(1.5f) + little_endian(-2.0f)) + sizeof(float);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    std::string bad = good;
    bad.replace(at, sizeof value, little_endian(value));
    EXPECT_THAT(mean_refusal<CorruptError>(bad),
                HasSubstr("offset " + std::to_string(at) + ": the mean image has a value"));
  }
}

TEST(MeanImage, length_of_the_name_is_not_trusted) {
  mean_refusal<TruncatedError>(list_head() + dense_array() + little_endian(uint64_t{1}) +
                               little_endian(~uint64_t{0}) + "m");
}

TEST(MeanImage, arrays_of_another_kind_are_unsupported) {
  EXPECT_THAT(mean_refusal<UnsupportedError>(list_head(2)), HasSubstr("one array"));
  EXPECT_THAT(mean_refusal<UnsupportedError>(list_head() + dense_array(0xf993fac9, 1)),
              HasSubstr("sparse"));
  EXPECT_THAT(mean_refusal<UnsupportedError>(list_head() + little_endian(0xf993fac8u) +
                                             wide_shape() + rest_of_array(1)),
              HasSubstr("float32"));
}

TEST(MeanImage, another_shape_than_the_images_is_refused) {
  const std::string refusal = testing::refusal_of<InvalidArgumentError>([] {
    read_mean_image(kMeanGolden, {3, 32, 31});
  });
  EXPECT_THAT(refusal, HasSubstr("(3, 32, 31)"));
  EXPECT_THAT(refusal, HasSubstr("(3, 32, 32)"));
  EXPECT_THAT(refusal, HasSubstr("mean.bin"));
}

TEST(MeanImage, missing_file_is_not_found) {
  testing::refusal_of<NotFoundError>([] { read_mean_image("/nowhere/mean.bin", {3, 1, 1}); });
}

TEST(MeanImageSum, mean_is_the_sum_times_one_over_the_count_in_float32) {
  MeanImageSum sum(kSmallMean);
  const std::vector<std::vector<float>> rows{{1.0f, 16777216.0f}, {2.0f, 1.0f}, {4.0f, 1.0f}};
  for (const std::vector<float>& row : rows) sum.add(row.data());
  const MeanImage mean = sum.mean();
  EXPECT_EQ(mean.shape, kSmallMean);
  EXPECT_EQ(mean.values[0], 7.0f * (1.0f / 3.0f));
  EXPECT_EQ(mean.values[1], 16777216.0f * (1.0f / 3.0f));  // 2^24 + 1 is 2^24 in float32
}

// The configuration `mean_img_made` in iter.json, which wrote the golden file.
TEST(MeanImageSum, mean_of_golden_images_is_the_file_that_mxnet_made_of_them) {
  const MxShape shape{3, 32, 32};
  AugmentOptions options;
  options.resize = 40;
  Augmenter augmenter(options, shape);
  OutputWriter writer(OutputOptions{}, shape);
  SeededDraws draws(111u);
  MeanImageSum sum(shape);
  std::vector<float> row(static_cast<size_t>(shape.elements()));
  for (const GoldenRecord& record : golden_records("small.rec", shape.channels)) {
    writer.write(augmenter.augment(record.image, draws), draws,
                 std::as_writable_bytes(std::span(row)).data());
    sum.add(row.data());
  }
  const TemporaryDirectory directory;
  write_mean_image(*local_file_system().create(directory / "mean.bin"), sum.mean());
  EXPECT_EQ(file_contents(directory / "mean.bin"), file_contents(kMeanGolden));
}

TEST(MeanImageSum, mean_of_nothing_is_refused) {
  testing::refusal_of<InvalidArgumentError>([] { MeanImageSum(kSmallMean).mean(); });
}

}  // namespace
}  // namespace fuelrail::mxnet
