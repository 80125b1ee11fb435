// The transforms as the core holds them. Users see fuelrail.transforms.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail::python {
namespace {

// What has no face of its own in Python: margins are (left, top, right, bottom), a border is its
// mode and its colour.
Border border(PaddingMode mode, std::array<uint8_t, 3> fill) { return {mode, fill}; }
Margins margins(std::array<int64_t, 4> m) { return {m[0], m[1], m[2], m[3]}; }

void bind_geometry(nb::module_& module) {
  nb::class_<Pad>(module, "Pad")
      .def(
          "__init__",
          [](Pad* self, std::array<int64_t, 4> padding, PaddingMode mode,
             std::array<uint8_t, 3> fill) {
            new (self) Pad{margins(padding), border(mode, fill)};
          },
          nb::arg("padding"), nb::arg("padding_mode"), nb::arg("fill"));
  nb::class_<RandomCrop>(module, "RandomCrop")
      .def(
          "__init__",
          [](RandomCrop* self, int64_t height, int64_t width, std::array<int64_t, 4> padding,
             bool pad_if_needed, PaddingMode mode, std::array<uint8_t, 3> fill) {
            new (self)
                RandomCrop{{height, width}, margins(padding), pad_if_needed, border(mode, fill)};
          },
          nb::arg("height"), nb::arg("width"), nb::arg("padding"), nb::arg("pad_if_needed"),
          nb::arg("padding_mode"), nb::arg("fill"));
  nb::class_<RandomRotation>(module, "RandomRotation")
      .def(
          "__init__",
          [](RandomRotation* self, std::array<double, 2> degrees, Interpolation interpolation,
             bool expand, std::optional<std::array<double, 2>> center, PaddingMode mode,
             std::array<uint8_t, 3> fill) {
            new (self) RandomRotation{degrees, interpolation, expand, center, border(mode, fill)};
          },
          nb::arg("degrees"), nb::arg("interpolation"), nb::arg("expand"), nb::arg("center").none(),
          nb::arg("padding_mode"), nb::arg("fill"));
  nb::class_<RandomAffine>(module, "RandomAffine")
      .def(
          "__init__",
          [](RandomAffine* self, std::array<double, 2> degrees, std::array<double, 2> translate,
             std::array<double, 2> scale, std::array<double, 4> shear, Interpolation interpolation,
             std::optional<std::array<double, 2>> center, PaddingMode mode,
             std::array<uint8_t, 3> fill) {
            new (self) RandomAffine{degrees, translate,         scale, shear, interpolation,
                                    center,  border(mode, fill)};
          },
          nb::arg("degrees"), nb::arg("translate"), nb::arg("scale"), nb::arg("shear"),
          nb::arg("interpolation"), nb::arg("center").none(), nb::arg("padding_mode"),
          nb::arg("fill"));
}

void bind_colors(nb::module_& module) {
  nb::class_<ColorJitter>(module, "ColorJitter")
      .def(
          "__init__",
          [](ColorJitter* self, std::array<double, 2> brightness, std::array<double, 2> contrast,
             std::array<double, 2> saturation, std::array<double, 2> hue) {
            new (self) ColorJitter{brightness, contrast, saturation, hue};
          },
          nb::arg("brightness"), nb::arg("contrast"), nb::arg("saturation"), nb::arg("hue"));
  nb::class_<Grayscale>(module, "Grayscale").def(nb::init<>());
  nb::class_<RandomGrayscale>(module, "RandomGrayscale")
      .def(
          "__init__", [](RandomGrayscale* self, double p) { new (self) RandomGrayscale{p}; },
          nb::arg("p"));
  nb::class_<CustomStage>(module, "CustomStage", "A pixel stage of a C++ extension's own.");
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

  bind_geometry(module);
  bind_colors(module);

  module.def(
      "check_transforms", [](const Transforms& transforms) { check(transforms); },
      nb::arg("transforms"), "Raises InvalidArgumentError for a bad value.");
}

}  // namespace fuelrail::python
