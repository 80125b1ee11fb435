#include "fuelrail/loader/field_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/loader/field_patterns.h"
#include "fuelrail/transform/pixel_buffer.h"

namespace fuelrail {
namespace {

constexpr int64_t kChannels = PixelBuffer::kChannels;
constexpr const char* kEncoded = "encoded";  // the column of the field `image`

struct NamedValue {
  const char* name;
  RowValue value;
  DType dtype;
};
constexpr NamedValue kRowValues[] = {{"id", RowValue::kId, DType::kInt64},
                                     {"index", RowValue::kIndex, DType::kInt64},
                                     {"position", RowValue::kPosition, DType::kInt64},
                                     {"valid", RowValue::kValid, DType::kBool},
                                     {"substituted", RowValue::kSubstituted, DType::kBool}};

bool is_image(const FieldSpec& field) { return field.kind == FieldKind::kImage; }
bool is_leader(const FieldSpec& field) {
  const bool colors = field.role == Role::kNone || field.role == Role::kImage;
  return is_image(field) && colors && !field.of;
}

// The options for one leader.
struct ImageChoice {
  const Transforms& transforms;
  DType dtype;
  ImageLayout layout;
};

ImageChoice choice_for(const FieldSpec& field, const ImageOptions& options) {
  const Transforms* const transforms = value_of(options.transforms_of, field.name);
  const DType* const dtype = value_of(options.dtype_of, field.name);
  const ImageLayout* const layout = value_of(options.layout_of, field.name);
  return {transforms ? *transforms : options.transforms, dtype ? *dtype : options.dtype,
          layout ? *layout : options.layout};
}

uint32_t leader_of(const Schema& schema, size_t field) {
  const auto begin = schema.fields.begin();
  const auto leader = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(field), is_leader);
  if (leader < kMaxLeaders) return static_cast<uint32_t>(leader);
  throw InvalidArgumentError("the dataset has too many image fields",
                             {.expected = fmt::format("at most {}", kMaxLeaders),
                              .found = fmt::format("more ('{}' is image field {})",
                                                   schema.fields[field].name, leader + 1)});
}

FieldProgram image_program(size_t field, const Schema& schema, const ImageOptions& options) {
  const FieldSpec& spec = schema.fields[field];
  if (!is_leader(spec)) {
    throw UnsupportedError(
        "loading the pixels of an image field that refers to another image is "
        "not supported",
        {.found = fmt::format("'{}' ({})", spec.name, describe(spec))});
  }
  const auto& [transforms, dtype, layout] = choice_for(spec, options);
  const uint32_t leader = leader_of(schema, field);
  const std::optional<Size> fixed = output_size(transforms);
  const bool list = spec.has(kListField);
  const Size size = fixed.value_or(Size{-1, -1});
  std::vector<int64_t> shape{size.height, size.width, kChannels};
  if (layout == ImageLayout::kNchw) shape = {kChannels, size.height, size.width};
  if (list && fixed) shape.insert(shape.begin(), -1);
  ColumnSpec column{.name = spec.name,
                    .dtype = dtype,
                    .row_shape = std::move(shape),
                    .content = Content::kPixels,
                    .list = list && !fixed};
  ImageProgram program{.field = field,
                       .leader = leader,
                       .transforms = transforms,
                       .writer = PixelWriter({dtype, layout, normalization(transforms)}),
                       .dtype = dtype,
                       .layout = layout,
                       .orientation = options.orientation,
                       .scaled_decode = options.scaled_decode,
                       .max_pixels = options.max_pixels,
                       .list = list,
                       .fixed = fixed};
  return {std::move(column), std::move(program)};
}

FieldProgram bytes_program(size_t field, const FieldSpec& spec) {
  const bool list = spec.has(kListField);
  return {{.name = spec.name,
           .dtype = DType::kUint8,
           .row_shape = {-1},
           .content = spec.kind == FieldKind::kText ? Content::kText : Content::kBytes,
           .list = list},
          BytesCopy{field, list}};
}

// Requires: `name` is a column of select_columns.
FieldProgram program_of(const std::string& name, const Schema& schema,
                        const ImageOptions& options) {
  for (const NamedValue& own : kRowValues) {
    if (name == own.name) return {{name, own.dtype, {}}, own.value};
  }
  if (name == kEncoded) {
    return {{.name = name, .dtype = DType::kUint8, .row_shape = {-1}, .content = Content::kBytes},
            EncodedCopy{schema.index_of("image")}};
  }
  for (size_t field = 0; field < schema.fields.size(); ++field) {
    const FieldSpec& spec = schema.fields[field];
    if (is_image(spec) && name == size_column(spec.name)) {
      return {{name, DType::kInt64, {2}},
              ImageSize{field, options.orientation, options.max_pixels}};
    }
  }
  const size_t field = schema.index_of(name);
  const FieldSpec& spec = schema.fields[field];
  if (is_image(spec)) return image_program(field, schema, options);
  if (spec.kind != FieldKind::kTensor) return bytes_program(field, spec);
  return {{name, spec.dtype, spec.shape}, TensorCopy{field}};
}

bool has_numbers(const FieldSpec& field) {
  return field.kind == FieldKind::kTensor || is_image(field);
}

// The form of a ragged column.
Ragged form_of(const ColumnSpec& column, const ImageOptions& options) {
  const bool numbers = column.content == Content::kNumbers || column.content == Content::kPixels;
  if (!numbers || !column.ragged() || column.list) return Ragged::kList;
  const Ragged* const named = value_of(options.ragged_of, column.name);
  const Ragged form = named ? *named : options.ragged;
  const bool packable =
      std::find(column.row_shape.begin() + 1, column.row_shape.end(), -1) == column.row_shape.end();
  if (form != Ragged::kPacked || packable) return form;
  if (!named) return Ragged::kList;
  throw InvalidArgumentError(
      fmt::format("the column '{}' cannot be packed", column.name),
      {.expected = "rows that differ only in their first dimension",
       .found = fmt::format("rows of shape ({})", fmt::join(column.row_shape, ", ")),
       .remedy = "Set `ragged` to \"list\" or \"pad\" for this field"});
}

// The remedy for transforms on records that are bytes.
std::string without_images() {
  std::string remedy = "Omit `transforms`, and decode the bytes in `batch_transforms`";
  for (const FileFormat* format : all_formats()) {
    const auto& [name, meaning, reader] = format->schema;
    if (!name.empty()) remedy += fmt::format("; or open {} with `schema` '{}'", meaning, name);
  }
  return remedy;
}

void check_images(const Schema& schema, const ImageOptions& options) {
  check(options.transforms);
  for (const auto& [pattern, transforms] : options.transforms_of) check(transforms);
  ImageOptions::table().check(options);
  check_patterns("transforms", patterns_of(options.transforms_of), schema, is_leader, "image");
  check_patterns("dtype", patterns_of(options.dtype_of), schema, is_image, "image");
  check_patterns("layout", patterns_of(options.layout_of), schema, is_image, "image");
  check_patterns("ragged", patterns_of(options.ragged_of), schema, has_numbers,
                 "field of numbers or images");
  for (const FieldSpec& field : schema.fields) {
    if (!is_leader(field)) continue;
    const auto& [transforms, dtype, layout] = choice_for(field, options);
    check(PixelFormat{dtype, layout, normalization(transforms)});
  }
  if (options.transforms.empty() || std::ranges::any_of(schema.fields, is_image)) return;
  throw InvalidArgumentError("`transforms` must be empty, because the dataset has no image field",
                             {.expected = "no transforms",
                              .found = fmt::format("{}", options.transforms.size()),
                              .remedy = without_images()});
}

}  // namespace

std::vector<FieldProgram> field_programs(const Schema& schema, const ImageOptions& options) {
  check_images(schema, options);
  std::vector<FieldProgram> programs;
  for (const std::string& name : select_columns(schema, options.fields, own_columns(schema))) {
    programs.push_back(program_of(name, schema, options));
    ColumnSpec& column = programs.back().column;
    column.as = form_of(column, options);
  }
  return programs;
}

std::vector<std::string> own_columns(const Schema& schema) {
  std::vector<std::string> names;
  const bool image = std::ranges::any_of(schema.fields, [](const FieldSpec& field) {
    return field.name == "image" && is_image(field) && !field.has(kListField);
  });
  if (image) names.emplace_back(kEncoded);
  for (const NamedValue& own : kRowValues) names.emplace_back(own.name);
  return names;
}

}  // namespace fuelrail
