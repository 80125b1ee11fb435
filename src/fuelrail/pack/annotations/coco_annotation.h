// An element of `annotations` in a COCO file: an object of an image, or a caption.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/pack/annotations/json_value.h"
#include "fuelrail/pack/annotations/rle.h"

namespace fuelrail::pack {

// The outline of an object: corners as x and y in turn. Several are joined.
using Polygons = std::vector<std::vector<double>>;

struct EncodedRuns {
  Size image;
  std::variant<RunLengths, std::string> lengths;  // a string: compressed (rle.h)
};

struct CocoObject {
  std::array<float, 4> box{};  // x1, y1, x2, y2: corners in pixels
  int64_t category_id = 0;
  bool is_crowd = false;
  float area = 0;
  std::vector<float> key_points;  // x, y and visibility of each
  std::variant<std::monostate, Polygons, EncodedRuns> segmentation;
};

struct CocoAnnotation {
  uint64_t number = 0;  // in the file's `annotations`
  std::optional<CocoObject> object;
  std::optional<std::string> caption;
};

// The members that `read_annotation` reads.
inline constexpr std::array<std::string_view, 7> kAnnotationMembers{
    "category_id", "bbox", "iscrowd", "area", "keypoints", "segmentation", "caption"};

// Polygons with fewer than three corners are left out, and counted in `thin`. Errors: CorruptError,
// as CocoFile's constructor says (coco_file.h).
CocoAnnotation read_annotation(const JsonValue& value, uint64_t number, uint64_t& thin);

// An id of an image, a category or an annotation. Errors: CorruptError for a value that is no whole
// number from 0 to 2**63 - 1.
int64_t id_of(const JsonValue& value);

// "annotations[12]": for messages.
std::string place_of_annotation(uint64_t number);

}  // namespace fuelrail::pack
