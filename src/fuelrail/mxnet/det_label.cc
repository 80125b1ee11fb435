#include "fuelrail/mxnet/det_label.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/det_augmenter.h"

namespace fuelrail::mxnet {
namespace {

struct DetWidths {
  size_t header = 0;
  size_t object = 0;
};

size_t whole_width(float value, float least, const char* what) {
  if (value >= least && value <= 1e6f && value == std::floor(value)) {
    return static_cast<size_t>(value);
  }
  throw CorruptError(fmt::format("the detection label has an invalid {}", what),
                     {.expected = fmt::format("a whole number of at least {}", least),
                      .found = fmt::format("{}", value)});
}

DetWidths det_widths(std::span<const float> label) {
  if (label.size() < 7) {
    throw CorruptError(
        "the detection label is too short",
        {.expected = "at least 7 numbers (header width, object width and an object of 5 numbers)",
         .found = fmt::format("{}", label.size())});
  }
  const DetWidths widths{whole_width(label[0], 2, "header width"),
                         whole_width(label[1], 5, "object width")};
  if (widths.header > label.size() || (label.size() - widths.header) % widths.object != 0) {
    throw CorruptError(
        "the length of the detection label does not match its header width and object width",
        {.expected = fmt::format("a header of {} numbers, then objects of {} numbers each",
                                 widths.header, widths.object),
         .found = fmt::format("{} numbers in total", label.size())});
  }
  return widths;
}

}  // namespace

void check_det_label(std::span<const float> label) { det_widths(label); }

float common_area(const DetBox& a, const DetBox& b) {
  const float left = std::max(a.left, b.left);
  const float top = std::max(a.top, b.top);
  const float width = std::min(a.left + a.width, b.left + b.width) - left;
  const float height = std::min(a.top + a.height, b.top + b.height) - top;
  return width > 0 && height > 0 ? width * height : 0;
}

void DetLabel::read(std::span<const float> row) {
  const DetWidths widths = det_widths(row);
  header_.assign(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(widths.header));
  extra_width_ = widths.object - 5;
  objects_.clear();
  extras_.clear();
  for (size_t at = widths.header; at < row.size(); at += widths.object) {
    const Object object{row[at],     row[at + 1], row[at + 2],
                        row[at + 3], row[at + 4], extras_.size()};
    if (!(object.right > object.left && object.bottom > object.top)) continue;
    objects_.push_back(object);
    const auto extra = row.subspan(at + 5, extra_width_);
    extras_.insert(extras_.end(), extra.begin(), extra.end());
  }
}

void DetLabel::write(std::vector<float>& row) const {
  row.assign(header_.begin(), header_.end());
  for (const Object& object : objects_) {
    row.insert(row.end(), {object.id, object.left, object.top, object.right, object.bottom});
    const auto extra = extras_.begin() + static_cast<std::ptrdiff_t>(object.extra);
    row.insert(row.end(), extra, extra + static_cast<std::ptrdiff_t>(extra_width_));
  }
}

void DetLabel::mirror() {
  for (Object& object : objects_) {
    const float left = 1.0f - object.right;
    object.right = 1.0f - object.left;
    object.left = left;
  }
}

DetLabel::Object DetLabel::seen_in(Object object, const DetBox& box) {
  object.left = std::max(0.0f, (object.left - box.left) / box.width);
  object.top = std::max(0.0f, (object.top - box.top) / box.height);
  object.right = std::min(1.0f, (object.right - box.left) / box.width);
  object.bottom = std::min(1.0f, (object.bottom - box.top) / box.height);
  return object;
}

void DetLabel::enlarge(const DetBox& box) {
  for (Object& object : objects_) object = seen_in(object, box);
}

bool DetLabel::within(const CropLimits& limits, const DetBox& crop, const DetBox& object) {
  const float common = common_area(crop, object);
  // If one limit of a pair is set, both limits apply: rounding may make a fraction larger than 1.
  const auto holds = [](float low, float value, float high) {
    return (low <= 0 && high >= 1) || !(value < low || value > high);
  };
  const float overlap = common > 0 ? common / (crop.area() + object.area() - common) : 0;
  return holds(limits.min_overlap, overlap, limits.max_overlap) &&
         holds(limits.min_sample_coverage, common / crop.area(), limits.max_sample_coverage) &&
         holds(limits.min_object_coverage, common / object.area(), limits.max_object_coverage);
}

bool DetLabel::stays(const Object& object, const DetBox& crop, CropEmitMode mode, float threshold) {
  if (mode == CropEmitMode::kOverlap) {
    return common_area(crop, object.box()) / object.box().area() > threshold;
  }
  const float x = (object.left + object.right) * 0.5f;
  const float y = (object.top + object.bottom) * 0.5f;
  return crop.left <= x && x < crop.left + crop.width && crop.top <= y &&
         y < crop.top + crop.height;
}

bool DetLabel::crop(const DetBox& box, const CropLimits& limits, CropEmitMode mode,
                    float emit_overlap_thresh) {
  if (objects_.empty()) return true;
  const auto fits = [&](const Object& object) { return within(limits, box, object.box()); };
  if (std::ranges::none_of(objects_, fits)) return false;
  kept_.clear();
  for (const Object& object : objects_) {
    if (stays(object, box, mode, emit_overlap_thresh)) kept_.push_back(seen_in(object, box));
  }
  if (kept_.empty()) return false;
  objects_.swap(kept_);
  return true;
}

}  // namespace fuelrail::mxnet
