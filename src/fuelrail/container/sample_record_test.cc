#include "fuelrail/container/sample_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_payload;
using testing::made_schema;
using testing::MadeSample;
using testing::refusal_of;

// The bytes of the page's example, whose lines are "offset: bytes ; what they are".
std::vector<std::byte> page_example() {
  std::string hex;
  for (const std::string& line : format_page_block("frs1.md", "frs1")) {
    const size_t begin = line.find(':') + 1;
    hex += line.substr(begin, line.find(';') - begin);
  }
  return bytes_of_hex(hex);
}

Schema image_and_class() { return {{image_field("image"), label_field("label")}}; }

std::vector<std::byte> bytes_of_text(std::string_view text) {
  const Bytes bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

// The texts of all values, and the shapes of ragged tensors.
std::string all_values(const Sample& sample) {
  std::string text = std::to_string(sample.id);
  for (const FieldValue& value : sample.fields) {
    text += "|" + hex_of(value.bytes);
    for (const int64_t extent : value.shape) text += " " + std::to_string(extent);
    for (const Bytes item : value.items) text += "," + hex_of(item);
  }
  return text;
}

TEST(SampleRecord, the_example_of_the_page_is_written_and_read) {
  const std::vector<std::byte> example = page_example();
  ASSERT_EQ(example.size(), 112u);
  const auto image = bytes_of_hex("ffd8ffd9");
  const int64_t label = 3;
  std::vector<FieldValue> values(2);
  values[0].bytes = image;
  values[1].bytes = std::as_bytes(std::span(&label, 1));
  std::vector<std::byte> written;
  SampleEncoder(image_and_class()).append(5, values, written);
  EXPECT_EQ(hex_of(written), hex_of(example));

  EXPECT_TRUE(announces_sample(example));
  EXPECT_EQ(sample_id_in(example), 5u);
  const Schema schema = schema_of(*descriptors_in(example));
  EXPECT_EQ(schema, image_and_class());
  Sample sample;
  SampleParser(schema).parse(example, sample);
  EXPECT_EQ(all_values(sample), "5|ffd8ffd9|0300000000000000");
}

TEST(SampleRecord, every_field_comes_back_with_its_shape_and_items) {
  const SampleParser parser(schema_of(*descriptors_in(as_bytes(made_payload(0)))));
  EXPECT_EQ(parser.schema(), made_schema());
  Sample sample;
  for (const uint64_t i : {5U, 0U, 7U, 3U}) {  // a sample is reused for longer and shorter values
    const MadeSample made(i);
    const std::string payload = made_payload(i);
    parser.parse(as_bytes(payload), sample);
    Sample expected;
    expected.id = i + 100;
    expected.fields = made.values();
    EXPECT_EQ(all_values(sample), all_values(expected)) << i;
  }
  EXPECT_THAT(sample.fields[testing::kMadeBoxes].shape, ElementsAre(0, 4));
}

TEST(SampleRecord, tensors_of_every_type_and_eight_dimensions_come_back) {
  for (size_t type = 0; type < kDTypes; ++type) {
    const auto dtype = static_cast<DType>(type);
    const Schema schema{{{.name = "x",
                          .kind = FieldKind::kTensor,
                          .dtype = dtype,
                          .shape = {1, -1, 1, 1, -1, 1, 1, 2}}}};
    std::vector<std::byte> elements(size_in_bytes(dtype) * 12, std::byte{1});
    std::vector<FieldValue> values(1);
    values[0].bytes = elements;
    values[0].shape = {1, 2, 1, 1, 3, 1, 1, 2};
    std::vector<std::byte> payload;
    SampleEncoder(schema).append(0, values, payload);
    Sample sample;
    SampleParser(schema_of(*descriptors_in(payload))).parse(payload, sample);
    EXPECT_TRUE(std::ranges::equal(sample.fields[0].bytes, elements)) << name_of(dtype);
    EXPECT_EQ(sample.fields[0].shape, values[0].shape);
  }
}

TEST(SampleRecord, cut_anywhere_is_corrupt) {
  const std::string payload = made_payload(5);
  const SampleParser parser(made_schema());
  Sample sample;
  for (size_t size = 0; size < payload.size(); ++size) {
    EXPECT_THROW(parser.parse(as_bytes(payload).first(size), sample), CorruptError) << size;
  }
  const std::string longer = payload + std::string(8, '\0');
  EXPECT_THROW(parser.parse(as_bytes(longer), sample), CorruptError);
}

// Without a checksum, a changed value cannot be told from another sample.
TEST(SampleRecord, with_any_byte_changed_is_an_error_or_a_sample) {
  const std::vector<std::byte> payload = bytes_of_text(made_payload(5));
  const SampleParser parser(made_schema());
  Sample sample;
  size_t refused = 0;
  for (size_t at = 0; at < payload.size(); ++at) {
    for (const int change : {1, 0x80, 0xff}) {
      auto damaged = payload;  // its own memory, so that a sanitizer sees reads beyond it
      damaged[at] ^= static_cast<std::byte>(change);
      try {
        parser.parse(damaged, sample);
      } catch (const CorruptError&) {
        ++refused;
      } catch (const UnsupportedError&) {
        ++refused;
      }
    }
  }
  const size_t described = 3 * (32 + descriptors_of(made_schema()).size() - 8);  // all but the id
  EXPECT_GE(refused, described);
}

// One change of a sound record, and what the reader says about it.
struct ChangedBytes {
  size_t at;
  std::vector<std::byte> bytes;
  const char* expected;
};

template <typename T>
std::vector<std::byte> le_bytes(T value) {
  std::vector<std::byte> bytes;
  append_le(bytes, value);
  return bytes;
}

// Of the page's example: the table is at 80, the values at 96.
TEST(SampleRecord, each_check_says_what_is_wrong) {
  const SampleParser parser(image_and_class());
  Sample sample;
  for (const ChangedBytes& damage : {
           ChangedBytes{0, bytes_of_text("FRS2"), "the record is not a sample record"},
           ChangedBytes{4, le_bytes(uint16_t{3}),
                        "other fields than the file's other records: expected 2 fields, found 3"},
           ChangedBytes{6, le_bytes(uint16_t{1}), "the header of the sample record is invalid"},
           ChangedBytes{8, le_bytes(uint32_t{56}),
                        "the lengths in the sample record's header do not match its length: "
                        "expected 80 bytes after the header, found 56 + 16 + 16"},
           ChangedBytes{24, le_bytes(std::numeric_limits<uint64_t>::max() - 7),
                        "the lengths in the sample record's header"},
           ChangedBytes{33, le_bytes(uint8_t{1}), "the descriptor of field 0 is invalid"},
           ChangedBytes{34, le_bytes(uint8_t{2}), "field 'image' refers to no image"},
           ChangedBytes{
               56, le_bytes(uint8_t{7}),
               "field 'label' has an unknown kind: expected 0 to 3, found 7. Use a newer fuelrail"},
           ChangedBytes{57, le_bytes(uint8_t{13}), "field 'label' has an unknown dtype"},
           ChangedBytes{58, le_bytes(uint8_t{8}), "field 'label' has an unknown role"},
           ChangedBytes{59, le_bytes(uint8_t{64}), "field 'label' has an unknown flag"},
           ChangedBytes{57, le_bytes(uint8_t{7}), "field 'label' does not fit its role"},
           ChangedBytes{65, le_bytes(uint8_t{200}), "the descriptors of the fields are truncated"},
           ChangedBytes{68, bytes_of_text("maske"),
                        "other fields than the file's other records: expected label: tensor int64 "
                        "[], class numbers; no field 'maske', found no field 'label'; maske: "
                        "tensor int64 [], class numbers"},
           ChangedBytes{58, le_bytes(uint8_t{0}),
                        "expected label: tensor int64 [], class numbers, found label: tensor int64 "
                        "[]"},
           ChangedBytes{80, le_bytes(uint64_t{5}), ""},
           ChangedBytes{80, le_bytes(uint64_t{3}),
                        "the padding after the value of field 'image' is not zero"},
           ChangedBytes{80, le_bytes(uint64_t{0}), "the image of field 'image' is empty"},
           ChangedBytes{
               80, le_bytes(std::numeric_limits<uint64_t>::max()),
               "the value of field 'image' ends after the record: expected at most 16 bytes"},
           ChangedBytes{
               88, le_bytes(uint64_t{7}),
               "the value of field 'label' does not fit its shape: expected 8 bytes, found 7"},
           ChangedBytes{101, le_bytes(uint8_t{1}),
                        "the padding after the value of field 'image' is not zero"},
       }) {
    auto damaged = page_example();
    std::ranges::copy(damage.bytes, damaged.begin() + static_cast<int64_t>(damage.at));
    std::string found;
    try {
      parser.parse(damaged, sample);
    } catch (const Error& error) {
      found = error.what();
    }
    EXPECT_THAT(found, HasSubstr(damage.expected)) << damage.at;
    EXPECT_EQ(found.empty(), std::string_view(damage.expected).empty()) << damage.at;
  }
}

TEST(SampleRecord, a_table_or_values_of_the_wrong_length_are_corrupt) {
  const SampleParser parser(image_and_class());
  Sample sample;
  auto damaged = page_example();
  store_le(&damaged[12], uint32_t{8});
  store_le(&damaged[24], uint64_t{24});
  EXPECT_THAT(refusal_of<CorruptError>([&] { parser.parse(damaged, sample); }),
              HasSubstr("the sample record's table ends before the end of field 'label'"));
  damaged = page_example();
  damaged.resize(damaged.size() + 8);
  store_le(&damaged[24], uint64_t{24});
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { parser.parse(damaged, sample); }),
      HasSubstr(
          "the sample record has more bytes than its fields need: found 0 bytes in its table and 8 "
          "after its last value"));
}

