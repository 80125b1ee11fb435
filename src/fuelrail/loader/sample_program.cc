#include "fuelrail/loader/sample_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/half.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/loader/field_patterns.h"
#include "fuelrail/loader/program_leaders.h"
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
bool is_map(const FieldSpec& field) { return field.role == Role::kMap; }
bool has_pixels(const FieldSpec& field) { return is_image(field) || is_map(field); }

template <typename Value>
Value choice(const FieldSpec& field, const ByPattern<Value>& patterns, Value otherwise) {
  const Value* const value = value_of(patterns, field.name);
  return value ? *value : otherwise;
}

// Builds the programs of the columns, and those of the leaders and objects that they need.
class ProgramBuilder {
 public:
  ProgramBuilder(const Schema& schema, const ImageOptions& options, const FirstImage& first_image)
      : schema_(schema), options_(options), first_image_(first_image), leaders_(schema, options) {}

  SampleProgram build() {
    for (const std::string& name : select_columns(schema_, options_.fields, own_columns(schema_))) {
      columns_.push_back(column_named(name));
      ColumnSpec& column = columns_.back().column;
      column.as = ragged_form(column);
    }
    SampleProgram program = leaders_.finish();
    program.columns = std::move(columns_);
    return program;
  }

 private:
  // Requires: `name` is a column of select_columns.
  ColumnProgram column_named(const std::string& name) {
    const std::string_view own_name = schema_.has(name) ? "" : own_column(name);
    for (const NamedValue& own : kRowValues) {
      if (own_name == own.name) return {{name, own.dtype, {}}, own.value};
    }
    if (own_name == kEncoded) {
      return {{.name = name, .dtype = DType::kUint8, .row_shape = {-1}, .content = Content::kBytes},
              EncodedCopy{schema_.index_of("image")}};
    }
    for (size_t field = 0; field < schema_.fields.size(); ++field) {
      const FieldSpec& spec = schema_.fields[field];
      if (spec.name.size() >= name.size() || !is_image(spec)) continue;
      if (name == size_column(spec.name)) {
        return {{name, DType::kInt64, {2}}, ImageSize{field}};
      }
      if (name == affine_column(spec.name)) {
        return {{name, DType::kFloat64, {2, 3}}, AffineRows{leaders_.followed(field)}};
      }
    }
    return column_of(schema_.index_of(name));
  }

  ColumnProgram column_of(size_t field) {
    const FieldSpec& spec = schema_.fields[field];
    switch (spec.role) {
      case Role::kMask:
        return mask(field, spec);
      case Role::kMap:
        return map(field, spec);
      case Role::kBoxes:
        return boxes(field, spec);
      case Role::kPoints:
        return points(field, spec);
      case Role::kCamera:
        return {{spec.name, spec.dtype, spec.shape}, MovedCamera{field, leaders_.leader_of(spec)}};
      case Role::kNone:
      case Role::kImage:
      case Role::kLabel:
        break;
    }
    if (is_image(spec)) return spec.of ? partner(field, spec) : leader(field, spec);
    if (spec.kind != FieldKind::kTensor) return bytes(field, spec);
    if (const auto objects = leaders_.objects_of(field)) {
      return {{spec.name, spec.dtype, spec.shape}, KeptRows{field, *objects}};
    }
    return {{spec.name, spec.dtype, spec.shape}, TensorCopy{field}};
  }

  PixelColumn pixels(const FieldSpec& spec, size_t leader, bool normalized) const {
    const Transforms& transforms = leaders_.transforms_of(leader);
    const DType dtype = choice(spec, options_.dtype_of, options_.dtype);
    const ImageLayout layout = choice(spec, options_.layout_of, options_.layout);
    const PixelFormat format{dtype, layout, normalized ? normalization(transforms) : std::nullopt};
    check(format);
    return {PixelWriter(format), dtype, layout, output_size(transforms)};
  }

  static ColumnSpec image_column(const FieldSpec& spec, const PixelColumn& pixels, bool list) {
    const Size size = pixels.fixed.value_or(Size{-1, -1});
    const auto extents = image_shape(pixels.layout, size, kChannels);
    std::vector<int64_t> shape(extents.begin(), extents.end());
    if (list && pixels.fixed) shape.insert(shape.begin(), -1);
    return {.name = spec.name,
            .dtype = pixels.dtype,
            .row_shape = std::move(shape),
            .content = Content::kPixels,
            .list = list && !pixels.fixed};
  }

