// The parameters of Benzina's transforms for the rows of a batch.
#pragma once

#include <array>
#include <span>
#include <variant>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/benzina/random_state.h"
#include "fuelrail/benzina/warp.h"
#include "fuelrail/transform/still_parameters.h"

namespace fuelrail::benzina {

// A matrix that passes check_warp, or intervals to draw from.
using Warp = std::variant<Homography, SimilarityWarp>;

// Returns: the product of the warps' matrices. The first warp gets the image; each other one gets
// an image of the output's size, the result of those before it. Without warps: the identity.
// Errors: as affine_matrix, and InvalidArgumentError if the product is no valid warp.
Homography draw_warp(std::span<const Warp> warps, Size image, Size output, RandomState& random);

// The transforms whose parameters the core computes.
struct RowTransforms {
  std::vector<Warp> warps;
  StillParameters constants;  // all except the warp
};

// Fills in one row for each image, in order, all from the same stream of random numbers.
// Requires: as many rows as images. Errors: as draw_warp.
void draw_rows(const RowTransforms& transforms, std::span<const Size> images, Size output,
               RandomState& random, std::span<StillParameters> rows);

}  // namespace fuelrail::benzina
