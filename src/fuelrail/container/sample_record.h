// Sample records: payloads that hold the values of several fields, and describe themselves
// (docs/formats/frs1.md). A payload is a header, the descriptors of the fields (the same in every
// record of a file), a table of the values' lengths, and the values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sample.h"

namespace fuelrail {

// Whether the payload begins as a sample record ("FRS1"). No image record does.
bool announces_sample(Bytes payload);

// The number of bytes to read of a sample record for `descriptors_in`, at most 1 MiB + 32.
// Requires: announces_sample, and at least kSampleLengthsEnd bytes.
inline constexpr size_t kSampleLengthsEnd = 16;
uint64_t sample_prefix_bytes(Bytes payload);

// The descriptors of a sample record, of which `payload` may be only the beginning; empty if it is
// not the beginning of a sample record or is too short. The descriptors themselves are not checked.
// Lifetime: a view.
std::optional<Bytes> descriptors_in(Bytes payload);

// The id of a sample record; empty as for descriptors_in.
std::optional<uint64_t> sample_id_in(Bytes payload);

// Encodes the descriptors of a schema. Errors: those of check_fields (field_rules.h);
// InvalidArgumentError for more than 1 MiB.
std::vector<std::byte> descriptors_of(const Schema& schema);

// The inverse of descriptors_of. Errors: CorruptError for descriptors that contradict the format or
// its rules; UnsupportedError, with the field, for an unknown kind, dtype, role or flag.
Schema schema_of(Bytes descriptors);

// Parses the sample records of one file. Immutable, except for `limit_labels`. Threads: any number
// at once.
class SampleParser {
 public:
  // The records' fields are those of `schema`. Errors: those of descriptors_of.
  explicit SampleParser(Schema schema);

  // From now on, the labels of `field` must be below `classes`. Requires: the field has the role
  // label. Default: any number.
  void limit_labels(size_t field, uint64_t classes);

  const Schema& schema() const { return schema_; }

  // Parses a payload. Every value is a view of `payload` and fits its field: text is UTF-8, a bool
  // is 0 or 1, boxes are finite and not inverted, float32 holds their corners, images are not
  // empty, labels are below the number of classes, and fields with the same `rows` have equal first
  // extents. Allocates nothing if `out` was used for such records before. Errors: CorruptError,
  // with the field; CorruptError with the difference for a record with other fields;
  // UnsupportedError for a record with other fields that are unknown.
  void parse(Bytes payload, Sample& out) const;

 private:
  [[noreturn]] void throw_other_fields(Bytes payload) const;

  Schema schema_;
  std::vector<std::byte> descriptors_;
  std::vector<int64_t> fixed_bytes_;  // of each field; -1 if records differ
  std::vector<uint64_t> classes_;     // of each field; 0 = any label
};

// Writes sample records. Immutable, except for `limit_labels`.
class SampleEncoder {
 public:
  // Errors: those of descriptors_of.
  explicit SampleEncoder(Schema schema);

  // From now on, the labels of `field` must be below `classes`. Requires: the field has the role
  // label. Default: any number.
  void limit_labels(size_t field, uint64_t classes);

  const Schema& schema() const { return schema_; }

  // Appends a record to `out`. `values`: in the schema's order; of a tensor, the elements in
  // row-major order and, if its spec has -1, the shape; of a list, the items. Errors, before
  // anything is appended: InvalidArgumentError, with the field and for boxes, labels and text the
  // place, for a value that SampleParser would refuse, for the wrong number of values, and for a
  // label that is not below the number of classes.
  void append(uint64_t id, std::span<const FieldValue> values, std::vector<std::byte>& out) const;

  // As `append`, but writes the record at the beginning of `room(its length)`. Returns: its length.
  uint64_t write(uint64_t id, std::span<const FieldValue> values,
                 const std::function<MutableBytes(uint64_t)>& room) const;

 private:
  // Appends what comes before the values. Returns: the length of the values.
  uint64_t append_head(uint64_t id, std::span<const FieldValue> values,
                       std::vector<std::byte>& out) const;
  void check(size_t number, std::span<const FieldValue> values) const;

  Schema schema_;
  std::vector<std::byte> descriptors_;
  std::vector<uint64_t> classes_;  // of each field; 0 = any label
};

}  // namespace fuelrail