// The lengths in a table, which no checksum protects in this test.
TEST(SampleRecord, a_table_that_contradicts_its_values_is_corrupt) {
  const Schema schema{
      {{.name = "texts", .kind = FieldKind::kText, .flags = kListField},
       {.name = "x", .kind = FieldKind::kTensor, .dtype = DType::kUint16, .shape = {-1, 2}}}};
  const std::string item = "abc";
  const std::vector<uint16_t> numbers{1, 2, 3, 4};
  std::vector<FieldValue> values(2);
  values[0].items = {as_bytes(item), as_bytes(item)};
  values[1].bytes = std::as_bytes(std::span(numbers));
  values[1].shape = {2, 2};
  std::vector<std::byte> payload;
  SampleEncoder(schema).append(0, values, payload);
  const SampleParser parser(schema);
  Sample sample;
  parser.parse(payload, sample);
  const size_t table = 32 + descriptors_of(schema).size();
  const auto refusal = [&](size_t word, uint64_t value) {
    auto damaged = payload;
    store_le(damaged.data() + table + word * 8, value);
    return refusal_of<CorruptError>([&] { parser.parse(damaged, sample); });
  };
  EXPECT_THAT(refusal(0, 7), HasSubstr("the items of field 'texts' do not have the length"));
  EXPECT_THAT(refusal(1, 100), HasSubstr("field 'texts' has more items than"));
  EXPECT_THAT(refusal(1, 4), HasSubstr("the items of field 'texts'"));
  EXPECT_THAT(refusal(1, 0), HasSubstr("the items of field 'texts'"));
  EXPECT_THAT(refusal(2, std::numeric_limits<uint64_t>::max()),
              HasSubstr("the items of field 'texts'"));
  EXPECT_THAT(refusal(3, 2), HasSubstr("the items of field 'texts'"));
  EXPECT_THAT(
      refusal(4, 6),
      HasSubstr("the value of field 'x' does not fit its shape: expected 8 bytes, found 6"));
  EXPECT_THAT(refusal(5, 3), HasSubstr("does not fit its shape: expected 12 bytes, found 8"));
  EXPECT_THAT(refusal(5, uint64_t{1} << 30),
              HasSubstr("the value of field 'x' has the wrong shape"));
  EXPECT_THAT(refusal(5, uint64_t{1} << 63),
              HasSubstr("the value of field 'x' has the wrong shape"));
}