  ColumnProgram leader(size_t field, const FieldSpec& spec) {
    const bool list = spec.has(kListField);
    const size_t leader = leaders_.leader(field);
    PixelColumn written = pixels(spec, leader, true);
    return {image_column(spec, written, list), LeaderPixels{leader, std::move(written), list}};
  }

  ColumnProgram partner(size_t field, const FieldSpec& spec) {
    require_no_list(spec);
    const bool colors = !spec.has(kNoColors);
    const size_t leader = leaders_.leader_of(spec);
    PixelColumn written = pixels(spec, leader, colors);
    return {image_column(spec, written, false),
            PartnerPixels{field, leader, colors ? Follower::kPartner : Follower::kUncoloredPartner,
                          std::move(written)}};
  }

  ColumnProgram mask(size_t field, const FieldSpec& spec) {
    require_no_list(spec);
    const size_t leader = leaders_.leader_of(spec);
    const std::optional<Size> fixed = output_size(leaders_.transforms_of(leader));
    const Size size = fixed.value_or(Size{-1, -1});
    const DType dtype = mask_dtype(field, spec);
    if (dtype == DType::kUint8 && spec.detail > UINT8_MAX) {
      throw InvalidArgumentError(
          fmt::format("the `fill` of the mask '{}' does not fit its column", spec.name),
          {.expected = "at most 255, because the column is uint8",
           .found = fmt::format("{}", spec.detail),
           .remedy = fmt::format("Set a wider type: dtype={{\"{}\": \"int64\"}}", spec.name)});
    }
    return {{.name = spec.name, .dtype = dtype, .row_shape = {size.height, size.width}},
            MaskValues{.field = field,
                       .leader = leader,
                       .encoding = encoding_of(spec),
                       .fill = spec.detail,
                       .dtype = dtype,
                       .fixed = fixed.has_value()}};
  }

  static ValueEncoding encoding_of(const FieldSpec& spec) {
    return spec.has(kRgbMask) ? ValueEncoding::kRgb : ValueEncoding::kStored;
  }

  // The type that the options name, else that of the first record's mask.
  DType mask_dtype(size_t field, const FieldSpec& spec) const {
    if (const DType* const named = value_of(options_.dtype_of, spec.name)) {
      constexpr DType kAllowed[] = {DType::kUint8, DType::kUint16, DType::kInt32, DType::kInt64};
      const bool narrow = spec.has(kRgbMask) && size_in_bytes(*named) < sizeof(int32_t);
      if (std::ranges::find(kAllowed, *named) != std::end(kAllowed) && !narrow) return *named;
      refuse_dtype(spec, *named,
                   spec.has(kRgbMask) ? "int32 or int64" : "uint8, uint16, int32 or int64");
    }
    if (spec.has(kRgbMask)) return DType::kInt32;
    const std::optional<ImageInfo> first = first_info(field);
    const bool numbers = first && first->values && *first->values != DType::kFloat32;
    return numbers ? *first->values : DType::kUint8;
  }

  [[noreturn]] static void refuse_dtype(const FieldSpec& spec, DType dtype,
                                        const std::string& allowed) {
    throw InvalidArgumentError(
        fmt::format("`dtype` of the {} '{}' is invalid", name_of(spec.role), spec.name),
        {.expected = allowed, .found = name_of(dtype)});
  }

  ColumnProgram map(size_t field, const FieldSpec& spec) {
    require_no_list(spec);
    const DType* const dtype = value_of(options_.dtype_of, spec.name);
    if (dtype && *dtype != DType::kFloat32) refuse_dtype(spec, *dtype, "float32");
    const size_t leader = leaders_.leader_of(spec);
    const std::optional<Size> fixed = output_size(leaders_.transforms_of(leader));
    const int64_t channels = channels_of(field, spec);
    const ImageLayout layout = choice(spec, options_.layout_of, options_.layout);
    const auto shape = image_shape(layout, fixed.value_or(Size{-1, -1}), channels);
    return {{.name = spec.name,
             .dtype = DType::kFloat32,
             .row_shape = {shape.begin(), shape.end()},
             .content = Content::kPixels},
            MapValues{.field = field,
                      .leader = leader,
                      .vectors = channels != 1 && !spec.has(kNoVectors),
                      .fill = from_half(spec.detail),
                      .channels = channels,
                      .layout = layout,
                      .fixed = fixed.has_value() && channels >= 0}};
  }

  int64_t channels_of(size_t field, const FieldSpec& spec) const {
    if (spec.kind == FieldKind::kTensor) return spec.shape.size() == 3 ? spec.shape[2] : 1;
    const std::optional<ImageInfo> first = first_info(field);
    return first && first->values && !first->palette ? first->channels : 1;
  }

