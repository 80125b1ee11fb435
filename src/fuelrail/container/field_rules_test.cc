#include "fuelrail/container/field_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/container/sample_record.h"
#include "fuelrail/container/schema_text.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;
using testing::made_schema;

std::string refusal_of_fields(const Schema& schema) {
  return testing::refusal_of<InvalidArgumentError>([&] { check_fields(schema); });
}

Schema named(const std::vector<std::string>& names) {
  Schema schema;
  for (const std::string& name : names) schema.fields.push_back({.name = name});
  return schema;
}

TEST(CheckFields, names_are_paths) {
  for (const auto& names : std::vector<std::vector<std::string>>{{"a"},
                                                                 {"_x-1.b.0.c"},
                                                                 {"a.b", "a.c"},
                                                                 {"a.1", "a.0"},
                                                                 {"A", "a"},
                                                                 {std::string(255, 'n')}}) {
    EXPECT_NO_THROW(check_fields(named(names))) << names[0];
  }
  for (const char* name : {".", "a.", ".a", "a..b", "1a", "-a", "a b", "a.01", "caf\xc3\xa9"}) {
    EXPECT_THAT(refusal_of_fields(named({name})), HasSubstr("the field name '")) << name;
  }
  EXPECT_THAT(
      refusal_of_fields(named({""})),
      HasSubstr("the name of field 0 has an invalid length: expected 1 to 255 bytes, found 0"));
  EXPECT_THAT(
      refusal_of_fields(named({"a", std::string(256, 'n')})),
      HasSubstr("the name of field 1 has an invalid length: expected 1 to 255 bytes, found 256"));
}

TEST(CheckFields, a_path_is_one_field_or_one_group) {
  EXPECT_THAT(refusal_of_fields(named({"a", "b", "a"})), HasSubstr("two fields have the name 'a'"));
  EXPECT_THAT(refusal_of_fields(named({"a.b.c", "a.b"})),
              HasSubstr("'a.b' is both a field and a group: found 'a.b.c'"));
  EXPECT_THAT(refusal_of_fields(named({"a.0", "a.b"})),
              HasSubstr("group 'a' is both a list and a dict"));
  EXPECT_THAT(refusal_of_fields(named({"a.0.x", "a.2.x"})),
              HasSubstr("list 'a' has a gap: expected the numbers 0 to 1, found no number 1"));
}

TEST(CheckFields, one_to_4096_fields_fit) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kMaxFields; ++i) names.push_back("f" + std::to_string(i));
  EXPECT_NO_THROW(descriptors_of(named(names)));
  names.push_back("one_more");
  EXPECT_THAT(refusal_of_fields(named(names)),
              HasSubstr("the number of fields is out of range: expected 1 to 4096, found 4097"));
  EXPECT_THROW(check_fields({}), InvalidArgumentError);
  for (std::string& name : names) name = std::string(255 - name.size(), 'n') + name;
  names.pop_back();
  EXPECT_THAT(testing::refusal_of<InvalidArgumentError>([&] { descriptors_of(named(names)); }),
              HasSubstr("the names and shapes of the fields are too long in total"));
}

// A change of one field of made_schema, and what is said about it.
struct BadField {
  uint16_t field;
  void (*change)(FieldSpec&);
  const char* expected;
};