TEST(SampleRecord, an_extent_beside_a_zero_is_limited_too) {
  const Schema schema{
      {{.name = "x", .kind = FieldKind::kTensor, .dtype = DType::kUint8, .shape = {-1, -1, -1}}}};
  std::vector<FieldValue> values(1);
  values[0].shape = {0, 3, 5};
  std::vector<std::byte> payload;
  SampleEncoder(schema).append(0, values, payload);
  const SampleParser parser(schema);
  Sample sample;
  parser.parse(payload, sample);
  EXPECT_THAT(sample.fields[0].shape, ElementsAre(0, 3, 5));
  for (const size_t word : {2U, 3U}) {
    store_le(payload.data() + payload.size() - 8 * (4 - word), uint64_t{1} << 20);
  }
  EXPECT_THROW(parser.parse(payload, sample), CorruptError);
}

TEST(SampleRecord, rows_that_differ_are_corrupt) {
  std::string payload = made_payload(5);  // two rows
  Schema unrelated = made_schema();
  for (FieldSpec& field : unrelated.fields) field.rows.reset();
  MadeSample sample(5);
  sample.labels.pop_back();
  payload = testing::encoded(unrelated, sample, 1);
  std::vector<std::byte> descriptors = descriptors_of(made_schema());
  std::ranges::copy(as_text(descriptors), payload.begin() + 32);
  Sample parsed;
  EXPECT_EQ(refusal_of<CorruptError>(
                [&] { SampleParser(made_schema()).parse(as_bytes(payload), parsed); }),
            "fields 'cameras.0.boxes' and 'cameras.0.labels' have different numbers of rows: "
            "expected 2 in both, found 1 in 'cameras.0.labels'. Give each of them one row for each "
            "object, or another group of rows.");
}

