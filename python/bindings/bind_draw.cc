// Binds what a list of transforms does to one image. The public API is fuelrail.transforms.draw.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "bindings.h"
#include "fuelrail/transform/coordinates.h"
#include "fuelrail/transform/map_runner.h"
#include "fuelrail/transform/mask_runner.h"
#include "fuelrail/transform/plan.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::python {
namespace {

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Pixels = nb::ndarray<const uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using BoxRows = std::vector<std::array<double, 4>>;
using Step = nb::typed<nb::dict, nb::str, nb::any>;

nb::object text(const char* value) { return nb::str(value); }

nb::tuple sides(Size size) { return nb::make_tuple(size.height, size.width); }

nb::tuple sides(const Box& box) { return nb::make_tuple(box.top, box.left, box.height, box.width); }

// A step as a dict; its first entry, "step", is the kind.
struct Described {
  nb::dict operator()(const ResampleStep& step) const {
    nb::dict made = kind("resample");
    made["box"] = sides(step.box);
    made["scaled"] = sides(step.scaled);
    made["window"] = sides(step.window);
    add_filter(made, step.interpolation, step.border);
    made["antialias"] = step.antialias;
    return made;
  }
  nb::dict operator()(const FlipStep& step) const {
    nb::dict made = kind("flip");
    made["horizontal"] = step.horizontal;
    made["vertical"] = step.vertical;
    return made;
  }
  nb::dict operator()(const WarpStep& step) const {
    nb::dict made = kind("warp");
    made["size"] = sides(step.output);
    made["matrix"] = nb::cast(step.matrix);
    add_filter(made, step.interpolation, step.border);
    return made;
  }
  nb::dict operator()(const ColorStep& step) const {
    static constexpr const char* kNames[] = {"brightness", "contrast", "saturation", "hue",
                                             "grayscale"};
    nb::dict made = kind(kNames[static_cast<size_t>(step.kind)]);
    if (step.kind != ColorStep::Kind::kGrayscale) made["amount"] = step.amount;
    return made;
  }
  nb::dict operator()(const CustomStep& step) const {
    nb::dict made = kind("custom");
    made["size"] = sides(step.output);
    return made;
  }

 private:
  static nb::dict kind(const char* name) {
    nb::dict made;
    made["step"] = text(name);
    return made;
  }
  static void add_filter(nb::dict& made, Interpolation interpolation, const Border& border) {
    static constexpr const char* kFilters[] = {"nearest", "bilinear", "bicubic", "nearest-exact"};
    static_assert(std::size(kFilters) == static_cast<size_t>(Interpolation::kNearestExact) + 1);
    static constexpr const char* kModes[] = {"constant", "edge", "reflect", "symmetric"};
    made["interpolation"] = text(kFilters[static_cast<size_t>(interpolation)]);
    made["padding_mode"] = text(kModes[static_cast<size_t>(border.mode)]);
    made["fill"] = nb::cast(border.fill);
  }
};

std::vector<Corners> corners_of(const BoxRows& rows) {
  const auto* const numbers = rows.empty() ? nullptr : rows.front().data();
  std::vector<Corners> boxes;
  read_boxes(std::span<const double>(numbers, 4 * rows.size()), BoxFormat::kXyxy, {}, {}, "boxes",
             boxes);
  return boxes;
}

Array flags_of(const std::vector<uint8_t>& flags) {
  Array array = make_array(DType::kBool, {static_cast<int64_t>(flags.size())});
  for (size_t i = 0; i < flags.size(); ++i) array.data[i] = std::byte{flags[i] != 0};
  return array;
}

std::span<double> doubles_of(const Array& array, size_t count) {
  return {reinterpret_cast<double*>(array.data), count};
}

// A plan for one image, and the transforms to whose stages it may point.
class Drawing {
 public:
  Drawing(Transforms transforms, Size image, const Philox& random, uint32_t leader,
          const std::optional<BoxRows>& boxes)
      : transforms_(std::move(transforms)), image_(image) {
    check(transforms_);
    std::vector<Corners> objects;
    PlanInputs inputs{.image = image, .random = random, .leader = leader};
    if (boxes) {
      objects = corners_of(*boxes);
      inputs.boxes = objects;
    }
    resolve(transforms_, inputs, plan_);
    plan_.removed.resize(objects.size());
  }

  ListOf<Step> steps() const {
    nb::list made;
    for (const ResampleStep& step : plan_.steps) made.append(Described()(step));
    for (const PixelStep& step : plan_.pixel_steps) made.append(std::visit(Described(), step));
    if (plan_.flip_horizontal || plan_.flip_vertical) {
      made.append(Described()(FlipStep{plan_.flip_horizontal, plan_.flip_vertical}));
    }
    return nb::borrow<ListOf<Step>>(made);
  }
  TupleOf<int64_t, int64_t> size() const {
    return nb::borrow<TupleOf<int64_t, int64_t>>(sides(plan_.output));
  }
  Affine affine() const { return fuelrail::affine(plan_); }
  Array removed() const { return flags_of(plan_.removed); }

  // Boxes of shape (N, 4). Returns the moved boxes, and which of them stay.
  TupleOf<Array, Array> move_boxes(const Numbers& given, BoxFormat format, bool relative,
                                   bool pixel_centers, double min_size, double min_area,
                                   bool keep_empty) const {
    const CoordinateForm form{relative, pixel_centers};
    std::vector<Corners> boxes;
    read_boxes(std::span<const double>(given.data(), given.size()), format, form, image_, "boxes",
               boxes);
    const bool known = plan_.removed.size() == boxes.size();
    std::vector<uint8_t> kept;
    Motion motion(plan_, image_);
    fuelrail::move_boxes(motion, {min_size, min_area, keep_empty},
                         known ? plan_.removed : std::vector<uint8_t>(), boxes, kept);
    Array made = make_array(DType::kFloat64, {static_cast<int64_t>(boxes.size()), 4});
    write_boxes(boxes, format, form, plan_.output, doubles_of(made, given.size()));
    return pair_of(std::move(made), flags_of(kept));
  }

