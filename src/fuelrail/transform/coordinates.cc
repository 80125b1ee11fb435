#include "fuelrail/transform/coordinates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <variant>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

double in_pixels(int64_t length) { return static_cast<double>(length); }

// `second` after `first`.
Affine product(const Affine& second, const Affine& first) {
  const Affine& a = second;
  const Affine& b = first;
  return {a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4], a[0] * b[2] + a[1] * b[5] + a[2],
          a[3] * b[0] + a[4] * b[3], a[3] * b[1] + a[4] * b[4], a[3] * b[2] + a[4] * b[5] + a[5]};
}

Affine affine_of(const ResampleStep& step) {
  const double x = in_pixels(step.scaled.width) / in_pixels(step.box.width);
  const double y = in_pixels(step.scaled.height) / in_pixels(step.box.height);
  return {x, 0, -in_pixels(step.box.left) * x - in_pixels(step.window.left),
          0, y, -in_pixels(step.box.top) * y - in_pixels(step.window.top)};
}

Affine affine_of(const FlipStep& step, Size size) {
  Affine affine = kUnmoved;
  if (step.horizontal) affine[0] = -1, affine[2] = in_pixels(size.width);
  if (step.vertical) affine[4] = -1, affine[5] = in_pixels(size.height);
  return affine;
}

// The step's matrix maps the other way, relative to the middles of both images.
Affine affine_of(const WarpStep& step, Size input) {
  const Matrix& m = step.matrix;
  const double determinant = m[0] * m[4] - m[1] * m[3];
  const double a = m[4] / determinant;
  const double b = -m[1] / determinant;
  const double c = -m[3] / determinant;
  const double d = m[0] / determinant;
  const double x = in_pixels(input.width) * 0.5 + m[2];
  const double y = in_pixels(input.height) * 0.5 + m[5];
  return {a, b, in_pixels(step.output.width) * 0.5 - (a * x + b * y),
          c, d, in_pixels(step.output.height) * 0.5 - (c * x + d * y)};
}

// The areas and the affine maps of smaller coordinates are finite.
constexpr double kMostCoordinate = 1e100;

bool is_box(const Corners& box) {
  for (const double at : {box.x1, box.y1, box.x2, box.y2}) {
    if (!(std::abs(at) <= kMostCoordinate)) return false;  // also if it is NaN
  }
  return box.x2 >= box.x1 && box.y2 >= box.y1;
}

bool has_area(const Corners& box) { return box.x2 > box.x1 && box.y2 > box.y1; }

Corners limited(const Corners& box, const Box& to) {
  const auto x = [&](double at) {
    return std::clamp(at, in_pixels(to.left), in_pixels(to.right()));
  };
  const auto y = [&](double at) {
    return std::clamp(at, in_pixels(to.top), in_pixels(to.bottom()));
  };
  return {x(box.x1), y(box.y1), x(box.x2), y(box.y2)};
}

using Polygon = std::vector<Point>;  // convex, in order

Corners hull_of(const Polygon& polygon) {
  Corners hull{polygon[0].x, polygon[0].y, polygon[0].x, polygon[0].y};
  for (const Point& point : polygon) {
    hull.x1 = std::min(hull.x1, point.x);
    hull.y1 = std::min(hull.y1, point.y);
    hull.x2 = std::max(hull.x2, point.x);
    hull.y2 = std::max(hull.y2, point.y);
  }
  return hull;
}

// Sets `kept` to the part of the polygon where side * (x or y - limit) >= 0 (Sutherland and
// Hodgman, "Reentrant polygon clipping").
void cut(const Polygon& polygon, double Point::*axis, double limit, double side, Polygon& kept) {
  kept.clear();
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point& from = polygon[i];
    const Point& to = polygon[(i + 1) % polygon.size()];
    const double before = side * (from.*axis - limit);
    const double after = side * (to.*axis - limit);
    if (before >= 0) kept.push_back(from);
    if ((before < 0) == (after < 0)) continue;
    const double part = before / (before - after);
    kept.push_back({from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)});
  }
}

// Returns: whether a part of the polygon is left.
bool limit(Polygon& polygon, const Box& to, Polygon& spare) {
  cut(polygon, &Point::x, in_pixels(to.left), 1, spare);
  cut(spare, &Point::x, in_pixels(to.right()), -1, polygon);
  cut(polygon, &Point::y, in_pixels(to.top), 1, spare);
  cut(spare, &Point::y, in_pixels(to.bottom()), -1, polygon);
  return polygon.size() >= 3;
}

