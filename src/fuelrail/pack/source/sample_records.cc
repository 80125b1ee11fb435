#include "fuelrail/pack/source/sample_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/encode/png_encoder.h"
#include "fuelrail/pack/image/baseline_recoder.h"
#include "fuelrail/pack/image/whole_decoder.h"
#include "fuelrail/pack/source/source_values.h"
#include "fuelrail/transform/coordinates.h"

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

// The whole image, also if only what follows its beginning is lent.
Bytes whole_image(SourceValue& value) {
  if (!value.bytes.empty()) {
    value.bytes.insert(value.bytes.end(), value.rest.begin(), value.rest.end());
    value.rest = {};
  }
  return value.begin();
}

FieldValue field_value(const FieldSpec& field, const SourceValue& value) {
  FieldValue stored;
  if (field.has(kListField)) {
    stored.items.assign(value.items.begin(), value.items.end());
  } else {
    stored.bytes = value.begin();
    if (!value.bytes.empty()) stored.rest = value.rest;
    stored.shape = value.shape;
  }
  return stored;
}

// `item`: of a list. `decoder`: null if the image is not decoded. Errors: CorruptError that names
// the field and the image's file, also for a mask or map without values.
ImageInfo checked(const FieldSpec& field, size_t item, Bytes image, const std::string& file,
                  WholeDecoder* decoder) {
  try {
    const ImageInfo info = probe(EncodedImage(image));
    if (field.role == Role::kMask) {
      check_mask(info, value_encoding_of(field));
    }
    if (field.role == Role::kMap) value_layout(info, ValueEncoding::kStored);
    if (decoder != nullptr) decoder->decode(field, EncodedImage(image), info);
    return info;
  } catch (const MissingCodecError&) {
    throw;
  } catch (const Error& error) {
    throw CorruptError(fmt::format("the image of field '{}' cannot be read ({})",
                                   item_name(field, item), error.what()),
                       {.path = file});
  }
}

std::string size_text(Size size) {
  return fmt::format("{} x {} (height x width)", size.height, size.width);
}

// Whether the left 3 x 3 elements are a rotation. `columns`: of the matrix, row by row.
bool is_rigid(std::span<const double> matrix, size_t columns) {
  constexpr double kTolerance = 1e-3;
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double dot = 0;
      for (size_t k = 0; k < 3; ++k) dot += matrix[i * columns + k] * matrix[j * columns + k];
      if (!(std::abs(dot - (i == j ? 1 : 0)) <= kTolerance)) return false;
    }
  }
  return true;
}

// The numbers of a tensor of float32 or float64 as Number.
template <typename Number>
std::vector<Number> numbers_of(Bytes bytes) {
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::ranges::copy(bytes.first(numbers.size() * sizeof(Number)),
                    std::as_writable_bytes(std::span(numbers)).begin());
  return numbers;
}

bool is_far_outside_of(const Corners& box, Size image) {
  const auto height = static_cast<double>(image.height);
  const auto width = static_cast<double>(image.width);
  return box.x1 < -width || box.y1 < -height || box.x2 > 2 * width || box.y2 > 2 * height;
}

}  // namespace

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

std::vector<FieldValue> SampleRecords::values_of(uint64_t i, SourceSample& sample) const {
  samples_.read(i, sample);
  if (sample.ended) return {};
  for (SourceValue& value : sample.fields) {
    if (value.pixel_bytes > 0) encode_pixels(value);
  }
  if (checks_.headers) check_headers(i, sample);
  if (checks_.baseline) recode_images(sample);
  const std::vector<FieldSpec>& fields = encoder_.schema().fields;
  std::vector<FieldValue> values;
  values.reserve(fields.size());
  for (size_t k = 0; k < fields.size(); ++k) {
    values.push_back(field_value(fields[k], sample.fields[k]));
  }
  return values;
}

void SampleRecords::read(uint64_t i, SourceImage& out) const {
  SourceSample& sample = out.values;
  const std::vector<FieldValue> values = values_of(i, sample);
  out.ended = sample.ended;
  if (out.ended) return;
  out.id = sample.id;
  const std::vector<FieldSpec>& fields = encoder_.schema().fields;
  uint64_t bytes = kRoomBytes * fields.size();
  for (const SourceValue& value : sample.fields) {
    bytes += value.bytes.size();
    bytes += value.rest.size();
    for (const std::vector<std::byte>& item : value.items) bytes += item.size();
  }
  out.storage.clear();
  out.storage.reserve(bytes);
  out.is_record = true;
  encoder_.append(sample.id, values, out.storage);
  doubts_.add_rows(sample.fields);
  check_record_length(out.storage.size(), thing());
}

uint64_t SampleRecords::write(uint64_t i, SourceSample& sample,
                              const std::function<MutableBytes(uint64_t)>& room) const {
  const std::vector<FieldValue> values = values_of(i, sample);
  const auto checked_room = [&](uint64_t bytes) {
    check_record_length(bytes, thing());
    return room(bytes);
  };
  const uint64_t bytes = encoder_.write(sample.id, values, checked_room);
  doubts_.add_rows(sample.fields);
  return bytes;
}

