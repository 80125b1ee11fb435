#include "fuelrail/loader/field_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/transform/pixel_buffer.h"

namespace fuelrail {
namespace {

constexpr int64_t kChannels = PixelBuffer::kChannels;

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

uint32_t leader_of(const Schema& schema, size_t field) {
  const auto begin = schema.fields.begin();
  const auto leader = std::count_if(begin, begin + static_cast<std::ptrdiff_t>(field), is_image);
  if (leader < kMaxLeaders) return static_cast<uint32_t>(leader);
  throw InvalidArgumentError("the dataset has too many image fields",
                             {.expected = fmt::format("at most {}", kMaxLeaders),
                              .found = fmt::format("more ('{}' is image field {})",
                                                   schema.fields[field].name, leader + 1)});
}

FieldProgram image_program(const std::string& name, size_t field, const Schema& schema,
                           const ImageOptions& options) {
  const Size size = output_size(options.transforms).value_or(Size{-1, -1});
  std::vector<int64_t> shape{size.height, size.width, kChannels};
  if (options.layout == ImageLayout::kNchw) shape = {kChannels, size.height, size.width};
  return {{name, options.dtype, std::move(shape)},
          ImageProgram{.field = field,
                       .leader = leader_of(schema, field),
                       .transforms = options.transforms,
                       .writer = PixelWriter(
                           {options.dtype, options.layout, normalization(options.transforms)}),
                       .layout = options.layout,
                       .orientation = options.orientation,
                       .scaled_decode = options.scaled_decode,
                       .max_pixels = options.max_pixels}};
}

// `name` is one of the loader's own fields, or else a field of the dataset.
FieldProgram program_of(const std::string& name, const Schema& schema,
                        const ImageOptions& options) {
  std::vector<std::string> known;
  for (const FieldSpec& field : schema.fields) known.push_back(field.name);
  if (schema.has("image")) known.push_back("encoded");
  for (const NamedValue& own : kRowValues) {
    if (name == own.name) return {{name, own.dtype, {}}, own.value};
    known.push_back(own.name);
  }
  if (name == "encoded" && schema.has("image")) {
    return {{name, DType::kUint8, {-1}}, EncodedCopy{schema.index_of("image")}};
  }
  if (!schema.has(name)) {
    throw InvalidArgumentError("`fields` contains an unknown name",
                               {.found = "'" + name + "'", .remedy = suggest(name, known)});
  }
  const size_t field = schema.index_of(name);
  const FieldSpec& spec = schema.fields[field];
  if (is_image(spec)) return image_program(name, field, schema, options);
  if (spec.kind == FieldKind::kBytes) return {{name, DType::kUint8, {-1}}, BytesCopy{field}};
  return {{name, spec.dtype, spec.shape}, TensorCopy{field}};
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
  check(PixelFormat{options.dtype, options.layout, normalization(options.transforms)});
  ImageOptions::table().check(options);
  if (options.transforms.empty() || std::ranges::any_of(schema.fields, is_image)) return;
  throw InvalidArgumentError("`transforms` must be empty, because the dataset has no image field",
                             {.expected = "no transforms",
                              .found = fmt::format("{}", options.transforms.size()),
                              .remedy = without_images()});
}

}  // namespace

std::vector<FieldProgram> field_programs(const Schema& schema, const ImageOptions& options) {
  check_images(schema, options);
  if (options.fields.empty()) {
    throw InvalidArgumentError(
        "`fields` is empty",
        {.remedy = "Name at least one of: image, encoded, label, id, index, position, valid, "
                   "substituted"});
  }
  std::vector<FieldProgram> programs;
  for (const std::string& name : options.fields) {
    programs.push_back(program_of(name, schema, options));
  }
  return programs;
}

}  // namespace fuelrail