Corners hull_of(const Affine& affine, const Corners& box) {
  const Point a = mapped(affine, {box.x1, box.y1});
  const Point b = mapped(affine, {box.x2, box.y2});
  Corners hull{std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
  if (affine[1] == 0 && affine[3] == 0) return hull;
  for (const Point c : {mapped(affine, {box.x2, box.y1}), mapped(affine, {box.x1, box.y2})}) {
    hull.x1 = std::min(hull.x1, c.x);
    hull.y1 = std::min(hull.y1, c.y);
    hull.x2 = std::max(hull.x2, c.x);
    hull.y2 = std::max(hull.y2, c.y);
  }
  return hull;
}

double area(const Corners& box) { return (box.x2 - box.x1) * (box.y2 - box.y1); }

// The unit and the origin of a field's coordinates: pixels = number * scale + shift.
struct Ruler {
  Point scale{1, 1};
  double shift = 0;
  Ruler(CoordinateForm form, Size image) : shift(form.pixel_centers ? 0.5 : 0) {
    if (form.relative) scale = {in_pixels(image.width), in_pixels(image.height)};
  }
  Point to_pixels(double x, double y) const { return {x * scale.x + shift, y * scale.y + shift}; }
  Point from_pixels(Point p) const { return {(p.x - shift) / scale.x, (p.y - shift) / scale.y}; }
};

}  // namespace

Point mapped(const Affine& affine, Point point) {
  return {affine[0] * point.x + affine[1] * point.y + affine[2],
          affine[3] * point.x + affine[4] * point.y + affine[5]};
}

Affine affine(const Plan& plan) { return Motion(plan, plan.output).affine(); }

// --- Motion ---

void Motion::follow(const Plan& plan, Size image) {
  legs_.clear();
  first_turn_ = end_turn_ = 0;
  image_ = output_ = image;
  affine_ = kUnmoved;
  for (const ResampleStep& step : plan.steps) add(step);
  for (const PixelStep& step : plan.pixel_steps) add(step);
  if (plan.flip_horizontal || plan.flip_vertical) {
    add(FlipStep{plan.flip_horizontal, plan.flip_vertical});
  }
}

void Motion::add(const PixelStep& step) {
  if (const auto* resampling = std::get_if<ResampleStep>(&step)) {
    add(resampling->box, affine_of(*resampling), false, resampling->window.size());
  } else if (const auto* flip = std::get_if<FlipStep>(&step)) {
    add(whole(output_), affine_of(*flip, output_), false, output_);
  } else if (const auto* warp = std::get_if<WarpStep>(&step)) {
    add(whole(output_), affine_of(*warp, output_), true, warp->output);
  } else if (const auto* custom = std::get_if<CustomStep>(&step)) {
    require_still(*custom);
  }
}

void Motion::add(const Box& from, const Affine& affine, bool turns, Size output) {
  if (turns && end_turn_ == 0) first_turn_ = legs_.size();
  legs_.push_back({from, affine});
  if (turns) end_turn_ = legs_.size();
  affine_ = product(affine, affine_);
  output_ = output;
}

std::optional<Corners> Motion::move(const Corners& object) {
  Corners box = limited(object, whole(image_));
  for (size_t i = 0; i < legs_.size(); ++i) {
    const Leg& leg = legs_[i];
    const bool upright = i < first_turn_ || i >= end_turn_;
    if (upright) box = limited(box, leg.from);
    if (!has_area(box)) return std::nullopt;
    if (end_turn_ > 0 && i == first_turn_) {
      turned_ = {{box.x1, box.y1}, {box.x2, box.y1}, {box.x2, box.y2}, {box.x1, box.y2}};
    }
    if (end_turn_ > 0 && i >= first_turn_) {
      if (!limit(turned_, leg.from, spare_)) return std::nullopt;
      for (Point& point : turned_) point = mapped(leg.affine, point);
    }
    if (upright) box = hull_of(leg.affine, box);
    if (i + 1 == end_turn_) box = hull_of(turned_);
  }
  box = limited(box, whole(output_));
  if (!has_area(box)) return std::nullopt;
  if (end_turn_ > 0 && !limit(turned_, whole(output_), spare_)) return std::nullopt;
  return box;
}

Corners Motion::hull(const Corners& object) const { return hull_of(affine_, object); }

