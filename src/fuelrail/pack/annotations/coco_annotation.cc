#include "fuelrail/pack/annotations/coco_annotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/pack/annotations/polygon.h"

namespace fuelrail::pack {
namespace {

using nlohmann::json;

constexpr size_t kFewestCoordinates = 6;  // of a polygon with an inside

// Corners, from x, y, width and height.
std::array<float, 4> read_box(const JsonValue& box) {
  if (box.array("4 numbers").size() != 4) refuse_type(box.place, "4 numbers", box.value);
  std::array<double, 4> numbers{};
  for (size_t i = 0; i < 4; ++i) numbers[i] = box[i].number();
  const auto [x, y, width, height] = numbers;
  if (width < 0 || height < 0) {
    throw CorruptError(fmt::format("`{}` has a negative width or height", box.place),
                       {.expected = "x, y, width, height", .found = short_text(box.value)});
  }
  if (std::max(x + width, y + height) > std::numeric_limits<float>::max()) {
    throw CorruptError(fmt::format("`{}` has a corner that float32 cannot hold", box.place),
                       {.found = short_text(box.value)});
  }
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(x + width),
          static_cast<float>(y + height)};
}

bool read_crowd(const JsonValue& annotation) {
  const json* found = annotation.find("iscrowd");
  if (found == nullptr) return false;
  if (found->is_boolean()) return found->get<bool>();
  return annotation.member("iscrowd").whole_number(1) == 1;
}

std::vector<float> read_key_points(const JsonValue& annotation) {
  if (annotation.find("keypoints") == nullptr) return {};
  const JsonValue list = annotation.member("keypoints").array("an array of numbers");
  if (list.size() % 3 != 0) {
    refuse_type(list.place, "x, y and visibility of each key point", list.value);
  }
  std::vector<float> points(list.size());
  for (size_t i = 0; i < points.size(); ++i) points[i] = static_cast<float>(list[i].number());
  return points;
}

std::vector<double> read_polygon(const JsonValue& list) {
  list.array("an array of numbers");
  if (list.size() % 2 != 0) {
    throw CorruptError(fmt::format("`{}` has an odd number of coordinates", list.place),
                       {.found = fmt::to_string(list.size())});
  }
  std::vector<double> polygon(list.size());
  for (size_t i = 0; i < polygon.size(); ++i) {
    const json& value = list.value[i];
    polygon[i] = value.is_number() ? value.get<double>() : std::nan("");
    if (std::abs(polygon[i]) <= kFarthestCorner) continue;
    refuse_type(list[i].place,
                fmt::format("a number from -{} to {}", kFarthestCorner, kFarthestCorner), value);
  }
  return polygon;
}

EncodedRuns read_runs(const JsonValue& runs) {
  const JsonValue size = runs.member("size").array("height and width");
  if (size.size() != 2) refuse_type(size.place, "height and width", size.value);
  EncodedRuns read;
  read.image = {static_cast<int64_t>(size[0].whole_number(kMaxSide)),
                static_cast<int64_t>(size[1].whole_number(kMaxSide))};
  const JsonValue counts = runs.member("counts");
  if (counts.value.is_string()) {
    read.lengths = counts.text();
    return read;
  }
  counts.array("an array of run lengths, or a string");
  RunLengths lengths(counts.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<uint32_t>(counts[i].whole_number(UINT32_MAX));
  }
  read.lengths = std::move(lengths);
  return read;
}

// `thin` counts the polygons with fewer than three corners, which are left out.
void read_segmentation(const JsonValue& annotation, CocoObject& object, uint64_t& thin) {
  if (annotation.find("segmentation") == nullptr) return;
  const JsonValue value = annotation.member("segmentation");
  if (value.value.is_object()) {
    object.segmentation = read_runs(value);
    return;
  }
  value.array("an array of polygons, or run lengths");
  Polygons polygons;
  for (size_t i = 0; i < value.size(); ++i) {
    std::vector<double> polygon = read_polygon(value[i]);
    if (polygon.size() < kFewestCoordinates) {
      ++thin;
    } else {
      polygons.push_back(std::move(polygon));
    }
  }
  if (!polygons.empty()) object.segmentation = std::move(polygons);
}

}  // namespace

CocoAnnotation read_annotation(const JsonValue& value, uint64_t number, uint64_t& thin) {
  CocoAnnotation annotation{.number = number, .object = {}, .caption = {}};
  if (value.find("caption") != nullptr) annotation.caption = value.member("caption").text();
  if (annotation.caption && value.find("category_id") == nullptr) return annotation;
  CocoObject& object = annotation.object.emplace();
  object.category_id = id_of(value.member("category_id"));
  object.box = read_box(value.member("bbox"));
  object.is_crowd = read_crowd(value);
  object.area = value.find("area") == nullptr
                    ? (object.box[2] - object.box[0]) * (object.box[3] - object.box[1])
                    : static_cast<float>(value.member("area").number());
  object.key_points = read_key_points(value);
  read_segmentation(value, object, thin);
  return annotation;
}

int64_t id_of(const JsonValue& value) {
  return static_cast<int64_t>(value.whole_number(std::numeric_limits<int64_t>::max()));
}

std::string place_of_annotation(uint64_t number) { return fmt::format("annotations[{}]", number); }

}  // namespace fuelrail::pack
