// Binds the core's transforms. The public API is fuelrail.transforms.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::python {
namespace {

// Python's constructors take the members in order; a size and a border are passed as their own
// members. Margins are (left, top, right, bottom).
using Range = std::array<double, 2>;
using Fill = std::array<uint8_t, 3>;
using Sides = std::array<int64_t, 4>;

Margins margins(const Sides& m) { return {m[0], m[1], m[2], m[3]}; }

void bind_geometry(nb::module_& module) {
  nb::class_<Pad>(module, "Pad")
      .def(
          "__init__",
          [](Pad* self, const Sides& padding, PaddingMode mode, Fill fill) {
            new (self) Pad{margins(padding), {mode, fill}};
          },
          nb::arg("padding"), nb::arg("padding_mode"), nb::arg("fill"));
  nb::class_<RandomCrop>(module, "RandomCrop")
      .def(
          "__init__",
          [](RandomCrop* self, int64_t height, int64_t width, const Sides& padding,
             bool pad_if_needed, PaddingMode mode, Fill fill) {
            new (self) RandomCrop{{height, width}, margins(padding), pad_if_needed, {mode, fill}};
          },
          nb::arg("height"), nb::arg("width"), nb::arg("padding"), nb::arg("pad_if_needed"),
          nb::arg("padding_mode"), nb::arg("fill"));
  nb::class_<RandomRotation>(module, "RandomRotation")
      .def(nb::init<Range, Interpolation, bool, std::optional<Range>, PaddingMode, Fill>(),
           nb::arg("degrees"), nb::arg("interpolation"), nb::arg("expand"),
           nb::arg("center").none(), nb::arg("padding_mode"), nb::arg("fill"));
  nb::class_<RandomAffine>(module, "RandomAffine")
      .def(nb::init<Range, Range, Range, std::array<double, 4>, Interpolation, std::optional<Range>,
                    PaddingMode, Fill>(),
           nb::arg("degrees"), nb::arg("translate"), nb::arg("scale"), nb::arg("shear"),
           nb::arg("interpolation"), nb::arg("center").none(), nb::arg("padding_mode"),
           nb::arg("fill"));
}

void bind_random_sizes(nb::module_& module) {
  nb::class_<RandomShortestSize>(module, "RandomShortestSize")
      .def(nb::init<std::vector<int64_t>, int64_t, Interpolation, bool>(), nb::arg("min_size"),
           nb::arg("max_size"), nb::arg("interpolation"), nb::arg("antialias"));
  nb::class_<ScaleJitter>(module, "ScaleJitter")
      .def(nb::init<int64_t, int64_t, Range, Interpolation, bool>(), nb::arg("height"),
           nb::arg("width"), nb::arg("scale_range"), nb::arg("interpolation"),
           nb::arg("antialias"));
  nb::class_<RandomZoomOut>(module, "RandomZoomOut")
      .def(nb::init<Range, double, PaddingMode, Fill>(), nb::arg("side_range"), nb::arg("p"),
           nb::arg("padding_mode"), nb::arg("fill"));
  nb::class_<RandomIoUCrop>(module, "RandomIoUCrop")
      .def(nb::init<Range, Range, std::vector<double>, int64_t>(), nb::arg("scale"),
           nb::arg("aspect_ratio"), nb::arg("sampler_options") = RandomIoUCrop{}.sampler_options,
           nb::arg("trials") = RandomIoUCrop{}.trials);
}

void bind_colors(nb::module_& module) {
  nb::class_<ColorJitter>(module, "ColorJitter")
      .def(nb::init<Range, Range, Range, Range>(), nb::arg("brightness"), nb::arg("contrast"),
           nb::arg("saturation"), nb::arg("hue"));
  nb::class_<Grayscale>(module, "Grayscale").def(nb::init<>());
  nb::class_<RandomGrayscale>(module, "RandomGrayscale").def(nb::init<double>(), nb::arg("p"));
  nb::class_<CustomStage>(module, "CustomStage",
                          "An image transform that is defined in a C++ extension.");
}

}  // namespace

void bind_transform(nb::module_& module) {
  nb::enum_<Interpolation>(module, "Interpolation")
      .value("nearest", Interpolation::kNearest)
      .value("bilinear", Interpolation::kBilinear)
      .value("bicubic", Interpolation::kBicubic);

  nb::enum_<PaddingMode>(module, "PaddingMode")
      .value("constant", PaddingMode::kConstant)
      .value("edge", PaddingMode::kEdge)
      .value("reflect", PaddingMode::kReflect)
      .value("symmetric", PaddingMode::kSymmetric);

  nb::class_<RandomResizedCrop>(module, "RandomResizedCrop")
      .def(nb::init<int64_t, int64_t, Range, Range, Interpolation, bool>(), nb::arg("height"),
           nb::arg("width"), nb::arg("scale") = RandomResizedCrop{}.scale,
           nb::arg("ratio") = RandomResizedCrop{}.ratio,
           nb::arg("interpolation") = RandomResizedCrop{}.interpolation,
           nb::arg("antialias") = RandomResizedCrop{}.antialias);
  nb::class_<CenterCrop>(module, "CenterCrop")
      .def(nb::init<int64_t, int64_t>(), nb::arg("height"), nb::arg("width"));
  nb::class_<Resize>(module, "Resize")
      .def(nb::init<int64_t, int64_t, int64_t, Interpolation, bool, int64_t>(), nb::arg("height"),
           nb::arg("width"), nb::arg("shorter_side"), nb::arg("interpolation"),
           nb::arg("antialias"), nb::arg("max_size"));
  nb::class_<ResizedCenterCrop>(module, "ResizedCenterCrop")
      .def(nb::init<int64_t, int64_t, int64_t, Interpolation, bool>(), nb::arg("height"),
           nb::arg("width"), nb::arg("resize"), nb::arg("interpolation"), nb::arg("antialias"));
  nb::class_<HorizontalFlip>(module, "HorizontalFlip").def(nb::init<double>(), nb::arg("p"));
  nb::class_<VerticalFlip>(module, "VerticalFlip").def(nb::init<double>(), nb::arg("p"));
  nb::class_<Normalize>(module, "Normalize")
      .def(nb::init<std::array<float, 3>, std::array<float, 3>>(), nb::arg("mean"), nb::arg("std"));

  bind_geometry(module);
  bind_random_sizes(module);
  bind_colors(module);
  bind_draw(module);

  module.def(
      "check_transforms", [](const Transforms& transforms) { check(transforms); },
      nb::arg("transforms"), "Raises InvalidArgumentError if a transform is invalid.");
}

}  // namespace fuelrail::python