// What the encoder says about a sample with one wrong value.
std::string encoder_refusal(
    const std::function<void(MadeSample&, std::vector<FieldValue>&)>& change) {
  MadeSample sample(5);
  std::vector<FieldValue> values = sample.values();
  change(sample, values);
  SampleEncoder encoder(made_schema());
  encoder.limit_labels(testing::kMadeLabels, 2);
  std::vector<std::byte> out;
  const std::string text =
      refusal_of<InvalidArgumentError>([&] { encoder.append(0, values, out); });
  EXPECT_TRUE(out.empty());
  return text;
}

TEST(SampleEncoder, names_the_field_and_the_row_of_a_wrong_value) {
  using Values = std::vector<FieldValue>;
  EXPECT_THAT(
      encoder_refusal([](MadeSample&, Values& v) { v.pop_back(); }),
      HasSubstr("the number of values differs from the number of fields: expected 8, found 7"));
  EXPECT_THAT(encoder_refusal([](MadeSample&, Values& v) { v[testing::kMadeImage].bytes = {}; }),
              HasSubstr("the image of field 'cameras.0.image' is empty"));
  EXPECT_THAT(
      encoder_refusal([](MadeSample& s, Values&) { s.boxes[6] = 0; }),
      HasSubstr("field 'cameras.0.boxes' has a box that is not finite or is inverted: expected "
                "numbers with x1 <= x2 and y1 <= y2, found [1, 1, 0, 4] in row 1"));
  EXPECT_THAT(encoder_refusal([](MadeSample& s, Values&) { s.boxes[0] = NAN; }),
              HasSubstr("found [nan, 0, 2, 3] in row 0"));
  EXPECT_THAT(
      encoder_refusal([](MadeSample& s, Values&) { s.labels[1] = 2; }),
      HasSubstr(
          "field 'cameras.0.labels' has a label that is not one of its classes: expected 0 to 1, "
          "because the number of class names is 2, found 2 in row 1"));
  EXPECT_THAT(encoder_refusal([](MadeSample& s, Values&) { s.labels[0] = -1; }),
              HasSubstr("found -1 in row 0"));
  EXPECT_THAT(
      encoder_refusal([](MadeSample& s, Values& v) {
        v[testing::kMadeLabels].bytes = std::as_bytes(std::span(s.labels)).first(8);
        v[testing::kMadeLabels].shape = {1};
      }),
      HasSubstr("fields 'cameras.0.boxes' and 'cameras.0.labels' have different numbers of rows"));
  EXPECT_THAT(
      encoder_refusal([](MadeSample&, Values& v) {
        v[testing::kMadeBoxes].shape = {4, 2};
      }),
      HasSubstr(
          "the value of field 'cameras.0.boxes' has the wrong shape: expected [-1, 4], at most "
          "2 GiB, found [4, 2]"));
  EXPECT_THAT(encoder_refusal([](MadeSample&, Values& v) {
                v[testing::kMadeBoxes].shape = {3, 4};
              }),
              HasSubstr("the value of field 'cameras.0.boxes' does not fit its shape: expected 48 "
                        "bytes, found 32"));
  EXPECT_THAT(encoder_refusal([](MadeSample&, Values& v) { v[testing::kMadeLabels].shape = {}; }),
              HasSubstr("the value of field 'cameras.0.labels' has the wrong shape"));
  EXPECT_THAT(encoder_refusal([](MadeSample&, Values& v) {
                v[testing::kMadeCaptions].items.push_back(as_bytes("caf\xe9"));
              }),
              HasSubstr("the text of field 'captions' is not UTF-8: found 0xe9 at byte 3"));
}