TEST(CheckFields, what_does_not_fit_names_the_field) {
  EXPECT_NO_THROW(check_fields(made_schema()));
  using namespace testing;
  for (const BadField& bad : {
           BadField{
               kMadeMask, [](FieldSpec& f) { f.of = 2; },
               "field 'cameras.0.mask' refers to a field that is not an image of its own: found "
               "'cameras.0.boxes'. Set `of` to one of the images: cameras.0.image"},
           BadField{kMadeMask, [](FieldSpec& f) { f.of = 8; }, "found field 8 of 8"},
           BadField{
               kMadeMask, [](FieldSpec& f) { f.of.reset(); },
               "field 'cameras.0.mask' refers to no image: expected `of`, the image of the mask"},
           BadField{kMadeImage, [](FieldSpec& f) { f.of = 0; },
                    "refers to a field that is not an image"},
           BadField{kMadeLabel, [](FieldSpec& f) { f.of = 0; },
                    "field 'label' cannot refer to an image"},
           BadField{kMadeLabels, [](FieldSpec& f) { f.rows = 3; }, ""},
           BadField{
               kMadeLabels, [](FieldSpec& f) { f.rows = 7; },
               "the `rows` of field 'cameras.0.labels' is not the first field of a group of rows"},
           BadField{kMadeLabels, [](FieldSpec& f) { f.rows = 0; },
                    "is not the first field of a group"},
           BadField{kMadeLabel, [](FieldSpec& f) { f.rows = 2; },
                    "field 'label' cannot have a row for each object: expected a tensor whose "
                    "first extent "
                    "is -1, found tensor int64 []"},
           BadField{kMadeBoxes, [](FieldSpec& f) { f.dtype = DType::kInt64; },
                    "field 'cameras.0.boxes' does not fit its role: expected a tensor float32 or "
                    "float64 "
                    "[-1, 4], found boxes: tensor int64 [-1, 4]"},
           BadField{kMadeBoxes,
                    [](FieldSpec& f) {
                      f.shape = {-1, 5};
                    },
                    "does not fit its role"},
           BadField{
               kMadeBoxes, [](FieldSpec& f) { f.detail = 3; },
               "the detail of field 'cameras.0.boxes' is out of range: expected 0 to 2, found 3"},
           BadField{kMadeBoxes, [](FieldSpec& f) { f.role = Role::kPoints; },
                    "does not fit its role"},
           BadField{kMadeBoxes, [](FieldSpec& f) { f.flags = kRelative | kPixelCenters; }, ""},
           BadField{kMadeBoxes, [](FieldSpec& f) { f.flags = kListField; },
                    "field 'cameras.0.boxes' has a flag that its kind or role does not have"},
           BadField{kMadeCamera,
                    [](FieldSpec& f) {
                      f.shape = {4, 3};
                    },
                    "does not fit its role"},
           BadField{kMadeImage, [](FieldSpec& f) { f.role = Role::kNone; },
                    "does not fit its role"},
           BadField{kMadeImage, [](FieldSpec& f) { f.flags = kNoColors; }, "has a flag"},
           BadField{kMadeExtra, [](FieldSpec& f) { f.shape = {1}; },
                    "field 'extra' has an invalid shape: expected no shape, because the field is "
                    "not a tensor"},
           BadField{kMadeExtra, [](FieldSpec& f) { f.dtype = DType::kInt8; },
                    "has a dtype, but is not a tensor"},
           BadField{kMadeExtra, [](FieldSpec& f) { f.flags = 64; },
                    "has an unknown kind, dtype, role or flag"},
           BadField{kMadeLabel, [](FieldSpec& f) { f.shape.assign(9, 1); },
                    "expected at most 8 dimensions"},
           BadField{kMadeLabel, [](FieldSpec& f) { f.shape = {-2}; },
                    "expected extents of at least 0"},
           BadField{kMadeLabel,
                    [](FieldSpec& f) {
                      f.shape = {1 << 20, 1 << 20};
                    },
                    "expected at most 2 GiB"},
           BadField{kMadeLabel, [](FieldSpec& f) { f.detail = 1; }, "the detail of field 'label'"},
       }) {
    Schema schema = made_schema();
    bad.change(schema.fields[bad.field]);
    std::string found;
    try {
      check_fields(schema);
    } catch (const InvalidArgumentError& error) {
      found = error.what();
    }
    EXPECT_THAT(found, HasSubstr(bad.expected));
    EXPECT_EQ(found.empty(), std::string_view(bad.expected).empty()) << found;
  }
}

TEST(SchemaDifference, shows_the_fields_that_differ) {
  EXPECT_FALSE(difference(made_schema(), made_schema()));
  Schema other = made_schema();
  other.fields[testing::kMadeBoxes].detail = static_cast<uint16_t>(BoxFormat::kXywh);
  other.fields[testing::kMadeExtra].name = "more";
  const auto differing = difference(made_schema(), other);
  ASSERT_TRUE(differing);
  EXPECT_EQ(differing->expected,
            "cameras.0.boxes: boxes: tensor float32 [-1, 4], of cameras.0.image, rows "
            "cameras.0.boxes, xyxy; "
            "extra: bytes; no field 'more'");
  EXPECT_EQ(differing->found,
            "cameras.0.boxes: boxes: tensor float32 [-1, 4], of cameras.0.image, rows "
            "cameras.0.boxes, xywh; "
            "no field 'extra'; more: bytes");
}

TEST(SchemaDifference, shows_the_order_and_cuts_a_long_list) {
  Schema turned = named({"a", "b"});
  std::swap(turned.fields[0], turned.fields[1]);
  EXPECT_EQ(difference(named({"a", "b"}), turned)->found, "'a' as field 1; 'b' as field 0");
  EXPECT_THAT(difference(named({"a", "b", "c", "d", "e", "f"}), named({"z"}))->expected,
              HasSubstr("; and 3 more"));
}

}  // namespace
}  // namespace fuelrail