void SampleRecords::check_headers(uint64_t i, SourceSample& sample) const {
  const std::vector<FieldSpec>& fields = encoder_.schema().fields;
  std::vector<std::optional<ImageInfo>> images(fields.size());
  if (checks_.decode && !sample.decoder) sample.decoder = std::make_shared<WholeDecoder>();
  WholeDecoder* const decoder = checks_.decode ? sample.decoder.get() : nullptr;
  const auto look = [&](size_t k, size_t item, Bytes image) {
    const ImageInfo info = checked(fields[k], item, image, sample.fields[k].file, decoder);
    if (fields[k].role == Role::kImage && info.palette && info.format == &kPngFormat) {
      doubts_.add_palette(i, k);
    }
    if (fields[k].role == Role::kMask && !fields[k].has(kRgbMask)) {
      doubts_.add_mask(k, value_layout(info, ValueEncoding::kStored).dtype);
    }
    if (!images[k]) images[k] = info;
  };
  for (size_t k = 0; k < fields.size(); ++k) {
    if (fields[k].kind != FieldKind::kImage) continue;
    SourceValue& value = sample.fields[k];
    if (fields[k].has(kListField)) {
      for (size_t item = 0; item < value.items.size(); ++item) look(k, item, value.items[item]);
    } else {
      look(k, 0, decoder ? whole_image(value) : value.begin());
    }
  }
  for (size_t k = 0; k < fields.size(); ++k) {
    if (!fields[k].of || !images[*fields[k].of]) continue;
    const ImageInfo& image = *images[*fields[k].of];
    if (fields[k].role == Role::kBoxes) {
      const bool wide = fields[k].dtype == DType::kFloat64;
      const auto check =
          wide ? &SampleRecords::check_boxes<double> : &SampleRecords::check_boxes<float>;
      (this->*check)(i, k, sample.fields[k].bytes, image.oriented());
    }
    if (fields[k].role == Role::kCamera) note_camera(k, sample.fields[k].bytes);
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

void SampleRecords::recode_images(SourceSample& sample) const {
  BaselineRecoder recoder;
  const auto recodes = [&](Bytes image, std::vector<std::byte>& out) {
    const Bytes baseline = recoder.recode(image);
    if (baseline.empty()) return false;
    out.assign(baseline.begin(), baseline.end());
    ++sample.recoded;
    return true;
  };
  const std::vector<FieldSpec>& fields = encoder_.schema().fields;
  sample.recoded = 0;
  for (size_t k = 0; k < fields.size(); ++k) {
    if (fields[k].role != Role::kImage) continue;
    SourceValue& value = sample.fields[k];
    for (std::vector<std::byte>& item : value.items) recodes(item, item);
    if (!announces(kJpegFormat, value.begin())) continue;
    if (recodes(whole_image(value), value.bytes)) value.rest = {};
  }
}

void SampleRecords::note_camera(size_t number, Bytes bytes) const {
  const FieldSpec& field = encoder_.schema().fields[number];
  const auto columns = static_cast<size_t>(field.shape.back());
  if (field.dtype == DType::kFloat64) {
    doubts_.add_camera(number, is_rigid(numbers_of<double>(bytes), columns));
  } else if (field.dtype == DType::kFloat32) {
    const std::vector<float> numbers = numbers_of<float>(bytes);
    doubts_.add_camera(number,
                       is_rigid(std::vector<double>(numbers.begin(), numbers.end()), columns));
  }
}

template <typename Number>
void SampleRecords::check_boxes(uint64_t i, size_t number, Bytes bytes, Size image) const {
  const FieldSpec& field = encoder_.schema().fields[number];
  const std::vector<Number> numbers = numbers_of<Number>(bytes);
  std::vector<Corners> boxes;
  read_boxes(std::span<const Number>(numbers), static_cast<BoxFormat>(field.detail),
             {.relative = field.has(kRelative), .pixel_centers = field.has(kPixelCenters)}, image,
             field.name, boxes);
  for (size_t row = 0; row < boxes.size(); ++row) {
    if (!is_far_outside_of(boxes[row], image)) continue;
    const std::string text =
        fmt::format("[{}]", fmt::join(std::span(numbers).subspan(4 * row, 4), ", "));
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
  doubts_.add_boxes(number, boxes.size(),
                    std::ranges::all_of(numbers, [](Number x) { return x >= 0 && x <= 1; }));
}

std::vector<std::string> SampleRecords::remarks() const {
  std::vector<std::string> remarks = samples_.remarks();
  for (std::string& remark : doubts_.remarks([this](uint64_t i) { return path(i); })) {
    remarks.push_back(std::move(remark));
  }
  return remarks;
}

}  // namespace fuelrail::pack