TEST(SampleEncoder, bools_are_0_or_1_and_widths_are_not_negative) {
  const Schema schema{
      {image_field("image"),
       {.name = "flags", .kind = FieldKind::kTensor, .dtype = DType::kBool, .shape = {3}},
       {.name = "boxes",
        .kind = FieldKind::kTensor,
        .dtype = DType::kFloat64,
        .shape = {-1, 4},
        .role = Role::kBoxes,
        .of = 0,
        .detail = static_cast<uint16_t>(BoxFormat::kXywh)}}};
  std::vector<uint8_t> flags{0, 1, 1};
  std::vector<double> boxes{5, 5, 0, 0};
  std::vector<FieldValue> values(3);
  values[0].bytes = as_bytes("image");
  values[1].bytes = std::as_bytes(std::span(flags));
  values[2].bytes = std::as_bytes(std::span(boxes));
  values[2].shape = {1, 4};
  const SampleEncoder encoder(schema);
  std::vector<std::byte> out;
  const auto append = [&] { encoder.append(0, values, out); };
  EXPECT_NO_THROW(append());
  flags[1] = 2;
  EXPECT_THAT(refusal_of<InvalidArgumentError>(append),
              HasSubstr("field 'flags' has a bool that is neither 0 nor 1: found 2 at element 1"));
  flags[1] = 1;
  boxes[3] = -1;
  EXPECT_THAT(
      refusal_of<InvalidArgumentError>(append),
      HasSubstr(
          "expected numbers with width and height of at least 0, found [5, 5, 0, -1] in row 0"));
  boxes = {1e38, 5, 3e38, 1};
  EXPECT_THAT(refusal_of<InvalidArgumentError>(append),
              HasSubstr("field 'boxes' has a box with a corner that float32 cannot hold: found "
                        "[1e+38, 5, 3e+38, 1] in row 0. Check the format of the boxes"));
  boxes[2] = 2e38;
  EXPECT_NO_THROW(append());
}

TEST(SampleEncoder, a_hundred_thousand_objects_fit) {
  MadeSample made(0);
  for (int64_t row = 0; row < 100'000; ++row) {
    made.boxes.insert(made.boxes.end(), {1, 2, 3, 4});
    made.labels.push_back(row);
  }
  const std::string payload = testing::encoded(made_schema(), made, 0);
  Sample sample;
  SampleParser(made_schema()).parse(as_bytes(payload), sample);
  EXPECT_THAT(sample.fields[testing::kMadeLabels].shape, ElementsAre(100'000));
}

TEST(SampleEncoder, lists_longer_than_the_table_are_refused) {
  const Schema schema{{{.name = "texts", .kind = FieldKind::kText, .flags = kListField}}};
  std::vector<FieldValue> values(1);
  values[0].items.resize((1 << 17) - 2);
  std::vector<std::byte> out;
  SampleEncoder(schema).append(0, values, out);
  Sample sample;
  SampleParser(schema).parse(out, sample);
  EXPECT_EQ(sample.fields[0].items.size(), (1u << 17) - 2);
  values[0].items.emplace_back();
  EXPECT_THROW(SampleEncoder(schema).append(0, values, out), InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail
