// Sample records for tests: an image with a mask, boxes and their labels, a camera, captions, bytes
// and a label. Sample i has i % 3 boxes.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/container/sample_record.h"

namespace fuelrail::testing {

inline constexpr uint16_t kMadeImage = 0;
inline constexpr uint16_t kMadeMask = 1;
inline constexpr uint16_t kMadeBoxes = 2;
inline constexpr uint16_t kMadeLabels = 3;
inline constexpr uint16_t kMadeCamera = 4;
inline constexpr uint16_t kMadeCaptions = 5;
inline constexpr uint16_t kMadeExtra = 6;
inline constexpr uint16_t kMadeLabel = 7;

inline Schema made_schema() {
  return {{image_field("cameras.0.image"),
           {.name = "cameras.0.mask",
            .kind = FieldKind::kImage,
            .role = Role::kMask,
            .of = kMadeImage,
            .detail = 255},
           {.name = "cameras.0.boxes",
            .kind = FieldKind::kTensor,
            .dtype = DType::kFloat32,
            .shape = {-1, 4},
            .role = Role::kBoxes,
            .of = kMadeImage,
            .rows = kMadeBoxes},
           {.name = "cameras.0.labels",
            .kind = FieldKind::kTensor,
            .dtype = DType::kInt64,
            .shape = {-1},
            .role = Role::kLabel,
            .rows = kMadeBoxes},
           {.name = "cameras.0.intrinsics",
            .kind = FieldKind::kTensor,
            .dtype = DType::kFloat64,
            .shape = {3, 3},
            .role = Role::kCamera,
            .of = kMadeImage},
           {.name = "captions", .kind = FieldKind::kText, .flags = kListField},
           {.name = "extra", .kind = FieldKind::kBytes},
           label_field("label")}};
}

// The values of sample i, and the memory that they are views of.
struct MadeSample {
  std::string image = "an image";
  std::string mask = "a mask";
  std::vector<float> boxes{};
  std::vector<int64_t> labels{};
  std::array<double, 9> camera{1, 0, 0, 0, 1, 0, 0, 0, 1};
  std::vector<std::string> captions{};
  std::string extra = "extra";
  int64_t label = 0;

  explicit MadeSample(uint64_t i) : label(static_cast<int64_t>(i % 2)) {
    image += std::to_string(i);
    for (uint64_t row = 0; row < i % 3; ++row) {
      const auto at = static_cast<float>(row);
      boxes.insert(boxes.end(), {at, at, at + 2, at + 3});
      labels.push_back(static_cast<int64_t>(row));
    }
    for (uint64_t k = 0; k < i % 4; ++k)
      captions.push_back("caption \xc3\xa9 " + std::to_string(k));
  }

  std::vector<FieldValue> values() const {
    std::vector<FieldValue> values(8);
    const auto rows = static_cast<int64_t>(labels.size());
    values[kMadeImage].bytes = as_bytes(image);
    values[kMadeMask].bytes = as_bytes(mask);
    values[kMadeBoxes].bytes = std::as_bytes(std::span(boxes));
    values[kMadeBoxes].shape = {static_cast<int64_t>(boxes.size() / 4), 4};
    values[kMadeLabels].bytes = std::as_bytes(std::span(labels));
    values[kMadeLabels].shape = {rows};
    values[kMadeCamera].bytes = std::as_bytes(std::span(camera));
    for (const std::string& caption : captions) {
      values[kMadeCaptions].items.push_back(as_bytes(caption));
    }
    values[kMadeExtra].bytes = as_bytes(extra);
    values[kMadeLabel].bytes = std::as_bytes(std::span(&label, 1));
    return values;
  }
};

inline std::string encoded(const Schema& schema, const MadeSample& sample, uint64_t id) {
  std::vector<std::byte> payload;
  SampleEncoder(schema).append(id, sample.values(), payload);
  return std::string(as_text(payload));
}

// The payload of sample i. Its id is i + 100.
inline std::string made_payload(uint64_t i) {
  return encoded(made_schema(), MadeSample(i), i + 100);
}

inline std::vector<std::string> made_payloads(uint64_t samples) {
  std::vector<std::string> payloads;
  for (uint64_t i = 0; i < samples; ++i) payloads.push_back(made_payload(i));
  return payloads;
}

}  // namespace fuelrail::testing
