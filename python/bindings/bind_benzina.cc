// Binds the parameters of Benzina's transforms. The public API is
// fuelrail.benzina.torch.operations.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/benzina/row_parameters.h"
#include "fuelrail/benzina/still_work.h"

namespace fuelrail::python {
namespace {

using Pair = std::array<double, 2>;
using Key =
    nb::ndarray<uint32_t, nb::shape<MersenneTwister::kWords>, nb::c_contig, nb::device::cpu>;
using Sizes = nb::ndarray<const int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

// A class, so that lists of warps are not copied.
struct BenzinaWarp {
  benzina::Warp warp;
};
using Warps = ListOf<BenzinaWarp>;

// A size as Benzina's functions take it: (width, height).
struct WidthHeight {
  explicit WidthHeight(std::array<int64_t, 2> sides) : size{sides[1], sides[0]} {}
  Size size;
};

// The state of a RandomState of NumPy, as its key and position, while numbers are drawn from it.
class Borrowed {
 public:
  Borrowed(const Key& key, size_t position) : key_(key), random_(read(key, position)) {}

  benzina::RandomState& random() { return random_; }

  // Writes the key back. Returns: the position.
  size_t stored() {
    const auto& state = random_.state();
    std::copy(state.words.begin(), state.words.end(), key_.data());
    return state.used;
  }

 private:
  static MersenneTwister::State read(const Key& key, size_t position) {
    MersenneTwister::State state{.words = {}, .used = position};
    if (position > MersenneTwister::kWords) {
      throw InvalidArgumentError("the position of the random numbers is out of range",
                                 {.expected = "0 to " + std::to_string(MersenneTwister::kWords),
                                  .found = std::to_string(position)});
    }
    std::copy_n(key.data(), state.words.size(), state.words.begin());
    return state;
  }