  // Points of `numbers` numbers each. Returns the moved points, and which of them are shown.
  TupleOf<Array, Array> move_points(const Numbers& given, int64_t numbers, bool relative,
                                    bool pixel_centers) const {
    std::vector<uint8_t> shown;
    Array made = make_array(DType::kFloat64, {static_cast<int64_t>(given.size())});
    fuelrail::move_points(Motion(plan_, image_), {relative, pixel_centers}, numbers,
                          std::span<const double>(given.data(), given.size()),
                          doubles_of(made, given.size()), shown);
    return pair_of(std::move(made), flags_of(shown));
  }

  Array move_camera(const Numbers& given, int64_t columns, bool pixel_centers) const {
    Array made = make_array(DType::kFloat64, {static_cast<int64_t>(given.size())});
    const auto matrix = doubles_of(made, given.size());
    std::copy_n(given.data(), given.size(), matrix.begin());
    fuelrail::move_camera(affine(), pixel_centers, columns, matrix);
    return made;
  }

  // A mask's bytes, of shape (height, width, bytes of a pixel).
  Array move_mask(const Pixels& given, uint32_t fill) const {
    const ConstRawView mask = view_of(given, DType::kUint8);
    const GilReleased released;
    Plan plan;
    follow(plan_, image_, mask.size(), Follower::kMask, plan);
    Array made = make_array(DType::kUint8, {plan.output.height, plan.output.width, mask.channels});
    MaskRunner().run(plan, mask, whole(mask.size()), fill, view_of(made, mask));
    return made;
  }

  // A float32 map of shape (height, width, channels).
  Array move_map(const Floats& given, float fill, bool vectors) const {
    const ConstRawView map = view_of(given, DType::kFloat32);
    const GilReleased released;
    Plan plan;
    follow(plan_, image_, map.size(), Follower::kMap, plan);
    Array moved = make_array(DType::kFloat32, {map.height, map.width, map.channels});
    std::memcpy(moved.data, map.data, given.nbytes());
    if (vectors) move_vectors(Motion(plan_, image_), map.size(), view_of(moved, map));
    Array made = make_array(DType::kFloat32, {plan.output.height, plan.output.width, map.channels});
    MapRunner().run(plan, view_of(moved, map), whole(map.size()), fill, view_of(made, map));
    return made;
  }

 private:
  static TupleOf<Array, Array> pair_of(Array first, Array second) {
    return nb::borrow<TupleOf<Array, Array>>(
        nb::make_tuple(nb::cast(std::move(first)), nb::cast(std::move(second))));
  }

  template <typename Given>
  static ConstRawView view_of(const Given& given, DType dtype) {
    const auto width = static_cast<int64_t>(given.shape(1));
    const auto channels = static_cast<int64_t>(given.shape(2));
    return {reinterpret_cast<const std::byte*>(given.data()),
            static_cast<int64_t>(given.shape(0)),
            width,
            channels,
            dtype,
            width * channels * static_cast<int64_t>(size_in_bytes(dtype))};
  }
  static RawView view_of(const Array& made, ConstRawView like) {
    return {made.data,     made.shape[0], made.shape[1],
            made.shape[2], like.dtype,    made.shape[1] * like.pixel_bytes()};
  }

  Transforms transforms_;
  Size image_;
  Plan plan_;
};

Drawing draw(const Transforms& transforms, int64_t height, int64_t width, uint64_t seed,
             uint32_t epoch, uint64_t position, uint32_t leader,
             const std::optional<BoxRows>& boxes) {
  return {transforms, {height, width}, Philox(seed, epoch, position), leader, boxes};
}

}  // namespace

void bind_draw(nb::module_& module) {
  nb::enum_<BoxFormat>(module, "BoxFormat")
      .value("xyxy", BoxFormat::kXyxy)
      .value("xywh", BoxFormat::kXywh)
      .value("cxcywh", BoxFormat::kCxcywh);

  nb::class_<Drawing>(module, "Drawing", "What a list of transforms does to one image.")
      .def("steps", &Drawing::steps)
      .def_prop_ro("size", &Drawing::size)
      .def_prop_ro("affine", &Drawing::affine)
      .def_prop_ro("removed", &Drawing::removed)
      .def("move_boxes", &Drawing::move_boxes, nb::arg("boxes"), nb::arg("format"),
           nb::arg("relative"), nb::arg("pixel_centers"), nb::arg("min_size"), nb::arg("min_area"),
           nb::arg("keep_empty"))
      .def("move_points", &Drawing::move_points, nb::arg("points"), nb::arg("numbers"),
           nb::arg("relative"), nb::arg("pixel_centers"))
      .def("move_camera", &Drawing::move_camera, nb::arg("matrix"), nb::arg("columns"),
           nb::arg("pixel_centers"))
      .def("move_mask", &Drawing::move_mask, nb::arg("mask"), nb::arg("fill"))
      .def("move_map", &Drawing::move_map, nb::arg("map"), nb::arg("fill"), nb::arg("vectors"));

  module.def("draw", draw, nb::arg("transforms"), nb::arg("height"), nb::arg("width"),
             nb::arg("seed"), nb::arg("epoch"), nb::arg("position"), nb::arg("leader"),
             nb::arg("boxes").none());
}

}  // namespace fuelrail::python
