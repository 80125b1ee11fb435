// The content of a record: a few named fields. The schema describes them; a sample holds their
// values.
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
  DType dtype = DType::kUint8;   // of a tensor's elements
  std::vector<int64_t> shape{};  // of a tensor; empty = a scalar; -1 = differs between records
  friend bool operator==(const FieldSpec&, const FieldSpec&) = default;
};

// "image", "tensor int64 [2, -1]", "bytes": for messages.
std::string describe(const FieldSpec& field);

struct Schema {
  std::vector<FieldSpec> fields;

  // The position of the field `name`. Errors: InvalidArgumentError, with the nearest name as a
  // suggestion, if there is no such field.
  size_t index_of(std::string_view name) const;
  bool has(std::string_view name) const;

  friend bool operator==(const Schema&, const Schema&) = default;
};

// The value of one field: an encoded image. A tensor or raw bytes use only `bytes` and `shape`.
struct FieldValue : EncodedImage {
  std::vector<int64_t> shape{};  // of a tensor with -1 in its spec
};

// Filled by Container::parse, which assigns every value, so a sample can be reused for the next
// record. Lifetime: values are views into the parsed framed bytes or into this sample's `storage`;
// both must outlive them. The codecs of images are valid while the container exists.
struct Sample {
  std::vector<FieldValue> fields;  // in the schema's order
  uint64_t id = 0;                 // the id stored in the record, or else the record's index
  std::vector<std::byte> storage;  // for values that cannot be views: unescaped payloads
  alignas(8) std::array<std::byte, 16> scalars{};  // small values made by parse (an int64 label)

  Sample() = default;
  Sample(const Sample&) = delete;  // values may point into the sample itself
  Sample& operator=(const Sample&) = delete;
};

}  // namespace fuelrail
