#include "fuelrail/loader/field_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/loader/sample_program.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal_of;

Schema two_cameras() {
  Schema schema;
  for (const std::string camera : {"cameras.0", "cameras.1"}) {
    schema.fields.push_back(image_field(camera + ".image"));
    schema.fields.push_back({.name = camera + ".boxes",
                             .kind = FieldKind::kTensor,
                             .dtype = DType::kFloat32,
                             .shape = {-1, 4}});
  }
  schema.fields.push_back({.name = "caption", .kind = FieldKind::kText});
  return schema;
}

std::vector<std::string> selected(const std::vector<std::string>& fields) {
  const Schema schema = two_cameras();
  return select_columns(schema, fields, own_columns(schema));
}

std::string refusal(const std::vector<std::string>& fields) {
  return refusal_of<InvalidArgumentError>([&] { selected(fields); });
}

TEST(FieldPatterns, a_star_stands_for_any_characters) {
  for (const char* pattern : {"cameras.0.image", "cameras.*.image", "*", "*.image", "c*a*e", "**",
                              "cameras.0.image*", "*cameras*0*image*"}) {
    EXPECT_TRUE(matches(pattern, "cameras.0.image")) << pattern;
  }
  for (const char* pattern : {"", "cameras", "cameras.*.boxes", "image", "*.imag",
                              "cameras.0.image.*", "*x*", "cameras.0.imag?"}) {
    EXPECT_FALSE(matches(pattern, "cameras.0.image")) << pattern;
  }
  EXPECT_TRUE(matches("a*ab*b", "aabab.ab.abb"));
  EXPECT_TRUE(matches("", ""));
}

TEST(FieldPatterns, names_groups_and_patterns_select_columns_in_the_schemas_order) {
  EXPECT_THAT(selected({"caption", "cameras.1", "id"}),
              ElementsAre("caption", "cameras.1.image", "cameras.1.boxes", "id"));
  EXPECT_THAT(
      selected({"*.boxes", "cameras.*.image"}),
      ElementsAre("cameras.0.boxes", "cameras.1.boxes", "cameras.0.image", "cameras.1.image"));
  EXPECT_THAT(selected({"cameras.*.image.size", "cameras.0.image"}),
              ElementsAre("cameras.0.image.size", "cameras.1.image.size", "cameras.0.image"));
  EXPECT_THAT(selected({"*"}), ElementsAre("cameras.0.image", "cameras.0.boxes", "cameras.1.image",
                                           "cameras.1.boxes", "caption"));
}

TEST(FieldPatterns, fields_that_select_nothing_or_a_column_twice_are_refused) {
  EXPECT_THAT(refusal({}),
              HasSubstr("`fields` is empty. Name at least one of: cameras.0.image, "
                        "cameras.0.boxes, cameras.1.image, cameras.1.boxes, caption, cameras, "
                        "cameras.0, cameras.1, id, index, position, valid, substituted."));
  EXPECT_THAT(refusal({"captoin"}),
              HasSubstr("unknown name: found 'captoin'. Did you mean 'caption'?"));
  EXPECT_THAT(refusal({"camera"}), HasSubstr("Did you mean 'cameras'?"));
  EXPECT_THAT(refusal({"camera.*.image"}),
              HasSubstr("a pattern of `fields` matches no field: found 'camera.*.image'. Did you "
                        "mean 'cameras.0.image'?"));
  EXPECT_THAT(refusal({"cameras.0", "*.image"}),
              HasSubstr("`fields` selects 'cameras.0.image' twice: found '*.image' after another"));
  EXPECT_THAT(refusal({"caption.size"}), HasSubstr("unknown name"));
}

TEST(FieldPatterns, a_field_comes_before_a_column_of_the_loader_with_its_name) {
  const Schema schema{{label_field("id"), image_field("index.image"), label_field("label")}};
  const auto select = [&](const std::vector<std::string>& fields) {
    return select_columns(schema, fields, own_columns(schema));
  };
  EXPECT_THAT(select({"*"}), ElementsAre("id", "index.image", "label"));
  EXPECT_THAT(
      select({"index", "id", "loader:id", "loader:index", "valid", "loader:valid"}),
      ElementsAre("index.image", "id", "loader:id", "loader:index", "valid", "loader:valid"));
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { select({"loader:label"}); }),
              HasSubstr("unknown name: found 'loader:label'"));
  ImageOptions options;
  options.fields = {"id", "loader:id"};
  const std::vector<ColumnProgram> programs = sample_program(schema, options).columns;
  EXPECT_TRUE(std::holds_alternative<TensorCopy>(programs[0].source));
  EXPECT_TRUE(std::holds_alternative<RowValue>(programs[1].source));
}

