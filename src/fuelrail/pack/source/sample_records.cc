#include "fuelrail/pack/source/sample_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/encode/png_encoder.h"
#include "fuelrail/pack/source/source_values.h"

namespace fuelrail::pack {
namespace {

constexpr uint64_t kRoomBytes = 128;  // for a field in the record, besides its value; a guess
constexpr const char* kLabelName = "label";  // its class names are those of the file

void encode_pixels(SourceValue& value) {
  const auto row_bytes = value.pixels.width * static_cast<int64_t>(value.pixel_bytes);
  std::vector<std::byte> png;
  encode_values_png({.data = value.bytes.data(),
                     .height = value.pixels.height,
                     .width = value.pixels.width,
                     .dtype = value.pixel_bytes == 2 ? DType::kUint16 : DType::kUint8,
                     .row_stride_bytes = row_bytes},
                    png);
  value.bytes = std::move(png);
  value.pixel_bytes = 0;
}

FieldValue field_value(const FieldSpec& field, const SourceValue& value) {
  FieldValue stored;
  if (field.has(kListField)) {
    stored.items.assign(value.items.begin(), value.items.end());
  } else {
    stored.bytes = value.bytes;
    stored.shape = value.shape;
  }
  return stored;
}

// Errors: CorruptError that names the field and the image's file, also for a mask or map without
// values.
ImageInfo probe_in(const FieldSpec& field, Bytes image, const std::string& file) {
  try {
    const ImageInfo info = probe(EncodedImage(image));
    if (field.role == Role::kMask) {
      check_mask(info, field.has(kRgbMask) ? ValueEncoding::kRgb : ValueEncoding::kStored);
    }
    if (field.role == Role::kMap) value_layout(info, ValueEncoding::kStored);
    return info;
  } catch (const MissingCodecError&) {
    throw;
  } catch (const Error& error) {
    throw CorruptError(
        fmt::format("the image of field '{}' cannot be read ({})", field.name, error.what()),
        {.path = file});
  }
}

std::string size_text(Size size) {
  return fmt::format("{} x {} (height x width)", size.height, size.width);
}

// x1, y1, x2, y2.
using Corners = std::array<double, 4>;

Corners corners_of(BoxFormat format, const Corners& box) {
  const auto [x, y, third, fourth] = box;
  switch (format) {
    case BoxFormat::kXyxy:
      return box;
    case BoxFormat::kXywh:
      return {x, y, x + third, y + fourth};
    case BoxFormat::kCxcywh:
      return {x - third / 2, y - fourth / 2, x + third / 2, y + fourth / 2};
  }
  return box;
}

Corners box_at(const SourceValue& boxes, DType dtype, size_t row) {
  Corners box{};
  for (size_t k = 0; k < box.size(); ++k) {
    const std::byte* const at = boxes.bytes.data() + (row * box.size() + k) * size_in_bytes(dtype);
    if (dtype == DType::kFloat64) {
      std::memcpy(&box[k], at, sizeof(double));
    } else {
      float value;
      std::memcpy(&value, at, sizeof value);
      box[k] = value;
    }
  }
  return box;
}

bool is_far_outside_of(const Corners& box, double height, double width) {
  return box[0] < -width || box[1] < -height || box[2] > 2 * width || box[3] > 2 * height;
}

}  // namespace

void SampleRecords::Tally::add(uint64_t sample) {
  ++count_;
  uint64_t first = first_;
  while (sample < first && !first_.compare_exchange_weak(first, sample)) {
  }
}

SampleRecords::SampleRecords(const SampleSource& samples, const SampleChecks& checks)
    : samples_(samples), checks_(checks), encoder_(samples.schema()), doubts_(samples.schema()) {
  for (const auto& [name, names] : samples.classes()) {
    const size_t field = samples.schema().index_of(name);
    if (samples.schema().fields[field].role != Role::kLabel) {
      throw InvalidArgumentError(
          fmt::format("the field '{}' has class names, but is not a label", name));
    }
    encoder_.limit_labels(field, names.size());
    if (name == kLabelName) {
      classes_ = names;
    } else {
      field_classes_[name] = names;
    }
  }
}

std::string SampleRecords::contents() const {
  std::string text = fmt::format("strict {} headers {} fields {:08x}\n", checks_.strict,
                                 checks_.headers, crc32(descriptors_of(encoder_.schema())));
  for (const auto& [name, names] : field_classes_) {
    text += fmt::format("classes of {}: {}\n", name, fmt::join(names, "\t"));
  }
  return text + samples_.contents();
}

void SampleRecords::read(uint64_t i, SourceImage& out) const {
  SourceSample& sample = out.values;
  samples_.read(i, sample);
  out.ended = sample.ended;
  if (out.ended) return;
  out.id = sample.id;
  for (SourceValue& value : sample.fields) {
    if (value.pixel_bytes > 0) encode_pixels(value);
  }
  if (checks_.headers) check_headers(i, sample);
  const std::vector<FieldSpec>& fields = encoder_.schema().fields;
  std::vector<FieldValue> values;
  values.reserve(fields.size());
  for (size_t k = 0; k < fields.size(); ++k) {
    values.push_back(field_value(fields[k], sample.fields[k]));
  }
  uint64_t bytes = kRoomBytes * fields.size();
  for (const SourceValue& value : sample.fields) {
    bytes += value.bytes.size();
    for (const std::vector<std::byte>& item : value.items) bytes += item.size();
  }
  out.storage.clear();
  out.storage.reserve(bytes);
  out.is_record = true;
  encoder_.append(sample.id, values, out.storage);
  doubts_.add_rows(sample.fields);
  check_image_length(out.storage.size());
}

void SampleRecords::check_headers(uint64_t i, SourceSample& sample) const {
  const std::vector<FieldSpec>& fields = encoder_.schema().fields;
  std::vector<std::optional<ImageInfo>> images(fields.size());
  bool palette = false;
  const auto look = [&](size_t k, Bytes image) {
    const ImageInfo info = probe_in(fields[k], image, sample.fields[k].file);
    palette =
        palette || (fields[k].role == Role::kImage && (info.format == &kPngFormat && info.palette));
    if (!images[k]) images[k] = info;
  };
  for (size_t k = 0; k < fields.size(); ++k) {
    if (fields[k].kind != FieldKind::kImage) continue;
    const SourceValue& value = sample.fields[k];
    if (!fields[k].has(kListField)) look(k, value.bytes);
    for (const std::vector<std::byte>& item : value.items) {
      if (fields[k].has(kListField)) look(k, item);
    }
  }
  if (palette) palettes_.add(i);
  for (size_t k = 0; k < fields.size(); ++k) {
    if (!fields[k].of || !images[*fields[k].of]) continue;
    const ImageInfo& image = *images[*fields[k].of];
    if (fields[k].role == Role::kBoxes) check_boxes(i, k, sample.fields[k], image.oriented());
    if (!images[k] || same_aspect(images[k]->oriented(), image.oriented())) continue;
    throw CorruptError(
        fmt::format("the size of field '{}' does not match its image '{}'", fields[k].name,
                    fields[*fields[k].of].name),
        {.path = sample.fields[k].file,
         .expected = size_text(image.oriented()) + ", or that at another scale",
         .found = size_text(images[k]->oriented()),
         .remedy = image.orientation == images[k]->orientation
                       ? "Resize one of them, or set `of` to the image that belongs to the field"
                       : orientation_remedy(image)});
  }
}

void SampleRecords::check_boxes(uint64_t i, size_t number, const SourceValue& boxes,
                                Size image) const {
  const FieldSpec& field = encoder_.schema().fields[number];
  const bool relative = field.has(kRelative);
  const double height = relative ? 1 : static_cast<double>(image.height);
  const double width = relative ? 1 : static_cast<double>(image.width);
  const size_t rows = boxes.bytes.size() / (4 * size_in_bytes(field.dtype));
  bool are_fractions = true;
  for (size_t row = 0; row < rows; ++row) {
    const Corners box = box_at(boxes, field.dtype, row);
    are_fractions =
        are_fractions && std::ranges::all_of(box, [](double x) { return x >= 0 && x <= 1; });
    const Corners corners = corners_of(static_cast<BoxFormat>(field.detail), box);
    if (!is_far_outside_of(corners, height, width)) continue;
    const std::string text = fmt::format("[{}]", fmt::join(box, ", "));
    if (!checks_.strict) {
      doubts_.add_far_box(i, number, text);
      continue;
    }
    throw CorruptError(
        fmt::format("row {} of '{}' is a box far outside of its image", row, field.name),
        {.expected =
             fmt::format("at most the image's size, {}, beyond its edges", size_text(image)),
         .found = text,
         .remedy = "Check the format of the boxes and whether they are relative"});
  }
  doubts_.add_boxes(number, rows, are_fractions);
}

std::vector<std::string> SampleRecords::remarks() const {
  std::vector<std::string> remarks = samples_.remarks();
  for (std::string& remark : doubts_.remarks([this](uint64_t i) { return path(i); })) {
    remarks.push_back(std::move(remark));
  }
  if (const uint64_t samples = palettes_.count(); samples > 0) {
    remarks.push_back(
        fmt::format("samples with an image that has a palette: {}; the first is {}. If its numbers "
                    "are classes, "
                    "the field is a mask",
                    samples, path(palettes_.first())));
  }
  return remarks;
}

}  // namespace fuelrail::pack