bool Motion::shows(Point point) const {
  const auto holds = [&point](const Box& box) {
    constexpr double kSlack = 1e-6;  // pixels, for the rounding of points on an edge
    return point.x >= in_pixels(box.left) - kSlack && point.x <= in_pixels(box.right()) + kSlack &&
           point.y >= in_pixels(box.top) - kSlack && point.y <= in_pixels(box.bottom()) + kSlack;
  };
  if (!holds(whole(image_))) return false;
  for (const Leg& leg : legs_) {
    if (!holds(leg.from)) return false;
    point = mapped(leg.affine, point);
  }
  return holds(whole(output_));
}

// --- Boxes ---

template <typename Number>
void read_boxes(std::span<const Number> values, BoxFormat format, CoordinateForm form, Size image,
                std::string_view field, std::vector<Corners>& boxes) {
  const Ruler ruler(form, image);
  for (size_t i = 0; i + 4 <= values.size(); i += 4) {
    const Point first = ruler.to_pixels(values[i], values[i + 1]);
    const Point second = ruler.to_pixels(values[i + 2], values[i + 3]);
    const Point sides{values[i + 2] * ruler.scale.x, values[i + 3] * ruler.scale.y};
    Corners box{first.x, first.y, second.x, second.y};
    if (format == BoxFormat::kXywh) {
      box = {first.x, first.y, first.x + sides.x, first.y + sides.y};
    } else if (format == BoxFormat::kCxcywh) {
      box = {first.x - sides.x * 0.5, first.y - sides.y * 0.5, first.x + sides.x * 0.5,
             first.y + sides.y * 0.5};
    }
    if (!is_box(box)) {
      throw CorruptError(
          fmt::format("a box of the field '{}' is invalid", field),
          {.expected = fmt::format("numbers of at most {}, and a width and height of at least 0",
                                   kMostCoordinate),
           .found = fmt::format("({}, {}, {}, {}) in row {}", values[i], values[i + 1],
                                values[i + 2], values[i + 3], i / 4),
           .remedy = "Check the format of the boxes, or leave out the object"});
    }
    boxes.push_back(box);
  }
}

template <typename Number>
void write_boxes(std::span<const Corners> boxes, BoxFormat format, CoordinateForm form, Size image,
                 std::span<Number> values) {
  const Ruler ruler(form, image);
  Number* to = values.data();
  for (const Corners& box : boxes) {
    const Point sides{(box.x2 - box.x1) / ruler.scale.x, (box.y2 - box.y1) / ruler.scale.y};
    Point first = ruler.from_pixels({box.x1, box.y1});
    Point second = sides;
    if (format == BoxFormat::kXyxy) second = ruler.from_pixels({box.x2, box.y2});
    if (format == BoxFormat::kCxcywh) {
      first = ruler.from_pixels({(box.x1 + box.x2) * 0.5, (box.y1 + box.y2) * 0.5});
    }
    for (const double number : {first.x, first.y, second.x, second.y}) {
      *to++ = static_cast<Number>(number);
    }
  }
}

void move_boxes(Motion& motion, const KeepRule& rule, std::span<const uint8_t> removed,
                std::span<Corners> boxes, std::vector<uint8_t>& kept) {
  kept.clear();
  for (size_t i = 0; i < boxes.size(); ++i) {
    Corners& box = boxes[i];
    const Corners whole_object = motion.hull(box);
    std::optional<Corners> shown;
    if (removed.empty() || removed[i] == 0) shown = motion.move(box);
    if (shown) {
      box = *shown;
      const bool large = box.x2 - box.x1 >= rule.min_size && box.y2 - box.y1 >= rule.min_size &&
                         area(box) >= rule.min_area * area(whole_object);
      kept.push_back(large || rule.keep_empty);
    } else {
      const double x = (whole_object.x1 + whole_object.x2) * 0.5;
      const double y = (whole_object.y1 + whole_object.y2) * 0.5;
      box = limited({x, y, x, y}, whole(motion.output()));
      kept.push_back(rule.keep_empty);
    }
  }
}

// --- Points ---

template <typename Number>
void move_points(const Motion& motion, CoordinateForm form, int64_t numbers,
                 std::span<const Number> from, std::span<Number> to, std::vector<uint8_t>& shown) {
  const Ruler before(form, motion.image());
  const Ruler after(form, motion.output());
  const auto stride = static_cast<size_t>(numbers);
  shown.clear();
  for (size_t i = 0; i + stride <= from.size(); i += stride) {
    if (numbers == 3 && from[i] == 0 && from[i + 1] == 0 && from[i + 2] == 0) {  // absent
      std::fill_n(to.begin() + static_cast<std::ptrdiff_t>(i), 3, Number{0});
      shown.push_back(0);
      continue;
    }
    const Point point = before.to_pixels(from[i], from[i + 1]);
    const bool inside = motion.shows(point);
    const bool seen = inside && (numbers == 2 || from[i + 2] != 0);
    const Point moved = after.from_pixels(mapped(motion.affine(), point));
    to[i] = static_cast<Number>(moved.x);
    to[i + 1] = static_cast<Number>(moved.y);
    if (numbers == 3) to[i + 2] = inside ? from[i + 2] : Number{0};
    shown.push_back(seen);
  }
}