ImageOptions with(const std::vector<std::string>& fields) {
  ImageOptions options;
  options.fields = fields;
  return options;
}

TEST(FieldPatterns, options_by_pattern_apply_to_the_fields_that_match) {
  ImageOptions options = with({"*"});
  options.transforms = {CenterCrop{.size = {5, 6}}};
  options.transforms_of = {{"cameras.1.*", {Resize{.size = {7, 8}}}}};
  options.dtype_of = {{"cameras.0.image", DType::kUint8}};
  options.layout_of = {{"*.0.image", ImageLayout::kNhwc}};
  options.ragged_of = {{"*.1.boxes", Ragged::kPacked}};
  options.ragged = Ragged::kPad;
  const std::vector<ColumnProgram> programs = sample_program(two_cameras(), options).columns;
  ASSERT_EQ(programs.size(), 5u);
  EXPECT_THAT(programs[0].column.row_shape, ElementsAre(5, 6, 3));
  EXPECT_EQ(programs[0].column.dtype, DType::kUint8);
  EXPECT_THAT(programs[2].column.row_shape, ElementsAre(3, 7, 8));
  EXPECT_EQ(programs[2].column.dtype, DType::kFloat32);
  EXPECT_EQ(programs[1].column.as, Ragged::kPad);
  EXPECT_EQ(programs[3].column.as, Ragged::kPacked);
  EXPECT_EQ(programs[4].column.content, Content::kText);
  EXPECT_FALSE(programs[4].column.joined());
}

TEST(FieldPatterns, a_pattern_of_an_option_must_fit_a_field_and_no_other_pattern_its_fields) {
  const auto refused = [](const auto& change) {
    ImageOptions options = with({"*"});
    change(options);
    return refusal_of<InvalidArgumentError>([&] { sample_program(two_cameras(), options); });
  };
  const Transforms flip{HorizontalFlip{}};
  EXPECT_THAT(refused([&](ImageOptions& o) {
                o.transforms_of = {{"camera.*.image", flip}};
              }),
              HasSubstr("a pattern of `transforms` matches no field: found 'camera.*.image'. Did "
                        "you mean 'cameras.0.image'?"));
  EXPECT_THAT(
      refused([&](ImageOptions& o) {
        o.transforms_of = {{"*.boxes", flip}};
      }),
      HasSubstr("a pattern of `transforms` matches no image: found '*.boxes', which matches "
                "'cameras.0.boxes' (tensor float32 [-1, 4])"));
  EXPECT_THAT(refused([&](ImageOptions& o) {
                o.transforms_of = {{"cameras.1.*", flip}, {"*.image", flip}};
              }),
              HasSubstr("two patterns of `transforms` match the field 'cameras.1.image': found "
                        "'cameras.1.*' and '*.image'"));
  EXPECT_THAT(refused([](ImageOptions& o) {
                o.dtype_of = {{"caption", DType::kUint8}};
              }),
              HasSubstr("a pattern of `dtype` matches no image"));
  EXPECT_THAT(refused([](ImageOptions& o) {
                o.layout_of = {{"x", ImageLayout::kNhwc}};
              }),
              HasSubstr("a pattern of `layout` matches no field"));
  EXPECT_THAT(refused([](ImageOptions& o) {
                o.ragged_of = {{"caption", Ragged::kPad}};
              }),
              HasSubstr("a pattern of `ragged` matches no field of numbers or images"));
  EXPECT_THAT(refused([](ImageOptions& o) {
                o.ragged_of = {{"*.image", Ragged::kPacked}};
              }),
              HasSubstr("the column 'cameras.0.image' cannot be packed: expected rows that differ "
                        "only in their first dimension, found rows of shape (3, -1, -1)"));
}

TEST(FieldPatterns, one_word_packs_the_columns_that_can_be_packed) {
  ImageOptions options = with({"cameras.0"});
  options.ragged = Ragged::kPacked;
  const std::vector<ColumnProgram> programs = sample_program(two_cameras(), options).columns;
  EXPECT_EQ(programs[0].column.as, Ragged::kList);
  EXPECT_EQ(programs[1].column.as, Ragged::kPacked);
}

}  // namespace
}  // namespace fuelrail
