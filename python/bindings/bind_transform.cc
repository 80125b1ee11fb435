// The transforms as the core holds them. Users see fuelrail.transforms.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::python {
namespace {}  // namespace

void bind_transform(nb::module_& module) {
  nb::enum_<Interpolation>(module, "Interpolation")
      .value("nearest", Interpolation::kNearest)
      .value("bilinear", Interpolation::kBilinear)
      .value("bicubic", Interpolation::kBicubic);

  nb::class_<RandomResizedCrop>(module, "RandomResizedCrop")
      .def(
          "__init__",
          [](RandomResizedCrop* self, int64_t height, int64_t width, std::array<double, 2> scale,
             std::array<double, 2> ratio, Interpolation interpolation, bool antialias) {
            new (self) RandomResizedCrop{{height, width}, scale, ratio, interpolation, antialias};
          },
          nb::arg("height"), nb::arg("width"), nb::arg("scale"), nb::arg("ratio"),
          nb::arg("interpolation"), nb::arg("antialias"));
  nb::class_<CenterCrop>(module, "CenterCrop")
      .def(
          "__init__",
          [](CenterCrop* self, int64_t height, int64_t width) {
            new (self) CenterCrop{{height, width}};
          },
          nb::arg("height"), nb::arg("width"));
  nb::class_<Resize>(module, "Resize")
      .def(
          "__init__",
          [](Resize* self, int64_t height, int64_t width, int64_t shorter_side,
             Interpolation interpolation, bool antialias) {
            new (self) Resize{{height, width}, shorter_side, interpolation, antialias};
          },
          nb::arg("height"), nb::arg("width"), nb::arg("shorter_side"), nb::arg("interpolation"),
          nb::arg("antialias"));
  nb::class_<ResizedCenterCrop>(module, "ResizedCenterCrop")
      .def(
          "__init__",
          [](ResizedCenterCrop* self, int64_t height, int64_t width, int64_t resize,
             Interpolation interpolation, bool antialias) {
            new (self) ResizedCenterCrop{{height, width}, resize, interpolation, antialias};
          },
          nb::arg("height"), nb::arg("width"), nb::arg("resize"), nb::arg("interpolation"),
          nb::arg("antialias"));
  nb::class_<HorizontalFlip>(module, "HorizontalFlip")
      .def(
          "__init__", [](HorizontalFlip* self, double p) { new (self) HorizontalFlip{p}; },
          nb::arg("p"));
  nb::class_<VerticalFlip>(module, "VerticalFlip")
      .def(
          "__init__", [](VerticalFlip* self, double p) { new (self) VerticalFlip{p}; },
          nb::arg("p"));
  nb::class_<Normalize>(module, "Normalize")
      .def(
          "__init__",
          [](Normalize* self, std::array<float, 3> mean, std::array<float, 3> std) {
            new (self) Normalize{mean, std};
          },
          nb::arg("mean"), nb::arg("std"));

  module.def(
      "check_transforms", [](const Transforms& transforms) { check(transforms); },
      nb::arg("transforms"), "Raises InvalidArgumentError for a bad value.");
}

}  // namespace fuelrail::python