void keep_seen(std::span<const uint8_t> shown, std::span<uint8_t> kept) {
  for (size_t i = 0; i < shown.size(); ++i) kept[i / (shown.size() / kept.size())] |= shown[i];
}

// --- Vectors ---

void move_vectors(const Motion& motion, Size map, RawView vectors) {
  const Affine& affine = motion.affine();
  const double x_scale = in_pixels(motion.image().width) / in_pixels(map.width);
  const double y_scale = in_pixels(motion.image().height) / in_pixels(map.height);
  const double a = affine[0] * x_scale;
  const double b = affine[1] * y_scale;
  const double c = affine[3] * x_scale;
  const double d = affine[4] * y_scale;
  if (vectors.channels == 1 || (a == 1 && b == 0 && c == 0 && d == 1)) return;
  if (vectors.channels != 2) {
    throw UnsupportedError(
        "the vectors of a map do not have two channels",
        {.expected = "x and y, because a transform mirrors, turns or scales vectors",
         .found = fmt::format("{} channels", vectors.channels),
         .remedy =
             "Set vectors=False, if the map's values are not vectors, or omit the transform"});
  }
  // Without the products with 0, because a vector may be infinite or NaN.
  const auto times = [](double factor, double side) { return factor == 0 ? 0 : factor * side; };
  for (int64_t y = 0; y < vectors.height; ++y) {
    auto* vector = vectors.row_of<float>(y);
    for (int64_t x = 0; x < vectors.width; ++x, vector += 2) {
      const double from_x = vector[0];
      const double from_y = vector[1];
      vector[0] = static_cast<float>(times(a, from_x) + times(b, from_y));
      vector[1] = static_cast<float>(times(c, from_x) + times(d, from_y));
    }
  }
}

// --- Cameras ---

template <typename Number>
void move_camera(const Affine& affine, bool pixel_centers, int64_t columns,
                 std::span<Number> matrix) {
  Affine a = affine;
  if (pixel_centers) {
    a[2] = a[2] + (a[0] + a[1]) * 0.5 - 0.5;
    a[5] = a[5] + (a[3] + a[4]) * 0.5 - 0.5;
  }
  const auto width = static_cast<size_t>(columns);
  for (size_t i = 0; i < width; ++i) {
    const double x = matrix[i];
    const double y = matrix[width + i];
    const double z = matrix[2 * width + i];
    matrix[i] = static_cast<Number>(a[0] * x + a[1] * y + a[2] * z);
    matrix[width + i] = static_cast<Number>(a[3] * x + a[4] * y + a[5] * z);
  }
}

template void read_boxes(std::span<const float>, BoxFormat, CoordinateForm, Size, std::string_view,
                         std::vector<Corners>&);
template void read_boxes(std::span<const double>, BoxFormat, CoordinateForm, Size, std::string_view,
                         std::vector<Corners>&);
template void write_boxes(std::span<const Corners>, BoxFormat, CoordinateForm, Size,
                          std::span<float>);
template void write_boxes(std::span<const Corners>, BoxFormat, CoordinateForm, Size,
                          std::span<double>);
template void move_points(const Motion&, CoordinateForm, int64_t, std::span<const float>,
                          std::span<float>, std::vector<uint8_t>&);
template void move_points(const Motion&, CoordinateForm, int64_t, std::span<const double>,
                          std::span<double>, std::vector<uint8_t>&);
template void move_camera(const Affine&, bool, int64_t, std::span<float>);
template void move_camera(const Affine&, bool, int64_t, std::span<double>);

// --- Rows ---

int64_t count_kept(std::span<const uint8_t> kept) {
  return std::count_if(kept.begin(), kept.end(), [](uint8_t flag) { return flag != 0; });
}

void copy_kept(std::span<const uint8_t> kept, Bytes rows, MutableBytes to) {
  if (to.empty()) return;
  const size_t bytes = rows.size() / kept.size();
  std::byte* into = to.data();
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] == 0) continue;
    std::memcpy(into, rows.data() + i * bytes, bytes);
    into += bytes;
  }
}

}  // namespace fuelrail
