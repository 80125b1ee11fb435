// The parameters with which Benzina's pipeline turns a decoded still into an image, as one row of
// floats. Plain data that the CPU and the GPU read alike.
#pragma once

namespace fuelrail {

struct StillParameters {
  // Row-major 3 x 3 matrix m. With (X, Y, Z) = m (x, y, 1), output pixel (x, y) shows the still at
  // (X / Z, Y / Z). Pixel centres have integer coordinates.
  float warp[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  // How luma and chroma become RGB: 0 BT.601 in full range (as in JPEG); 1 BT.601, 2 BT.709 and 3
  // BT.2020 in limited range. Any other number: not at all.
  float color = 0;
  // The result is (value - bias) * norm, for red, green and blue values of 0 to 255.
  float bias[3] = {0, 0, 0};
  float norm[3] = {1, 1, 1};
  // The result outside the still. Bias and norm do not change it.
  float out_of_bounds[3] = {0, 0, 0};
};

inline constexpr int kStillParameters = 19;
static_assert(sizeof(StillParameters) == kStillParameters * sizeof(float));

}  // namespace fuelrail
