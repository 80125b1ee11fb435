#include "fuelrail/container/image_record.h"

#include <fmt/format.h>

#include <array>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

// The offsets of the fields in the header.
constexpr size_t kFlagAt = 0;
constexpr size_t kHeaderLabelAt = 4;
constexpr size_t kIdAt = 8;
constexpr size_t kId2At = 16;

// Names of the fields, and their order in the schema.
constexpr const char* kImageField = "image";
constexpr const char* kLabelField = "label";
constexpr size_t kImageAt = 0;
constexpr size_t kLabelAt = 1;

FieldSpec labels_field(const LabelSummary& labels) {
  if (labels.width == 1 && labels.integral) return label_field(kLabelField);
  FieldSpec field{.name = kLabelField, .kind = FieldKind::kTensor, .dtype = DType::kFloat32};
  if (labels.width != 1) field.shape = {labels.width};
  return field;
}

Bytes as_integer(float label, Sample& out) {
  if (!is_integral_label(label)) {
    throw CorruptError(
        "the other records' labels are whole numbers, but this record's label is not",
        {.found = fmt::format("{}", label)});
  }
  store_le(out.scalars.data(), static_cast<int64_t>(label));
  return Bytes(out.scalars).first(sizeof(int64_t));
}

[[noreturn]] void throw_too_short(uint64_t expected, size_t found) {
  throw CorruptError(
      "the record is too short for its image header",
      {.expected = fmt::format("at least {} bytes", expected), .found = fmt::format("{}", found)});
}

}  // namespace

float ImageRecord::label(size_t i) const {
  return load_le<float>(labels.data() + i * sizeof(float));
}

uint64_t image_prefix_bytes(Bytes payload) {
  return kImageHeaderBytes + uint64_t{load_le<uint32_t>(payload.data() + kFlagAt)} * sizeof(float);
}

bool has_image_prefix(Bytes payload) {
  return payload.size() >= kImageHeaderBytes && image_prefix_bytes(payload) <= payload.size();
}

ImageRecord parse_image_record(Bytes payload) {
  if (payload.size() < kImageHeaderBytes) throw_too_short(kImageHeaderBytes, payload.size());
  const uint64_t prefix = image_prefix_bytes(payload);
  if (payload.size() < prefix) throw_too_short(prefix, payload.size());
  const bool label_in_header = prefix == kImageHeaderBytes;
  return {.id = load_le<uint64_t>(payload.data() + kIdAt),
          .id2 = load_le<uint64_t>(payload.data() + kId2At),
          .labels = label_in_header
                        ? payload.subspan(kHeaderLabelAt, sizeof(float))
                        : payload.subspan(kImageHeaderBytes, prefix - kImageHeaderBytes),
          .image = payload.subspan(prefix)};
}

void append_image_record(uint64_t id, std::span<const float> labels, Bytes image,
                         std::vector<std::byte>& out) {
  std::array<std::byte, kImageHeaderBytes> header{};
  const bool label_in_header = labels.size() == 1;
  store_le(header.data() + kFlagAt, label_in_header ? 0u : static_cast<uint32_t>(labels.size()));
  store_le(header.data() + kHeaderLabelAt, label_in_header ? labels[0] : 0.0f);
  store_le(header.data() + kIdAt, id);
  out.insert(out.end(), header.begin(), header.end());
  if (!label_in_header) {
    const Bytes values = std::as_bytes(labels);
    out.insert(out.end(), values.begin(), values.end());
  }
  out.insert(out.end(), image.begin(), image.end());
}

Schema image_schema(const LabelSummary& labels) {
  return {{image_field(kImageField), labels_field(labels)}};
}

void fill_image_sample(const Schema& schema, uint64_t id, Bytes image, Bytes labels, Sample& out) {
  out.fields.resize(schema.fields.size());
  out.id = id;
  out.fields[kImageAt] = {image};
  FieldValue& label = out.fields[kLabelAt];
  const FieldSpec& spec = schema.fields[kLabelAt];
  label.bytes = labels;
  label.shape.clear();
  const auto width = static_cast<int64_t>(labels.size() / sizeof(float));
  const int64_t expected = spec.shape.empty() ? 1 : spec.shape[0];
  if (expected == -1) {
    label.shape.push_back(width);
  } else if (width != expected) {
    throw CorruptError(
        "the record has a different number of labels than the other records",
        {.expected = fmt::format("{}", expected), .found = fmt::format("{}", width)});
  }
  if (spec.dtype == DType::kInt64) label.bytes = as_integer(load_le<float>(labels.data()), out);
}

}  // namespace fuelrail
