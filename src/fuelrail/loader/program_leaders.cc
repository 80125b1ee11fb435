#include "fuelrail/loader/program_leaders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "fuelrail/base/error.h"
#include "fuelrail/base/philox.h"
#include "fuelrail/loader/field_patterns.h"

namespace fuelrail {
namespace {

CoordinateForm stored_form(const FieldSpec& field) {
  return {.relative = field.has(kRelative), .pixel_centers = field.has(kPixelCenters)};
}

// Errors: those of sample_program for an image with which others move.
void check_followed(const FieldSpec& spec, const Transforms& transforms) {
  if (spec.has(kListField)) {
    throw UnsupportedError("fields that refer to a list of images cannot be loaded",
                           {.found = fmt::format("fields that refer to '{}'", spec.name),
                            .remedy = "Select the other fields with `fields`"});
  }
  for (size_t i = 0; i < transforms.size(); ++i) {
    const auto* const custom = std::get_if<CustomStage>(&transforms[i]);
    if (custom == nullptr || !custom->stage->moves_pixels()) continue;
    throw UnsupportedError(
        "a custom stage moves pixels, so masks, boxes and points cannot move with the image",
        {.found = fmt::format("transform {} of the image '{}'", i, spec.name),
         .remedy = "Override moves_pixels() to return false, if the stage changes only colours"});
  }
}

}  // namespace

const Transforms& transforms_for(const FieldSpec& field, const ImageOptions& options) {
  const Transforms* const named = value_of(options.transforms_of, field.name);
  return named ? *named : options.transforms;
}

ProgramLeaders::ProgramLeaders(const Schema& schema, const ImageOptions& options)
    : schema_(schema), options_(options) {
  program_.keep = options.keep;
  program_.orientation = options.orientation;
  program_.scaled_decode = options.scaled_decode;
  program_.max_pixels = options.max_pixels;
  for (const std::vector<std::string>& patterns : options.shared) share(patterns);
}

void ProgramLeaders::share(const std::vector<std::string>& patterns) {
  check_patterns("shared", patterns, schema_, &FieldSpec::leads, "image");
  std::vector<size_t> fields;
  for (size_t field = 0; field < schema_.fields.size(); ++field) {
    const FieldSpec& spec = schema_.fields[field];
    const bool named = std::ranges::any_of(
        patterns, [&](const std::string& pattern) { return matches(pattern, spec.name); });
    if (named && spec.leads()) fields.push_back(field);
  }
  if (fields.size() < 2) {
    throw InvalidArgumentError("`shared` has a group of fewer than two images",
                               {.found = fmt::format("({})", fmt::join(patterns, ", "))});
  }
  for (const size_t field : fields) {
    if (shared_.emplace(field, number_of(fields.front())).second) continue;
    throw InvalidArgumentError(
        fmt::format("two groups of `shared` have the image '{}'", schema_.fields[field].name));
  }
}

uint32_t ProgramLeaders::number_of(size_t field) const {
  const auto begin = schema_.fields.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(field);
  const auto number = std::ranges::count_if(begin, end, &FieldSpec::leads);
  if (number < kMaxLeaders) return static_cast<uint32_t>(number);
  throw InvalidArgumentError("the dataset has too many image fields",
                             {.expected = fmt::format("at most {}", kMaxLeaders),
                              .found = fmt::format("more ('{}' is image field {})",
                                                   schema_.fields[field].name, number + 1)});
}

size_t ProgramLeaders::leader(size_t field) {
  if (const auto found = leaders_.find(field); found != leaders_.end()) return found->second;
  const FieldSpec& spec = schema_.fields[field];
  const auto shared = shared_.find(field);
  const size_t index = program_.leaders.size();
  leaders_[field] = index;
  program_.leaders.push_back({.field = field,
                              .draws = shared == shared_.end() ? number_of(field) : shared->second,
                              .transforms = transforms_for(spec, options_)});
  if (!needs_boxes(program_.leaders[index].transforms)) return index;
  std::vector<size_t> needed;
  for (size_t other = 0; other < schema_.fields.size(); ++other) {
    const FieldSpec& candidate = schema_.fields[other];
    if (candidate.role == Role::kBoxes && candidate.of == field) needed.push_back(boxes(other));
  }
  if (needed.empty()) {
    throw InvalidArgumentError(
        fmt::format("RandomIoUCrop needs boxes, but no boxes refer to the image '{}'", spec.name),
        {.remedy = "Use RandomResizedCrop or RandomCrop, or pack the dataset with boxes"});
  }
  program_.leaders[index].boxes = std::move(needed);
  return index;
}

size_t ProgramLeaders::followed(size_t field) {
  const size_t index = leader(field);
  LeaderProgram& program = program_.leaders[index];
  check_followed(schema_.fields[field], program.transforms);
  program.moves = true;
  return index;
}

size_t ProgramLeaders::boxes(size_t field) {
  if (const auto found = boxes_.find(field); found != boxes_.end()) return found->second;
  const FieldSpec& spec = schema_.fields[field];
  const size_t index = program_.boxes.size();
  boxes_[field] = index;  // before the leader, which may need these boxes
  program_.boxes.push_back({.field = field,
                            .name = spec.name,
                            .dtype = spec.dtype,
                            .format = static_cast<BoxFormat>(spec.detail),
                            .form = stored_form(spec)});
  const size_t leader = leader_of(spec);
  program_.boxes[index].leader = leader;
  return index;
}

PointsProgram ProgramLeaders::points(size_t field) {
  const FieldSpec& spec = schema_.fields[field];
  return {.field = field,
          .dtype = spec.dtype,
          .leader = leader_of(spec),
          .form = stored_form(spec),
          .numbers = spec.shape.back()};
}

std::optional<size_t> ProgramLeaders::objects_of(size_t field) {
  const FieldSpec& asked = schema_.fields[field];
  if (!asked.rows && asked.role != Role::kBoxes) return std::nullopt;
  const size_t group = asked.rows.value_or(static_cast<uint16_t>(field));
  if (const auto found = objects_.find(group); found != objects_.end()) return found->second;
  ObjectsProgram objects;
  const auto in_group = [&](size_t other) {
    return other == field || (asked.rows && schema_.fields[other].rows == asked.rows);
  };
  for (size_t other = 0; other < schema_.fields.size(); ++other) {
    if (schema_.fields[other].role == Role::kBoxes && in_group(other)) {
      objects.boxes.push_back(boxes(other));
    }
  }
  for (size_t other = 0; other < schema_.fields.size(); ++other) {
    if (!objects.boxes.empty() || !options_.drop_points) break;
    if (schema_.fields[other].role == Role::kPoints && in_group(other)) {
      objects.points.push_back(points(other));
    }
  }
  std::optional<size_t>& index = objects_[group];
  if (objects.boxes.empty() && objects.points.empty()) return index;
  index = program_.objects.size();
  program_.objects.push_back(std::move(objects));
  return index;
}

const Transforms& ProgramLeaders::transforms_of(size_t leader) const {
  return program_.leaders[leader].transforms;
}

SampleProgram ProgramLeaders::finish() { return std::move(program_); }

}  // namespace fuelrail