  std::optional<ImageInfo> first_info(size_t field) const {
    return first_image_ ? first_image_(field) : std::nullopt;
  }

  ColumnProgram boxes(size_t field, const FieldSpec& spec) {
    const size_t boxes = leaders_.boxes(field);
    MovedBoxes moved{.boxes = boxes,
                     .objects = leaders_.objects_of(field).value(),
                     .format = static_cast<BoxFormat>(spec.detail),
                     .form = {.pixel_centers = spec.has(kPixelCenters)}};
    if (options_.boxes) {
      moved.format = options_.boxes->format;
      moved.form.relative = options_.boxes->relative;
    }
    return {{spec.name, spec.dtype, spec.shape}, moved};
  }

  ColumnProgram points(size_t field, const FieldSpec& spec) {
    return {{spec.name, spec.dtype, spec.shape},
            MovedPoints{leaders_.points(field), leaders_.objects_of(field)}};
  }

  static ColumnProgram bytes(size_t field, const FieldSpec& spec) {
    const bool list = spec.has(kListField);
    return {{.name = spec.name,
             .dtype = DType::kUint8,
             .row_shape = {-1},
             .content = spec.kind == FieldKind::kText ? Content::kText : Content::kBytes,
             .list = list},
            BytesCopy{field, list}};
  }

  static void require_no_list(const FieldSpec& spec) {
    if (!spec.has(kListField)) return;
    throw UnsupportedError("a list of images that move with another image cannot be loaded",
                           {.found = fmt::format("'{}' ({})", spec.name, describe(spec)),
                            .remedy = "Select the other fields with `fields`"});
  }

  // The form of a ragged column.
  Ragged ragged_form(const ColumnSpec& column) const {
    const bool numbers = column.content == Content::kNumbers || column.content == Content::kPixels;
    if (!numbers || !column.ragged() || column.list) return Ragged::kList;
    const Ragged* const named = value_of(options_.ragged_of, column.name);
    const Ragged form = named ? *named : options_.ragged;
    const auto& shape = column.row_shape;
    const bool packable = std::find(shape.begin() + 1, shape.end(), -1) == shape.end();
    if (form != Ragged::kPacked || packable) return form;
    if (!named) return Ragged::kList;
    throw InvalidArgumentError(fmt::format("the column '{}' cannot be packed", column.name),
                               {.expected = "rows that differ only in their first dimension",
                                .found = fmt::format("rows of shape ({})", fmt::join(shape, ", ")),
                                .remedy = "Set `ragged` to \"list\" or \"pad\" for this field"});
  }

  const Schema& schema_;
  const ImageOptions& options_;
  const FirstImage& first_image_;
  ProgramLeaders leaders_;
  std::vector<ColumnProgram> columns_;
};

bool has_numbers(const FieldSpec& field) {
  return field.kind == FieldKind::kTensor || is_image(field);
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

void check_options(const Schema& schema, const ImageOptions& options) {
  check(options.transforms);
  for (const auto& [pattern, transforms] : options.transforms_of) check(transforms);
  ImageOptions::table().check(options);
  check_patterns("transforms", patterns_of(options.transforms_of), schema, &FieldSpec::leads,
                 "image");
  check_patterns("dtype", patterns_of(options.dtype_of), schema, has_pixels, "image, mask or map");
  check_patterns(
      "layout", patterns_of(options.layout_of), schema,
      [](const FieldSpec& field) { return field.has_colors() || is_map(field); }, "image or map");
  check_patterns("ragged", patterns_of(options.ragged_of), schema, has_numbers,
                 "field of numbers or images");
  for (const FieldSpec& field : schema.fields) {
    if (!field.leads()) continue;
    check(PixelFormat{choice(field, options.dtype_of, options.dtype),
                      choice(field, options.layout_of, options.layout),
                      normalization(transforms_for(field, options))});
  }
  if (options.transforms.empty() || std::ranges::any_of(schema.fields, is_image)) return;
  throw InvalidArgumentError("`transforms` must be empty, because the dataset has no image field",
                             {.expected = "no transforms",
                              .found = fmt::format("{}", options.transforms.size()),
                              .remedy = without_images()});
}

}  // namespace

std::array<int64_t, 3> image_shape(ImageLayout layout, Size size, int64_t channels) {
  if (layout == ImageLayout::kNchw) return {channels, size.height, size.width};
  return {size.height, size.width, channels};
}

SampleProgram sample_program(const Schema& schema, const ImageOptions& options,
                             const FirstImage& first_image) {
  check_options(schema, options);
  return ProgramBuilder(schema, options, first_image).build();
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
