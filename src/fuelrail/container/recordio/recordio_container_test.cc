#include "fuelrail/container/recordio/recordio_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/record_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::recordio {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// --- Conformance ---

struct BytesFile {
  static constexpr bool kDetectsTruncation = true;
  static std::vector<std::string> payloads() {
    return {"one", "", kMagicText + kMagicText, "four"};
  }
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    std::vector<ExpectedSample> samples;
    for (const std::string& payload : payloads()) {
      samples.push_back({.fields = {payload}, .id = samples.size()});
    }
    return samples;
  }
  RecordFile file{payloads()};
  RecordFile copy{payloads()};
};

}  // namespace
}  // namespace fuelrail::recordio

namespace fuelrail {
INSTANTIATE_TYPED_TEST_SUITE_P(RecordIoImages, ContainerConformance,
                               WithViews<recordio::ImageFile>);
INSTANTIATE_TYPED_TEST_SUITE_P(RecordIoMultiLabel, ContainerConformance,
                               WithViews<recordio::MultiLabelFile>);
INSTANTIATE_TYPED_TEST_SUITE_P(RecordIoBytes, ContainerConformance, WithViews<recordio::BytesFile>);
}  // namespace fuelrail

namespace fuelrail::recordio {
namespace {

// --- Schemas ---

TEST(RecordIo, whole_number_labels_are_int64_scalars) {
  RecordFile file(std::vector<std::string>{image_payload(1, {3}, "a"), image_payload(2, {4}, "b")});
  const auto container = file.open();
  const Schema& schema = container->schema();
  ASSERT_THAT(schema.fields, SizeIs(2));
  EXPECT_EQ(schema.fields[0].name, "image");
  EXPECT_EQ(schema.fields[0].kind, FieldKind::kImage);
  EXPECT_EQ(schema.fields[1].name, "label");
  EXPECT_EQ(schema.fields[1].kind, FieldKind::kTensor);
  EXPECT_EQ(schema.fields[1].dtype, DType::kInt64);
  EXPECT_THAT(schema.fields[1].shape, IsEmpty());
}

TEST(RecordIo, one_fraction_makes_labels_float32_scalars) {
  RecordFile file(
      std::vector<std::string>{image_payload(1, {3}, "a"), image_payload(2, {4.5f}, "b")});
  const auto container = file.open();
  EXPECT_EQ(container->schema().fields[1].dtype, DType::kFloat32);
  EXPECT_THAT(container->schema().fields[1].shape, IsEmpty());
  Reader read(*container);
  EXPECT_EQ(read.field(1, 1), as_labels({4.5f}));
}

TEST(RecordIo, several_labels_are_float32_vectors) {
  RecordFile file(
      std::vector<std::string>{image_payload(1, {3, 1}, "a"), image_payload(2, {4, 1}, "b")});
  EXPECT_THAT(file.open()->schema().fields[1].shape, ElementsAre(2));
  EXPECT_EQ(file.open()->schema().fields[1].dtype, DType::kFloat32);
}

TEST(RecordIo, payloads_that_are_no_image_records_are_bytes) {
  RecordFile file(std::vector<std::string>{"short", std::string(100, 'x'),
                                           image_payload(1, {0}, "one that could be")});
  const auto container = file.open();
  ASSERT_THAT(container->schema().fields, SizeIs(1));
  EXPECT_EQ(container->schema().fields[0].name, "data");
  EXPECT_EQ(container->schema().fields[0].kind, FieldKind::kBytes);
}

TEST(RecordIo, damaged_image_header_is_one_bad_record_of_an_image_file) {
  std::vector<std::string> payloads(4, image_payload(1, {0}, "image"));
  payloads[2][1] = '\x7f';  // flag: 32,512 labels
  RecordFile file(payloads);
  const auto container = file.open();
  Reader read(*container);
  EXPECT_EQ(read.field(1, 0), "image");
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { read(2); }),
      HasSubstr("x.rec: record 2, offset 80: the record is too short for its image header"));
  EXPECT_EQ(read.field(3, 0), "image");
}

TEST(RecordIo, golden_files_open_and_every_record_is_read) {
  for (const std::string name : {"part0", "part1", "part2", "sample"}) {
    RecordFile file(RecordFile::Golden{"recordio/" + name + ".rec"});
    const auto container = file.open();
    EXPECT_EQ(container->schema().has("image"), name == "sample");
    Reader read(*container);
    for (uint64_t i = 0; i < container->size(); ++i) read(i);
    EXPECT_THAT(file.warnings, IsEmpty());
  }
}

