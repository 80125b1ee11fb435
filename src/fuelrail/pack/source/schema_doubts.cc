#include "fuelrail/pack/source/schema_doubts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace fuelrail::pack {
namespace {

constexpr size_t kMostPairs = 10'000;  // bounds the work for a sample of thousands of fields

std::string_view dict_of(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(0, dot);
}

bool has_rows(const FieldSpec& field) {
  return field.kind == FieldKind::kTensor && !field.shape.empty() && field.shape.front() == -1;
}

// Whether a transform removes rows of this field because of the boxes in its group.
bool has_boxes(const Schema& schema, const FieldSpec& field) {
  return field.role == Role::kBoxes ||
         (field.rows && std::ranges::any_of(schema.fields, [&](const FieldSpec& other) {
            return other.rows == field.rows && other.role == Role::kBoxes;
          }));
}

}  // namespace

SchemaDoubts::SchemaDoubts(const Schema& schema) : schema_(schema) {
  std::vector<size_t> others;
  for (size_t k = 0; k < schema.fields.size(); ++k) {
    const FieldSpec& field = schema.fields[k];
    if (field.role == Role::kBoxes) {
      boxes_.push_back({.field = k});
    } else if (has_rows(field) && !has_boxes(schema, field)) {
      others.push_back(k);
    }
  }
  for (const Boxes& boxes : boxes_) {
    if (!has_rows(schema.fields[boxes.field])) continue;
    for (const size_t other : others) {
      if (pairs_.size() == kMostPairs) return;
      pairs_.push_back({.boxes = boxes.field,
                        .other = other,
                        .is_one_dict = dict_of(schema.fields[boxes.field].name) ==
                                       dict_of(schema.fields[other].name)});
    }
  }
}

void SchemaDoubts::Tally::add(uint64_t i, const std::string& text) {
  ++count;
  if (i >= first) return;
  first = i;
  found = text;
}

void SchemaDoubts::add_boxes(size_t field, uint64_t count, bool are_fractions) {
  const Lock lock(mutex_);
  Boxes& boxes = *std::ranges::find(boxes_, field, &Boxes::field);
  boxes.count += count;
  boxes.are_fractions = boxes.are_fractions && are_fractions;
}

void SchemaDoubts::add_camera(size_t field, bool is_rigid) {
  const Lock lock(mutex_);
  const auto [known, is_first] = rigid_.try_emplace(field, is_rigid);
  if (!is_first) known->second = known->second && is_rigid;
}

void SchemaDoubts::add_far_box(uint64_t i, size_t field, const std::string& box) {
  const Lock lock(mutex_);
  std::ranges::find(boxes_, field, &Boxes::field)->far.add(i, box);
}

void SchemaDoubts::add_palette(uint64_t i, size_t field) {
  const Lock lock(mutex_);
  palettes_[field].add(i);
}

void SchemaDoubts::add_mask(size_t field, DType dtype) {
  const Lock lock(mutex_);
  masks_[field].insert(dtype);
}

void SchemaDoubts::add_rows(const std::vector<SourceValue>& values) {
  const Lock lock(mutex_);
  for (Pair& pair : pairs_) {
    if (pair.differ) continue;
    const int64_t rows = values[pair.boxes].shape.front();
    pair.differ = rows != values[pair.other].shape.front();
    pair.varies = pair.varies || (pair.rows >= 0 && pair.rows != rows);
    if (pair.rows <= 0) pair.rows = rows;
  }
}

std::string SchemaDoubts::remark_on_rows(size_t boxes) const {
  std::vector<std::string> names;
  for (const Pair& pair : pairs_) {
    if (pair.boxes != boxes || !pair.suspect()) continue;
    names.push_back(fmt::format("'{}'", schema_.fields[pair.other].name));
  }
  if (names.empty()) return "";
  return fmt::format(
      "'{}' has as many rows as {} in every sample, but they are not one group of rows: a loader "
      "that removes a box keeps the other rows. If they describe the same objects, put the fields "
      "into one dict with the same `rows`, such as F.Boxes(\"xyxy\", rows=\"objects\") and "
      "F.Label(rows=\"objects\")",
      schema_.fields[boxes].name, fmt::join(names, ", "));
}

std::string SchemaDoubts::remark_on_tensors() const {
  constexpr auto kIsMoved = [](const FieldSpec& field) {
    return field.role == Role::kBoxes || field.role == Role::kPoints || field.role == Role::kCamera;
  };
  if (std::ranges::any_of(schema_.fields, kIsMoved)) return "";
  std::vector<std::string> names;
  for (const FieldSpec& field : schema_.fields) {
    const bool may_be_boxes = field.kind == FieldKind::kTensor && field.role == Role::kNone &&
                              field.shape.size() == 2 && field.shape[0] == -1 &&
                              field.shape[1] == 4;
    if (may_be_boxes) names.push_back("'" + field.name + "'");
  }
  const auto image = std::ranges::find(schema_.fields, Role::kImage, &FieldSpec::role);
  if (image == schema_.fields.end() || names.empty()) return "";
  return fmt::format(
      "transforms of '{}' do not move {}. If they are boxes, declare them with F.Boxes in a schema "
      "(docs/samples.md)",
      image->name, fmt::join(names, ", "));
}

std::vector<std::string> SchemaDoubts::remarks(
    const std::function<std::string(uint64_t)>& path) const {
  const Lock lock(mutex_);
  std::vector<std::string> remarks;
  for (const auto& [field, palettes] : palettes_) {
    remarks.push_back(fmt::format(
        "images of the field '{}' with a palette: {}; the first is in {}. If their numbers are "
        "classes, declare the field as a mask",
        schema_.fields[field].name, palettes.count, path(palettes.first)));
  }
  for (const auto& [field, types] : masks_) {
    if (types.size() == 1) continue;
    const auto widest = std::ranges::max_element(types, {}, size_in_bytes);
    remarks.push_back(fmt::format(
        "masks of the field '{0}' have different types, the widest is {1}: a loader needs "
        "dtype={{\"{0}\": \"{1}\"}}, or \"int64\"",
        schema_.fields[field].name, name_of(*widest)));
  }
  for (const auto& [field, all_rigid] : rigid_) {
    if (!all_rigid) continue;
    remarks.push_back(fmt::format(
        "the matrices of the field '{}' only rotate and shift, so they do not project into the "
        "image, but a loader changes them with it. If they are poses of cameras, declare the field "
        "as a tensor",
        schema_.fields[field].name));
  }
  if (std::string remark = remark_on_tensors(); !remark.empty()) {
    remarks.push_back(std::move(remark));
  }
  for (const Boxes& boxes : boxes_) {
    const FieldSpec& field = schema_.fields[boxes.field];
    const bool relative = field.has(kRelative);
    if (boxes.count > 0 && boxes.are_fractions && !relative) {
      remarks.push_back(fmt::format(
          "all numbers of the field '{}' are from 0 to 1, but its boxes are in pixels, and a "
          "loader removes boxes that are so small. If they are fractions of the image, declare the "
          "field with relative=True",
          field.name));
    }
    if (boxes.far.count > 0) {
      remarks.push_back(fmt::format(
          "boxes of the field '{}' outside of their image by more than its size: {}; the first is "
          "{} in {}. {}",
          field.name, boxes.far.count, boxes.far.found, path(boxes.far.first),
          relative ? "If they are in pixels, declare the field without relative=True"
                   : "Check the format of the boxes"));
    }
    if (std::string remark = remark_on_rows(boxes.field); !remark.empty()) {
      remarks.push_back(std::move(remark));
    }
  }
  return remarks;
}

}  // namespace fuelrail::pack
