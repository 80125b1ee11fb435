#include "fuelrail/container/sample_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/field_rules.h"
#include "fuelrail/container/sample_values.h"
#include "fuelrail/container/schema_text.h"

namespace fuelrail {
namespace {

// Frozen (docs/formats/frs1.md).
constexpr std::string_view kSampleMagic = "FRS1";
constexpr size_t kFieldCountAt = 4;
constexpr size_t kReservedAt = 6;
constexpr size_t kDescriptorBytesAt = 8;
constexpr size_t kTableBytesAt = 12;
constexpr size_t kSampleIdAt = 16;
constexpr size_t kValueBytesAt = 24;
constexpr size_t kSampleHeaderBytes = 32;
constexpr uint64_t kMaxPartBytes = uint64_t{1} << 20;  // of the descriptors, and of the table
constexpr size_t kSampleWordBytes = 8;

constexpr size_t kKindAt = 0;
constexpr size_t kDTypeAt = 1;
constexpr size_t kRoleAt = 2;
constexpr size_t kFieldFlagsAt = 3;
constexpr size_t kOfAt = 4;
constexpr size_t kRowsAt = 6;
constexpr size_t kDimensionsAt = 8;
constexpr size_t kNameBytesAt = 9;
constexpr size_t kDetailAt = 10;
constexpr size_t kExtentsAt = 12;
constexpr size_t kExtentBytes = 4;
constexpr uint16_t kNoField = 65535;

constexpr uint64_t padded(uint64_t bytes) {
  return (bytes + kSampleWordBytes - 1) / kSampleWordBytes * kSampleWordBytes;
}

void pad(std::vector<std::byte>& out, size_t begin) {
  out.resize(begin + padded(out.size() - begin));
}

bool is_zero(Bytes bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// --- The header ---

struct SampleHeader {
  uint64_t descriptor_bytes = 0;
  uint64_t table_bytes = 0;
  uint64_t id = 0;
  uint64_t value_bytes = 0;
};

// Errors: CorruptError.
SampleHeader parse_header(Bytes payload) {
  if (payload.size() < kSampleHeaderBytes) {
    throw CorruptError("the record is too short for the header of a sample record",
                       {.expected = fmt::format("at least {} bytes", kSampleHeaderBytes),
                        .found = fmt::format("{}", payload.size())});
  }
  if (!announces_sample(payload)) {
    throw CorruptError("the record is not a sample record",
                       {.expected = "FRS1 at its beginning, as in the file's other records"});
  }
  const SampleHeader header{.descriptor_bytes = load_le<uint32_t>(&payload[kDescriptorBytesAt]),
                            .table_bytes = load_le<uint32_t>(&payload[kTableBytesAt]),
                            .id = load_le<uint64_t>(&payload[kSampleIdAt]),
                            .value_bytes = load_le<uint64_t>(&payload[kValueBytesAt])};
  const uint64_t room = payload.size() - kSampleHeaderBytes;
  const uint64_t before = header.descriptor_bytes + header.table_bytes;
  if (before > room || header.value_bytes != room - before) {
    throw CorruptError("the lengths in the sample record's header do not match its length",
                       {.expected = fmt::format("{} bytes after the header", room),
                        .found = fmt::format("{} + {} + {}", header.descriptor_bytes,
                                             header.table_bytes, header.value_bytes)});
  }
  const uint64_t longest = std::max(header.descriptor_bytes, header.table_bytes);
  const uint64_t any = header.descriptor_bytes | header.table_bytes | header.value_bytes;
  if (longest > kMaxPartBytes || any % kSampleWordBytes != 0 ||
      load_le<uint16_t>(&payload[kReservedAt]) != 0) {
    throw CorruptError(
        "the header of the sample record is invalid",
        {.expected = "lengths that are multiples of 8, descriptors and a table of at "
                     "most 1 MiB each, and 0 in bytes 6 and 7"});
  }
  return header;
}

// --- Descriptors ---

void append_descriptor(const FieldSpec& field, std::vector<std::byte>& out) {
  const bool tensor = field.kind == FieldKind::kTensor;
  const size_t begin = out.size();
  append_le(out, static_cast<uint8_t>(field.kind));
  append_le(out, tensor ? static_cast<uint8_t>(field.dtype) : uint8_t{0});
  append_le(out, static_cast<uint8_t>(field.role));
  append_le(out, field.flags);
  append_le(out, field.of.value_or(kNoField));
  append_le(out, field.rows.value_or(kNoField));
  append_le(out, static_cast<uint8_t>(field.shape.size()));
  append_le(out, static_cast<uint8_t>(field.name.size()));
  append_le(out, field.detail);
  for (const int64_t extent : field.shape) append_le(out, static_cast<int32_t>(extent));
  append_bytes(out, as_bytes(field.name));
  pad(out, begin);
}

std::optional<uint16_t> reference(uint16_t number) {
  return number == kNoField ? std::nullopt : std::optional(number);
}

[[noreturn]] void throw_cut_descriptors(size_t number) {
  throw CorruptError("the descriptors of the fields are truncated",
                     {.found = fmt::format("only a part of field {}", number)});
}

void require_known(const std::string& name, const char* what, unsigned found, size_t known) {
  if (found < known) return;
  throw UnsupportedError(fmt::format("field '{}' has an unknown {}", name, what),
                         {.expected = fmt::format("0 to {}", known - 1),
                          .found = fmt::format("{}", found),
                          .remedy = "Use a newer fuelrail"});
}

// Removes a descriptor from the beginning of `rest`. `number`: the field's number, for errors.
FieldSpec take_descriptor(Bytes& rest, size_t number) {
  if (rest.size() < kExtentsAt) throw_cut_descriptors(number);
  const size_t dimensions = load_le<uint8_t>(&rest[kDimensionsAt]);
  const size_t name_at = kExtentsAt + dimensions * kExtentBytes;
  const size_t end = name_at + load_le<uint8_t>(&rest[kNameBytesAt]);
  if (padded(end) > rest.size()) throw_cut_descriptors(number);
  FieldSpec field{.name = std::string(as_text(rest.subspan(name_at, end - name_at)))};
  const auto kind = load_le<uint8_t>(&rest[kKindAt]);
  const auto dtype = load_le<uint8_t>(&rest[kDTypeAt]);
  const auto role = load_le<uint8_t>(&rest[kRoleAt]);
  field.flags = load_le<uint8_t>(&rest[kFieldFlagsAt]);
  require_known(field.name, "kind", kind, kFieldKinds);
  require_known(field.name, "dtype", dtype, kDTypes);
  require_known(field.name, "role", role, kRoles);
  require_known(field.name, "flag", field.flags, size_t{kAllFieldFlags} + 1);
  field.kind = static_cast<FieldKind>(kind);
  field.role = static_cast<Role>(role);
  if (field.kind == FieldKind::kTensor) field.dtype = static_cast<DType>(dtype);
  field.of = reference(load_le<uint16_t>(&rest[kOfAt]));
  field.rows = reference(load_le<uint16_t>(&rest[kRowsAt]));
  field.detail = load_le<uint16_t>(&rest[kDetailAt]);
  for (size_t k = 0; k < dimensions; ++k) {
    field.shape.push_back(load_le<int32_t>(&rest[kExtentsAt + k * kExtentBytes]));
  }
  const bool stray_dtype = field.kind != FieldKind::kTensor && dtype != 0;
  if (stray_dtype || !is_zero(rest.subspan(end, padded(end) - end))) {
    throw CorruptError(fmt::format("the descriptor of field {} is invalid", number),
                       {.expected = "zeros after the name, and dtype 0 unless it is a tensor"});
  }
  rest = rest.subspan(padded(end));
  return field;
}

// The number of bytes of every value of the field; -1 if records differ.
int64_t fixed_bytes_of(const FieldSpec& field) {
  if (field.kind != FieldKind::kTensor) return -1;
  auto bytes = static_cast<int64_t>(size_in_bytes(field.dtype));
  for (const int64_t extent : field.shape) {
    if (extent == -1) return -1;
    bytes *= extent;
  }
  return bytes;
}

// --- Values ---

// The table and the values that are not yet used. Every length is compared with what is left
// before it is used.
class SampleCursor {
 public:
  SampleCursor(Bytes table, Bytes values) : table_(table), values_(values) {}

  uint64_t entry(const FieldSpec& field) {
    if (table_.empty()) {
      throw CorruptError(
          fmt::format("the sample record's table ends before the end of field '{}'", field.name));
    }
    const auto entry = load_le<uint64_t>(table_.data());
    table_ = table_.subspan(kSampleWordBytes);
    return entry;
  }

  // The number of entries that are left.
  uint64_t entries() const { return table_.size() / kSampleWordBytes; }

  Bytes value(const FieldSpec& field, uint64_t bytes) {
    if (bytes > values_.size()) {
      throw CorruptError(fmt::format("the value of field '{}' ends after the record", field.name),
                         {.expected = fmt::format("at most {} bytes", values_.size()),
                          .found = fmt::format("{}", bytes)});
    }
    const Bytes value = values_.first(bytes);
    const uint64_t end = padded(bytes);  // not after the end, which is a multiple of 8 too
    if (end != bytes) {
      const auto last = load_le<uint64_t>(values_.data() + end - kSampleWordBytes);
      if (last >> (bytes % kSampleWordBytes * 8) != 0) {
        throw CorruptError(
            fmt::format("the padding after the value of field '{}' is not zero", field.name));
      }
    }
    values_ = values_.subspan(end);
    return value;
  }

  void finish() const {
    if (table_.empty() && values_.empty()) return;
    throw CorruptError("the sample record has more bytes than its fields need",
                       {.found = fmt::format("{} bytes in its table and {} after its last value",
                                             table_.size(), values_.size())});
  }

 private:
  Bytes table_;
  Bytes values_;
};

void take_list(const FieldSpec& field, uint64_t bytes, SampleCursor& cursor, FieldValue& out) {
  const uint64_t count = cursor.entry(field);
  if (count > cursor.entries()) {
    throw CorruptError(
        fmt::format("field '{}' has more items than the sample record's table", field.name),
        {.expected = fmt::format("at most {}", cursor.entries()),
         .found = fmt::format("{}", count)});
  }
  SampleCursor lengths = cursor;
  for (uint64_t k = 0; k < count; ++k) cursor.entry(field);
  Bytes rest = cursor.value(field, bytes);
  const auto wrong_sum = [&] {
    throw CorruptError(
        fmt::format("the items of field '{}' do not have the length of its value", field.name),
        {.expected = fmt::format("{} bytes", bytes)});
  };
  for (uint64_t k = 0; k < count; ++k) {
    const uint64_t length = lengths.entry(field);
    if (length > rest.size()) wrong_sum();
    out.items.push_back(rest.first(length));
    check_value<CorruptError>(field, out.items.back());
    rest = rest.subspan(length);
  }
  if (!rest.empty()) wrong_sum();
}

// A tensor with -1 in its spec.
void take_ragged(const FieldSpec& field, uint64_t bytes, SampleCursor& cursor, FieldValue& out) {
  for (const int64_t extent : field.shape) {
    if (extent != -1) {
      out.shape.push_back(extent);
      continue;
    }
    const uint64_t found = cursor.entry(field);
    out.shape.push_back(found > uint64_t{kMaxValueBytes} ? -1 : static_cast<int64_t>(found));
  }
  const uint64_t expected = bytes_of_shape<CorruptError>(field, out.shape);
  if (bytes != expected) {
    throw CorruptError(
        fmt::format("the value of field '{}' does not fit its shape", field.name),
        {.expected = fmt::format("{} bytes", expected), .found = fmt::format("{}", bytes)});
  }
  out.bytes = cursor.value(field, bytes);
}

}  // namespace

bool announces_sample(Bytes payload) {
  return payload.size() >= kSampleMagic.size() &&
         as_text(payload.first(kSampleMagic.size())) == kSampleMagic;
}

uint64_t sample_prefix_bytes(Bytes payload) {
  const uint64_t bytes = load_le<uint32_t>(&payload[kDescriptorBytesAt]);
  return kSampleHeaderBytes + (bytes <= kMaxPartBytes ? bytes : 0);
}

std::optional<Bytes> descriptors_in(Bytes payload) {
  if (!announces_sample(payload) || payload.size() < kSampleHeaderBytes) return std::nullopt;
  const uint64_t bytes = load_le<uint32_t>(&payload[kDescriptorBytesAt]);
  if (bytes > kMaxPartBytes || bytes > payload.size() - kSampleHeaderBytes) return std::nullopt;
  return payload.subspan(kSampleHeaderBytes, bytes);
}

std::optional<uint64_t> sample_id_in(Bytes payload) {
  if (!announces_sample(payload) || payload.size() < kSampleHeaderBytes) return std::nullopt;
  return load_le<uint64_t>(&payload[kSampleIdAt]);
}

std::vector<std::byte> descriptors_of(const Schema& schema) {
  check_fields(schema);
  std::vector<std::byte> descriptors;
  for (const FieldSpec& field : schema.fields) append_descriptor(field, descriptors);
  if (descriptors.size() <= kMaxPartBytes) return descriptors;
  throw InvalidArgumentError("the names and shapes of the fields are too long in total",
                             {.expected = fmt::format("at most {} bytes", kMaxPartBytes),
                              .found = fmt::format("{}", descriptors.size()),
                              .remedy = "Choose shorter names, or use fewer fields"});
}

Schema schema_of(Bytes descriptors) {
  Schema schema;
  while (!descriptors.empty()) {
    if (schema.fields.size() == kMaxFields) throw_cut_descriptors(kMaxFields);
    schema.fields.push_back(take_descriptor(descriptors, schema.fields.size()));
  }
  try {
    check_fields(schema);
  } catch (const InvalidArgumentError& error) {
    ErrorDetail detail = error.detail();
    detail.remedy.clear();  // it is for a caller who writes the schema
    throw CorruptError(error.failure(), std::move(detail));
  }
  return schema;
}

// --- Reading ---

SampleParser::SampleParser(Schema schema)
    : schema_(std::move(schema)),
      descriptors_(descriptors_of(schema_)),
      classes_(schema_.fields.size()) {
  for (const FieldSpec& field : schema_.fields) fixed_bytes_.push_back(fixed_bytes_of(field));
}

void SampleParser::limit_labels(size_t field, uint64_t classes) { classes_[field] = classes; }

void SampleParser::throw_other_fields(Bytes payload) const {
  const Schema found = schema_of(*descriptors_in(payload));
  SchemaDifference differing =
      difference(schema_, found)
          .value_or(
              SchemaDifference{fmt::format("{} fields", schema_.fields.size()),
                               fmt::format("{}", load_le<uint16_t>(&payload[kFieldCountAt]))});
  throw CorruptError(
      "the record has other fields than the file's other records",
      {.expected = std::move(differing.expected), .found = std::move(differing.found)});
}

void SampleParser::parse(Bytes payload, Sample& out) const {
  const SampleHeader header = parse_header(payload);
  const Bytes body = payload.subspan(kSampleHeaderBytes);
  if (header.descriptor_bytes != descriptors_.size() ||
      std::memcmp(body.data(), descriptors_.data(), descriptors_.size()) != 0 ||
      load_le<uint16_t>(&payload[kFieldCountAt]) != schema_.fields.size()) {
    throw_other_fields(payload);
  }
  const Bytes after = body.subspan(header.descriptor_bytes);
  SampleCursor cursor(after.first(header.table_bytes), after.subspan(header.table_bytes));
  out.id = header.id;
  out.fields.resize(schema_.fields.size());
  for (size_t number = 0; number < schema_.fields.size(); ++number) {
    const FieldSpec& field = schema_.fields[number];
    FieldValue& value = out.fields[number];
    static_cast<EncodedImage&>(value) = {};
    value.shape.clear();
    value.items.clear();
    const uint64_t bytes = cursor.entry(field);
    if (field.has(kListField)) {
      take_list(field, bytes, cursor, value);
      continue;
    }
    if (field.kind == FieldKind::kTensor && fixed_bytes_[number] < 0) {
      take_ragged(field, bytes, cursor, value);
    } else {
      value.bytes = cursor.value(field, bytes);
      if (fixed_bytes_[number] >= 0 && bytes != static_cast<uint64_t>(fixed_bytes_[number])) {
        throw CorruptError(
            fmt::format("the value of field '{}' does not fit its shape", field.name),
            {.expected = fmt::format("{} bytes", fixed_bytes_[number]),
             .found = fmt::format("{}", bytes)});
      }
    }
    check_value<CorruptError>(field, value.bytes);
    if (classes_[number] > 0) check_labels<CorruptError>(field, value.bytes, classes_[number]);
    if (field.rows) {
      check_row_count<CorruptError>(field, value, schema_.fields[*field.rows],
                                    out.fields[*field.rows]);
    }
  }
  cursor.finish();
}

// --- Writing ---

SampleEncoder::SampleEncoder(Schema schema)
    : schema_(std::move(schema)),
      descriptors_(descriptors_of(schema_)),
      classes_(schema_.fields.size()) {}

void SampleEncoder::limit_labels(size_t field, uint64_t classes) { classes_[field] = classes; }

namespace {

// The number of words in the table for a value.
uint64_t table_words_of(const FieldSpec& field, const FieldValue& value) {
  if (field.has(kListField)) return 2 + value.items.size();
  return 1 + static_cast<uint64_t>(std::ranges::count(field.shape, -1));
}

uint64_t bytes_of(const FieldSpec& field, const FieldValue& value) {
  if (!field.has(kListField)) return value.bytes.size() + value.rest.size();
  uint64_t bytes = 0;
  for (const Bytes item : value.items) bytes += item.size();
  return bytes;
}

void append_entries(const FieldSpec& field, const FieldValue& value, std::vector<std::byte>& out) {
  append_le(out, bytes_of(field, value));
  if (field.has(kListField)) {
    append_le(out, uint64_t{value.items.size()});
    for (const Bytes item : value.items) append_le(out, uint64_t{item.size()});
  }
  for (size_t k = 0; k < field.shape.size(); ++k) {
    if (field.shape[k] == -1) append_le(out, static_cast<uint64_t>(value.shape[k]));
  }
}

// Returns: the rest of `out`.
MutableBytes write_value(const FieldSpec& field, const FieldValue& value, MutableBytes out) {
  const auto rest_after = [&out](Bytes bytes) {
    std::ranges::copy(bytes, out.begin());
    return out.subspan(bytes.size());
  };
  const uint64_t bytes = bytes_of(field, value);
  const MutableBytes next = out.subspan(padded(bytes));
  if (field.has(kListField)) {
    for (const Bytes item : value.items) out = rest_after(item);
  } else {
    out = rest_after(value.bytes);
    out = rest_after(value.rest);
  }
  std::ranges::fill(out.first(padded(bytes) - bytes), std::byte{0});
  return next;
}

void append_value(const FieldSpec& field, const FieldValue& value, std::vector<std::byte>& out) {
  const size_t begin = out.size();
  if (field.has(kListField)) {
    for (const Bytes item : value.items) append_bytes(out, item);
  } else {
    append_bytes(out, value.bytes);
    append_bytes(out, value.rest);
  }
  pad(out, begin);
}

}  // namespace

void SampleEncoder::check(size_t number, std::span<const FieldValue> values) const {
  const FieldSpec& field = schema_.fields[number];
  const FieldValue& value = values[number];
  if (field.has(kListField)) {
    for (const Bytes item : value.items) check_value<InvalidArgumentError>(field, item);
    return;
  }
  if (field.kind == FieldKind::kTensor) {
    const bool given = !value.shape.empty() || fixed_bytes_of(field) < 0;
    const uint64_t bytes =
        bytes_of_shape<InvalidArgumentError>(field, given ? value.shape : field.shape);
    if (value.bytes.size() != bytes) {
      throw InvalidArgumentError(
          fmt::format("the value of field '{}' does not fit its shape", field.name),
          {.expected = fmt::format("{} bytes", bytes),
           .found = fmt::format("{}", value.bytes.size())});
    }
  }
  check_value<InvalidArgumentError>(field, value.bytes);
  if (classes_[number] > 0) {
    check_labels<InvalidArgumentError>(field, value.bytes, classes_[number]);
  }
  if (field.rows) {
    check_row_count<InvalidArgumentError>(field, value, schema_.fields[*field.rows],
                                          values[*field.rows]);
  }
}

uint64_t SampleEncoder::append_head(uint64_t id, std::span<const FieldValue> values,
                                    std::vector<std::byte>& out) const {
  const size_t count = schema_.fields.size();
  if (values.size() != count) {
    throw InvalidArgumentError(
        "the number of values differs from the number of fields",
        {.expected = fmt::format("{}", count), .found = fmt::format("{}", values.size())});
  }
  uint64_t entries = 0;
  uint64_t value_bytes = 0;
  for (size_t number = 0; number < count; ++number) {
    check(number, values);
    entries += table_words_of(schema_.fields[number], values[number]);
    value_bytes += padded(bytes_of(schema_.fields[number], values[number]));
  }
  if (entries > kMaxPartBytes / kSampleWordBytes) {
    throw InvalidArgumentError(
        "the lists of the sample have too many items in total",
        {.expected = fmt::format("at most {} items and fields", kMaxPartBytes / kSampleWordBytes),
         .found = fmt::format("{}", entries)});
  }
  append_bytes(out, as_bytes(kSampleMagic));
  append_le(out, static_cast<uint16_t>(count));
  append_le(out, uint16_t{0});
  append_le(out, static_cast<uint32_t>(descriptors_.size()));
  append_le(out, static_cast<uint32_t>(entries * kSampleWordBytes));
  append_le(out, id);
  append_le(out, value_bytes);
  append_bytes(out, descriptors_);
  for (size_t number = 0; number < count; ++number) {
    append_entries(schema_.fields[number], values[number], out);
  }
  return value_bytes;
}

void SampleEncoder::append(uint64_t id, std::span<const FieldValue> values,
                           std::vector<std::byte>& out) const {
  append_head(id, values, out);
  for (size_t number = 0; number < schema_.fields.size(); ++number) {
    append_value(schema_.fields[number], values[number], out);
  }
}

uint64_t SampleEncoder::write(uint64_t id, std::span<const FieldValue> values,
                              const std::function<MutableBytes(uint64_t)>& room) const {
  std::vector<std::byte> head;
  const uint64_t bytes = append_head(id, values, head) + head.size();
  const MutableBytes out = room(bytes);
  std::ranges::copy(head, out.begin());
  MutableBytes rest = out.subspan(head.size());
  for (size_t number = 0; number < schema_.fields.size(); ++number) {
    rest = write_value(schema_.fields[number], values[number], rest);
  }
  return bytes;
}

}  // namespace fuelrail
