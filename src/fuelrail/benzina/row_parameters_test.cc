#include "fuelrail/benzina/row_parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"

namespace fuelrail::benzina {
namespace {

using ::testing::ElementsAre;

SimilarityWarp rotating() {
  return SimilarityWarp({.scale = {0.5, 1}, .degrees = {-20, 20}, .flip_v = 0.5});
}

TEST(RowParameters, rows_continue_one_stream_in_the_order_of_the_images) {
  RowTransforms transforms{.warps = {rotating()}, .constants = {}};
  const std::vector<Size> images = {{300, 400}, {50, 60}, {1, 5000}};
  std::vector<StillParameters> rows(3);
  RandomState random(5u);
  draw_rows(transforms, images, {64, 96}, random, rows);
  RandomState alone(5u);
  for (size_t i = 0; i < 3; ++i) {
    const Homography warp = rotating().draw(images[i], {64, 96}, alone);
    for (size_t k = 0; k < 9; ++k) {
      EXPECT_EQ(rows[i].warp[k], static_cast<float>(warp[k])) << i << " " << k;
    }
  }
  EXPECT_EQ(random.state(), alone.state());
}

TEST(RowParameters, every_row_has_the_constants) {
  RowTransforms transforms;
  transforms.constants = {.color = 2, .bias = {1, 2, 3}, .norm = {4, 5, 6}, .out_of_bounds = {7}};
  std::vector<StillParameters> rows(2);
  RandomState random(5u);
  draw_rows(transforms, std::vector<Size>(2, {8, 8}), {8, 8}, random, rows);
  for (const StillParameters& row : rows) {
    EXPECT_THAT(row.warp, ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1));
    EXPECT_EQ(row.color, 2);
    EXPECT_THAT(row.bias, ElementsAre(1, 2, 3));
    EXPECT_THAT(row.norm, ElementsAre(4, 5, 6));
    EXPECT_THAT(row.out_of_bounds, ElementsAre(7, 0, 0));
  }
}

TEST(RowParameters, later_warps_get_an_image_of_the_output_size) {
  const Warp crop = SimilarityWarp({.resize = true});
  const Warp turn = SimilarityWarp({.degrees = {90, 90}});
  const std::vector<Warp> warps = {crop, turn};
  RandomState random(5u);
  const Homography both = draw_warp(warps, {200, 300}, {100, 100}, random);
  const Homography first =
      affine_matrix({200, 300}, {100, 100}, {.crop = {{0, 0, 300, 200}}, .resize = true});
  EXPECT_EQ(both, product(first, affine_matrix({100, 100}, {100, 100}, {.degrees = 90})));
}

TEST(RowParameters, product_without_an_inverse_is_rejected) {
  const Warp tiny = Homography{1e-30, 0, 0, 0, 1, 0, 0, 0, 1};
  RandomState random(5u);
  EXPECT_NO_THROW(draw_warp(std::vector<Warp>{tiny}, {8, 8}, {8, 8}, random));
  EXPECT_THROW(draw_warp(std::vector<Warp>{tiny, tiny}, {8, 8}, {8, 8}, random),
               InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail::benzina
