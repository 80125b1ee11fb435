#include "fuelrail/pack/image/stage_runner.h"

#include "fuelrail/base/error.h"
#include "fuelrail/decode/orientation.h"

namespace fuelrail::pack {
namespace {

// Calls `function` for each pixel of two images of the same size.
template <typename Function>
void each_pixel(ConstImageView from, ImageView to, Function function) {
  for (int64_t y = 0; y < from.height; ++y) {
    const uint8_t* in = from.row(y);
    uint8_t* out = to.row(y);
    for (int64_t x = 0; x < from.width; ++x, in += from.channels, out += to.channels) {
      function(in, out);
    }
  }
}

// Copies channel `channel` of `from` to all three channels.
void repeat_channel(ConstImageView from, int64_t channel, ImageView to) {
  each_pixel(from, to, [channel](const uint8_t* in, uint8_t* out) {
    out[0] = out[1] = out[2] = in[channel];
  });
}

// ITU-R 601-2 luma in 16-bit fixed point. The weights add up to one, so that pixels with equal
// channels do not change.
void to_grey(ConstImageView rgb, ImageView to) {
  each_pixel(rgb, to, [](const uint8_t* in, uint8_t* out) {
    const uint32_t luma = 19595u * in[0] + 38470u * in[1] + 7471u * in[2] + 32768u;
    out[0] = static_cast<uint8_t>(luma >> 16);
  });
}

// The plan for the alpha channel: without colour steps, and with opaque borders.
Plan alpha_plan(const Plan& plan) {
  Plan moves = plan;
  std::erase_if(moves.pixel_steps, [](const auto& step) {
    if (std::holds_alternative<CustomStep>(step)) {
      throw UnsupportedError(
          "a user-defined stage cannot process alpha",
          {.expected = "1 or 3 channels",
           .found = "4",
           .remedy = "Drop alpha (color=1), or replace the stage with a PixelFunction"});
    }
    return std::holds_alternative<ColorStep>(step);
  });
  const auto opaque = [](auto& step) { step.border.fill = {255, 255, 255}; };
  for (ResampleStep& step : moves.steps) opaque(step);
  for (auto& step : moves.pixel_steps) {
    if (auto* resample = std::get_if<ResampleStep>(&step)) opaque(*resample);
    if (auto* warp = std::get_if<WarpStep>(&step)) opaque(*warp);
  }
  return moves;
}

// The EXIF orientation that corresponds to the flips.
int orientation_of(bool horizontal, bool vertical) {
  if (horizontal) return vertical ? 3 : 2;
  return vertical ? 4 : 1;
}

}  // namespace

ConstImageView StageRunner::run_rgb(const Plan& plan, ConstImageView rgb, PixelBuffer& flipped) {
  PlanRunner& runner = &flipped == &flipped_ ? runner_ : alpha_runner_;
  const ConstImageView moved = runner.run(plan, rgb, whole(rgb.size()));
  const int orientation = orientation_of(plan.flip_horizontal, plan.flip_vertical);
  if (orientation == 1) return moved;
  const ImageView turned = flipped.resize(moved.size(), 0, 3);
  turn_upright(moved, orientation, turned);
  return turned;
}

ConstImageView StageRunner::run(const Transforms& transforms, ConstImageView image,
                                const Philox& random) {
  if (transforms.empty()) return image;
  resolve(transforms, {.image = image.size(), .random = random}, plan_);
  if (image.channels == 3) return run_rgb(plan_, image, flipped_);
  const ImageView rgb = rgb_.resize(image.size(), 0, 3);
  if (image.channels == 1) {
    repeat_channel(image, 0, rgb);
    const ConstImageView moved = run_rgb(plan_, rgb, flipped_);
    const ImageView grey = joined_.resize(moved.size(), 0, 1);
    to_grey(moved, grey);
    return grey;
  }
  const Plan moves = alpha_plan(plan_);
  each_pixel(image, rgb, [](const uint8_t* in, uint8_t* out) {
    for (int c = 0; c < 3; ++c) out[c] = in[c];
  });
  const ImageView alpha = alpha_.resize(image.size(), 0, 3);
  repeat_channel(image, 3, alpha);
  const ConstImageView colours = run_rgb(plan_, rgb, flipped_);
  const ConstImageView moved_alpha = run_rgb(moves, alpha, flipped_alpha_);
  const ImageView joined = joined_.resize(colours.size(), 0, 4);
  each_pixel(colours, joined, [](const uint8_t* in, uint8_t* out) {
    for (int c = 0; c < 3; ++c) out[c] = in[c];
  });
  each_pixel(moved_alpha, joined, [](const uint8_t* in, uint8_t* out) { out[3] = in[0]; });
  return joined;
}

}  // namespace fuelrail::pack
