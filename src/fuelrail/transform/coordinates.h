// Moves the coordinates of a sample with its image: boxes, points, vectors and camera matrices.
//
// Coordinates are in pixels, x to the right and y down; (0, 0) is the upper left corner of the
// first pixel, and (width, height) the opposite corner of the image. All results are computed in
// double, in a fixed order, without libm and fused operations: they are bit-identical on every
// processor.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/raw_view.h"
#include "fuelrail/transform/geometry.h"
#include "fuelrail/transform/plan.h"

namespace fuelrail {

// Maps x, y to x', y':
//   x' = a[0] x + a[1] y + a[2],  y' = a[3] x + a[4] y + a[5]
using Affine = std::array<double, 6>;
inline constexpr Affine kUnmoved{1, 0, 0, 0, 1, 0};

struct Point {
  double x = 0;
  double y = 0;
};
Point mapped(const Affine& affine, Point point);

// The map from the image's coordinates to the output's: the product of the plan's steps.
// Requires: the plan is not adapted to scaled decoding. Errors: those of Motion::follow.
Affine affine(const Plan& plan);

// What a plan does to coordinates. An object is visible in the output only if no step cut it off,
// so a Motion knows the edges of all steps, not only their product.
// Threads: one at a time.
class Motion {
 public:
  Motion() = default;
  Motion(const Plan& plan, Size image) { follow(plan, image); }

  // Replaces the motion, and reuses its memory. `image`: the size for which the plan was resolved.
  // Requires: as for `affine`. Errors: UnsupportedError for a custom stage that moves pixels.
  void follow(const Plan& plan, Size image);

  Size image() const { return image_; }
  Size output() const { return output_; }
  const Affine& affine() const { return affine_; }

  // The box around the part of an object that the output shows; empty if it shows nothing of the
  // object, or if the object has no area. The object is taken to fill its box. After the last
  // rotation or shear, the box is the hull of the object's corners, limited to the output, as in
  // torchvision: if an edge of the output cuts a rotated object, the box may be larger than needed.
  std::optional<Corners> move(const Corners& object);

  // The hull of the object's mapped corners, also where it is cut off.
  Corners hull(const Corners& object) const;

  // Whether the output shows the point. A point on an edge is shown.
  bool shows(Point point) const;

 private:
  // Maps the part `from` of its input.
  struct Leg {
    Box from;
    Affine affine;
  };
  void add(const Box& from, const Affine& affine, bool turns, Size output);
  void add(const PixelStep& step);

  std::vector<Leg> legs_;
  size_t first_turn_ = 0;  // the first leg with a rotation or shear
  size_t end_turn_ = 0;    // the leg after the last one; 0: there are none
  Size image_;
  Size output_;
  Affine affine_ = kUnmoved;
  std::vector<Point> turned_;  // of `move`: the visible part, from the first rotation on
  std::vector<Point> spare_;
};

// --- Boxes ---

// How a field stores coordinates.
struct CoordinateForm {
  bool relative = false;       // fractions of the image's width and height
  bool pixel_centers = false;  // (0, 0) is the middle of the first pixel
};

// Appends the boxes of `values`, four numbers each, to `boxes`. Number: float or double.
// Errors: CorruptError that names the field and the row of a box whose width or height is negative,
// or with a number that is not finite or so large that areas would not be.
template <typename Number>
void read_boxes(std::span<const Number> values, BoxFormat format, CoordinateForm form, Size image,
                std::string_view field, std::vector<Corners>& boxes);

// Writes the boxes as `values`, four numbers each. Requires: equal numbers of boxes.
template <typename Number>
void write_boxes(std::span<const Corners> boxes, BoxFormat format, CoordinateForm form, Size image,
                 std::span<Number> values);

// Which objects stay: those of which the output shows something, if both sides of the moved box are
// at least `min_size` pixels, and its area is at least `min_area` of the area that the whole object
// has in the output.
struct KeepRule {
  double min_size = 1;
  double min_area = 0;
  bool keep_empty = false;  // all stay; the box of an object that is not visible has no area
};

// Moves the boxes, and sets kept[i] to 1 if object i stays, otherwise to 0. `removed`: objects that
// a RandomIoUCrop removed (a part of Plan::removed); empty: none. A removed object is not visible.
void move_boxes(Motion& motion, const KeepRule& rule, std::span<const uint8_t> removed,
                std::span<Corners> boxes, std::vector<uint8_t>& kept);

// --- Points ---

// Moves points of `numbers` numbers each: x, y and, if `numbers` is 3, the visibility, which
// becomes 0 if the output does not show the point. Sets shown[i] to 1 if the output shows point i
// (and its visibility is not 0), otherwise to 0. A point 0, 0, 0 is absent, as in COCO, and stays
// 0, 0, 0. Number: float or double. `to` may be `from`.
template <typename Number>
void move_points(const Motion& motion, CoordinateForm form, int64_t numbers,
                 std::span<const Number> from, std::span<Number> to, std::vector<uint8_t>& shown);

// For objects that have points and no boxes: sets kept[i] to 1 if one of the points of object i is
// shown. Requires: as many points for each object.
void keep_seen(std::span<const uint8_t> shown, std::span<uint8_t> kept);

// --- Vectors ---

// Turns, mirrors and scales the vectors of a map, such as optical flow, as the image: each is
// multiplied by the linear part of the affine map. `vectors`: float32, with x and y as channels, in
// pixels of the map; `map`: the map's size, which may differ from the image's. A map with one
// channel has no vectors and stays. Errors: UnsupportedError for other numbers of channels, unless
// all vectors stay.
void move_vectors(const Motion& motion, Size map, RawView vectors);

// --- Cameras ---

// Multiplies the first three rows of a matrix that projects points into the image, of `columns`
// columns, from the left by the affine map. Number: float or double.
template <typename Number>
void move_camera(const Affine& affine, bool pixel_centers, int64_t columns,
                 std::span<Number> matrix);

// --- Rows ---

// The number of objects that stay.
int64_t count_kept(std::span<const uint8_t> kept);

// Copies the rows that stay, in order, of a tensor with one row for each object. The rows have
// equal numbers of bytes. Requires: to.size() == count_kept(kept) * (bytes of a row); no overlap.
void copy_kept(std::span<const uint8_t> kept, Bytes rows, MutableBytes to);

}  // namespace fuelrail
