#include "fuelrail/benzina/row_parameters.h"

#include <cstddef>

namespace fuelrail::benzina {
namespace {

Homography matrix_of(const Warp& warp, Size image, Size output, RandomState& random) {
  if (const auto* constant = std::get_if<Homography>(&warp)) return *constant;
  return std::get<SimilarityWarp>(warp).draw(image, output, random);
}

}  // namespace

Homography draw_warp(std::span<const Warp> warps, Size image, Size output, RandomState& random) {
  if (warps.empty()) return kIdentity;
  Homography whole = matrix_of(warps[0], image, output, random);
  if (warps.size() == 1) return whole;
  for (const Warp& warp : warps.subspan(1)) {
    whole = product(whole, matrix_of(warp, output, output, random));
  }
  check_warp(whole);
  return whole;
}

void draw_rows(const RowTransforms& transforms, std::span<const Size> images, Size output,
               RandomState& random, std::span<StillParameters> rows) {
  for (size_t i = 0; i < images.size(); ++i) {
    const Homography warp = draw_warp(transforms.warps, images[i], output, random);
    rows[i] = transforms.constants;
    for (size_t k = 0; k < warp.size(); ++k) rows[i].warp[k] = static_cast<float>(warp[k]);
  }
}

}  // namespace fuelrail::benzina
