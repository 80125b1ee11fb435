// A container with records that a test defines: any schema, any bytes.
#pragma once

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/container.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/storage/memory/memory_file_system.h"

namespace fuelrail {

// A framed record is the length (u64, little-endian) and the bytes of each field, in the schema's
// order. The bytes of a list are those that `list_bytes` returns. A tensor whose shape has one -1
// is only its elements; one with several -1 is what `shaped_bytes` returns.
class MemoryContainer final : public Container {
 public:
  struct Record {
    std::vector<std::string> fields;
    uint64_t id = 0;
  };

  MemoryContainer(std::string path, Schema schema, const std::vector<Record>& records,
                  std::vector<std::string> classes = {})
      : schema_(std::move(schema)), classes_(std::move(classes)) {
    std::vector<std::byte> bytes;
    for (const Record& record : records) {
      begins_.push_back(bytes.size());
      ids_.push_back(record.id);
      for (const std::string& field : record.fields) append(field, bytes);
      builder_.add(bytes.size() - begins_.back());
    }
    begins_.push_back(bytes.size());
    source_ = memory_source(std::move(path), std::move(bytes));
  }

  uint64_t size() const override { return ids_.size(); }
  const Schema& schema() const override { return schema_; }
  Extent extent(uint64_t i) const override {
    return {source_, begins_[i], begins_[i + 1] - begins_[i]};
  }

  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    out.fields.resize(schema_.fields.size());
    for (size_t number = 0; number < out.fields.size(); ++number) {
      FieldValue& field = out.fields[number];
      const FieldSpec& spec = schema_.fields[number];
      const uint64_t length = framed.size() < 8 ? 1 : load_le<uint64_t>(framed.data());
      if (framed.size() < 8 || length > framed.size() - 8) {
        const Place at = place(i);
        throw TruncatedError("the record is truncated",
                             {.path = at.path, .record = i, .offset = at.offset});
      }
      field = {framed.subspan(8, length)};
      if (spec.has(kListField)) {
        field.items = items_of(field.bytes);
        field.bytes = {};
      } else {
        set_shape(spec, field);
      }
      framed = framed.subspan(8 + length);
    }
    out.id = ids_[i];
    if (describe) describe(i, out);
  }

  Place place(uint64_t i) const override { return {source_->uri(), i, begins_[i]}; }
  const std::vector<std::string>& classes() const override { return classes_; }
  bool verifies_checksums() const override { return false; }

  // Adds to the values of record i the facts that are not in their bytes.
  std::function<void(uint64_t i, Sample& out)> describe;

 private:
  Fingerprint make_fingerprint(const std::function<bool()>&) const override {
    return builder_.result();
  }

  // Requires: the bytes are those of `list_bytes`.
  static std::vector<Bytes> items_of(Bytes bytes) {
    std::vector<Bytes> items;
    while (!bytes.empty()) {
      const auto length = load_le<uint64_t>(bytes.data());
      items.push_back(bytes.subspan(8, length));
      bytes = bytes.subspan(8 + length);
    }
    return items;
  }

  static void set_shape(const FieldSpec& spec, FieldValue& field) {
    const auto differing = std::count(spec.shape.begin(), spec.shape.end(), -1);
    if (differing == 0) return;
    field.shape = spec.shape;
    size_t known = size_in_bytes(spec.dtype);
    for (const int64_t extent : spec.shape)
      known *= static_cast<size_t>(std::max<int64_t>(extent, 1));
    for (int64_t& extent : field.shape) {
      if (extent >= 0) continue;
      if (differing == 1) {
        extent = static_cast<int64_t>(field.bytes.size() / known);
      } else {
        extent = load_le<int64_t>(field.bytes.data());
        field.bytes = field.bytes.subspan(8);
      }
    }
  }

  static void append(const std::string& field, std::vector<std::byte>& bytes) {
    bytes.resize(bytes.size() + 8);
    store_le(bytes.data() + bytes.size() - 8, uint64_t{field.size()});
    const Bytes value = as_bytes(field);
    bytes.insert(bytes.end(), value.begin(), value.end());
  }

  Schema schema_;
  std::vector<std::string> classes_;
  std::vector<uint64_t> begins_;  // beginning of each record, then the end of the last
  std::vector<uint64_t> ids_;
  FingerprintBuilder builder_;
  std::shared_ptr<const Source> source_;
};

// {image: image, label: tensor int64 []} and {image: image, label: tensor float32 []}.
inline Schema image_and_label(DType label = DType::kInt64) {
  Schema schema{{image_field("image"), label_field("label")}};
  FieldSpec& labels = schema.fields.back();
  if (label != labels.dtype) labels = {.name = "label", .kind = FieldKind::kTensor, .dtype = label};
  return schema;
}

// The bytes of a number in a tensor field.
template <typename T>
std::string scalar_bytes(T value) {
  std::string bytes(sizeof(T), '\0');
  store_le(std::as_writable_bytes(std::span(bytes)).data(), value);
  return bytes;
}

// The bytes of a row of numbers in a tensor field.
template <typename T>
std::string numbers_bytes(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) bytes += scalar_bytes(value);
  return bytes;
}

// The bytes of a tensor whose shape has several -1, which stand for `extents`.
inline std::string shaped_bytes(std::initializer_list<int64_t> extents,
                                const std::string& elements) {
  return numbers_bytes(extents) + elements;
}

// The bytes of a list.
inline std::string list_bytes(const std::vector<std::string>& items) {
  std::string bytes;
  for (const std::string& item : items) bytes += scalar_bytes(uint64_t{item.size()}) + item;
  return bytes;
}

}  // namespace fuelrail