  Key key_;
  benzina::RandomState random_;
};

std::vector<benzina::Warp> copied(const Warps& warps) {
  std::vector<benzina::Warp> copies;
  for (const nb::handle warp : warps) copies.push_back(nb::cast<const BenzinaWarp&>(warp).warp);
  return copies;
}

BenzinaWarp constant(const benzina::Homography& numbers) {
  benzina::check_warp(numbers);
  return {numbers};
}

BenzinaWarp similarity(const Pair& scale, const std::optional<Pair>& ratio, const Pair& degrees,
                       const Pair& translate, double flip_h, double flip_v, bool resize,
                       bool keep_ratio, bool random_crop) {
  return {benzina::SimilarityWarp({.scale = scale,
                                   .ratio = ratio,
                                   .degrees = degrees,
                                   .translate = translate,
                                   .flip_h = flip_h,
                                   .flip_v = flip_v,
                                   .resize = resize,
                                   .keep_ratio = keep_ratio,
                                   .random_crop = random_crop})};
}

benzina::Homography affine_matrix(std::array<int64_t, 2> in_shape, std::array<int64_t, 2> out_shape,
                                  const std::optional<std::array<double, 4>>& crop, double degrees,
                                  const Pair& translate, bool flip_h, bool flip_v, bool resize,
                                  bool keep_ratio) {
  benzina::AffineWarp warp{.degrees = degrees,
                           .translate = translate,
                           .flip_h = flip_h,
                           .flip_v = flip_v,
                           .resize = resize,
                           .keep_ratio = keep_ratio};
  if (crop) warp.crop = benzina::Crop{(*crop)[0], (*crop)[1], (*crop)[2], (*crop)[3]};
  return benzina::affine_matrix(WidthHeight(in_shape).size, WidthHeight(out_shape).size, warp);
}

std::pair<benzina::Homography, size_t> draw_warp(const Warps& warps,
                                                 std::array<int64_t, 2> in_shape,
                                                 std::array<int64_t, 2> out_shape, const Key& key,
                                                 size_t position) {
  Borrowed borrowed(key, position);
  const auto warp = benzina::draw_warp(copied(warps), WidthHeight(in_shape).size,
                                       WidthHeight(out_shape).size, borrowed.random());
  return {warp, borrowed.stored()};
}

std::pair<Array, size_t> draw_rows(const Warps& warps, const std::array<double, 10>& constants,
                                   const Sizes& sizes, std::array<int64_t, 2> out_shape,
                                   const Key& key, size_t position) {
  benzina::RowTransforms transforms{.warps = copied(warps), .constants = {}};
  StillParameters& row = transforms.constants;
  row.color = static_cast<float>(constants[0]);
  for (size_t c = 0; c < 3; ++c) {
    row.bias[c] = static_cast<float>(constants[1 + c]);
    row.norm[c] = static_cast<float>(constants[4 + c]);
    row.out_of_bounds[c] = static_cast<float>(constants[7 + c]);
  }
  Borrowed borrowed(key, position);
  const size_t count = sizes.shape(0);
  std::vector<Size> images(count);
  for (size_t i = 0; i < count; ++i) images[i] = {sizes(i, 1), sizes(i, 0)};
  Array rows = make_array(DType::kFloat32, {static_cast<int64_t>(count), kStillParameters});
  {
    const GilReleased released;
    benzina::draw_rows(transforms, images, WidthHeight(out_shape).size, borrowed.random(),
                       {reinterpret_cast<StillParameters*>(rows.data), count});
  }
  return {std::move(rows), borrowed.stored()};
}

using Records = nb::ndarray<const uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Array image_sizes(const ContainerHandle& data, const Records& records) {
  const size_t count = records.shape(0);
  Array sizes = make_array(DType::kInt64, {static_cast<int64_t>(count), 2});
  const GilReleased released;
  auto* to = reinterpret_cast<int64_t*>(sizes.data);
  for (const Size size : benzina::image_sizes(*data.container, {records.data(), count})) {
    *to++ = size.width;
    *to++ = size.height;
  }
  return sizes;
}

}  // namespace

void bind_benzina(nb::module_& module) {
  nb::class_<BenzinaWarp>(module, "BenzinaWarp")
      .def_static("constant", constant, nb::arg("numbers"))
      .def_static("similarity", similarity, nb::arg("scale"), nb::arg("ratio").none(),
                  nb::arg("degrees"), nb::arg("translate"), nb::arg("flip_h"), nb::arg("flip_v"),
                  nb::arg("resize"), nb::arg("keep_ratio"), nb::arg("random_crop"))
      .def_prop_ro("is_constant", [](const BenzinaWarp& self) {
        return std::holds_alternative<benzina::Homography>(self.warp);
      });
  module.def("benzina_affine_matrix", affine_matrix, nb::arg("in_shape"), nb::arg("out_shape"),
             nb::arg("crop").none(), nb::arg("degrees"), nb::arg("translate"), nb::arg("flip_h"),
             nb::arg("flip_v"), nb::arg("resize"), nb::arg("keep_ratio"),
             "Returns the nine numbers of the matrix of compute_affine_matrix.");
  module.def("benzina_image_sizes", image_sizes, nb::arg("data"), nb::arg("records"),
             "Returns the (width, height) of the records' images, int64 of shape (records, 2).");
  module.def("benzina_draw_warp", draw_warp, nb::arg("warps"), nb::arg("in_shape"),
             nb::arg("out_shape"), nb::arg("key"), nb::arg("position"),
             "Returns the nine numbers of a warp and the new position of the random numbers. "
             "Changes `key` in place.");
  module.def("benzina_draw_rows", draw_rows, nb::arg("warps"), nb::arg("constants"),
             nb::arg("sizes"), nb::arg("out_shape"), nb::arg("key"), nb::arg("position"),
             "Returns the parameters of a batch, float32 of shape (rows, 19), and the new position "
             "of the random numbers. Changes `key` in place. A row has the warp (9 numbers), the "
             "color matrix (1), bias (3), norm (3) and the color out of bounds (3). `constants` "
             "has the last 10 of them; `sizes` has a (width, height) for each row.");
}

}  // namespace fuelrail::python