TEST(RecordIo, sample_of_dmlc_has_ten_records) {
  RecordFile file(RecordFile::Golden{"recordio/sample.rec"});
  const auto container = file.open();
  ASSERT_EQ(container->size(), 10u);
  Reader read(*container);
  for (uint64_t i = 0; i < 10; ++i) {
    const std::string line = std::to_string(i + 1) + "\n";
    std::string image;
    for (int copies = 0; copies < 10; ++copies) image += line;
    EXPECT_EQ(read.field(i, 0), image);
    EXPECT_EQ(read.field(i, 1), as_label(int64_t(i + 1) % 2));
    EXPECT_EQ(read(i).id, i + 1);
  }
}

TEST(RecordIo, files_of_mxnet_have_their_labels) {
  RecordFile multilabel(RecordFile::Golden{"mxnet/multilabel.rec"});
  EXPECT_EQ(multilabel.open()->size(), 6u);
  EXPECT_THAT(multilabel.open()->schema().fields[1].shape, ElementsAre(3));
  RecordFile detection(RecordFile::Golden{"mxnet/det.rec"});
  EXPECT_EQ(detection.open()->size(), 8u);
  EXPECT_THAT(detection.open()->schema().fields[1].shape, ElementsAre(-1));
  const auto opened = detection.open();
  Reader read(*opened);
  for (uint64_t i = 0; i < 8; ++i) {
    const Sample& sample = read(i);
    EXPECT_EQ(as_text(sample.fields[0].bytes).substr(0, 3), "\xff\xd8\xff");
    EXPECT_EQ(sample.fields[1].shape.at(0) * 4, int64_t(sample.fields[1].bytes.size()));
  }
}

// --- Bad files ---

TEST(RecordIo, missing_file_is_not_found) {
  EXPECT_THROW(open_recordio("/no/such/file.rec"), NotFoundError);
}

TEST(RecordIo, empty_file_is_refused_by_name) {
  RecordFile file(std::vector<std::string>{});
  EXPECT_THAT(refusal_of<TruncatedError>([&] { file.open(); }),
              HasSubstr("x.rec: the file is empty: it has no records"));
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

TEST(RecordIo, truncated_file_is_refused_with_record_and_offset) {
  RecordFile file(std::vector<std::string>{"first", "second"});
  std::filesystem::resize_file(file.path, 16 + 12);
  EXPECT_THAT(refusal_of<TruncatedError>([&] { file.open(); }),
              HasSubstr("x.rec: record 1, offset 16: the data ends inside a record"));
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

TEST(RecordIo, file_of_another_kind_is_refused) {
  RecordFile file(std::vector<std::string>{"x"});
  write_file(file.path, "This is no RecordIO file.");
  EXPECT_THAT(refusal_of<CorruptError>([&] { file.open(); }),
              HasSubstr("x.rec: record 0, offset 0: the record's magic number is wrong"));
}

TEST(RecordIo, damage_in_a_scanned_file_is_found_when_it_is_opened) {
  RecordFile file(std::vector<std::string>{"first", "second", "third"});
  std::string bytes = file_contents(file.path);
  bytes[32] ^= 1;  // the third record's magic
  write_file(file.path, bytes);
  EXPECT_THAT(refusal_of<CorruptError>([&] { file.open(); }), HasSubstr("record 2, offset 32"));
}

TEST(RecordIo, opening_stops_when_told) {
  RecordFile file(std::vector<std::string>(5000, "x"));
  int asked = 0;
  const OpenOptions stop_at_third{.keep_going = [&] { return ++asked < 3; }};
  EXPECT_THAT(refusal_of<StateError>([&] { open_recordio(file.path, stop_at_third); }),
              HasSubstr("interrupted"));
  EXPECT_EQ(asked, 3);
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
  asked = 0;
  EXPECT_THROW(
      open_damaged(
          file.path, [](const Damage&) {}, {}, [&](uint64_t, uint64_t) { return ++asked < 3; }),
      StateError);
  EXPECT_EQ(open_recordio(file.path, {.keep_going = [] { return true; }})->size(), 5000u);
}

TEST(Scan, large_small_and_split_records_in_any_order_are_found) {
  std::vector<std::string> payloads;
  for (size_t i = 0; i < 60; ++i) {
    std::string image(i % 3 == 0 ? 30'000 + i : i % 3 == 1 ? 5 : 700'000, char('a' + i % 26));
    if (i % 7 == 0) image.replace(0, 4, kMagicText);
    payloads.push_back(image_payload(i, std::vector<float>(1 + i % 200, float(i)), image));
  }
  RecordFile file(payloads);
  const auto container = file.open();
  ASSERT_EQ(container->size(), payloads.size());
  Reader read(*container);
  for (size_t i = 0; i < payloads.size(); ++i) {
    ASSERT_EQ(read(i).id, i);
    ASSERT_EQ(read(i).fields[1].shape.at(0), int64_t(1 + i % 200));
    ASSERT_TRUE(read.field(i, 0) ==
                payloads[i].substr(payloads[i].size() - read.field(i, 0).size()));
  }
}

}  // namespace
}  // namespace fuelrail::recordio
