// What a record means: a few named fields. The schema says which; a sample holds their values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/dtype.h"
#include "fuelrail/base/encoded_image.h"

namespace fuelrail {

enum class FieldKind : uint8_t {
  kImage,   // an encoded image: JPEG, PNG, ...
  kTensor,  // numbers, row-major, little-endian
  kBytes,   // anything else
};

struct FieldSpec {
  std::string name;
  FieldKind kind = FieldKind::kBytes;
  DType dtype = DType::kUint8;  // of a tensor's elements
  std::vector<int64_t>
      shape{};  // of a tensor; empty = a scalar; -1 = differs from record to record
  friend bool operator==(const FieldSpec&, const FieldSpec&) = default;
};

// "image", "tensor int64 [2, -1]", "bytes": for messages.
std::string describe(const FieldSpec& field);

struct Schema {
  std::vector<FieldSpec> fields;

  // Errors: InvalidArgumentError that suggests the nearest name.
  size_t index_of(std::string_view name) const;
  bool has(std::string_view name) const;

  friend bool operator==(const Schema&, const Schema&) = default;
};

// The value of one field: an encoded image; of a tensor and of raw bytes, `bytes` alone is used.
struct FieldValue : EncodedImage {
  std::vector<int64_t> shape{};  // of a tensor whose spec has a -1
};

// Filled by Container::parse, which assigns whole values: a sample is reused for the next record.
// Lifetime: values view the framed bytes that were parsed, or this sample's own `storage`; both
// must outlive their use. Codecs are the container's.
struct Sample {
  std::vector<FieldValue> fields;  // in the schema's order
  uint64_t id = 0;                 // the format's id of the record, or its index where it has none
  std::vector<std::byte> storage;  // what could not be a view: unescaped payloads
  alignas(8) std::array<std::byte, 16> scalars{};  // small values made by parse (a label as int64)

  Sample() = default;
  Sample(const Sample&) = delete;  // values point into the sample itself
  Sample& operator=(const Sample&) = delete;
};

}  // namespace fuelrail
