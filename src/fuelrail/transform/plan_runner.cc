#include "fuelrail/transform/plan_runner.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "fuelrail/transform/photometric.h"
#include "fuelrail/transform/warp.h"

namespace fuelrail {
namespace {

void mirror_row(uint8_t* row, int64_t width) {
  for (uint8_t *left = row, *right = row + 3 * (width - 1); left < right; left += 3, right -= 3) {
    std::swap_ranges(left, left + 3, right);
  }
}

void flip(ImageView image, const FlipStep& step) {
  if (step.vertical) {
    for (int64_t y = 0, last = image.height - 1; y < last; ++y, --last) {
      std::swap_ranges(image.row(y), image.row(y) + 3 * image.width, image.row(last));
    }
  }
  if (step.horizontal) {
    for (int64_t y = 0; y < image.height; ++y) mirror_row(image.row(y), image.width);
  }
}

}  // namespace

// Runs one step and returns the image after it.
struct PlanRunner::Apply {
  PlanRunner& runner;
  ImageView image;

  ImageView operator()(const ResampleStep& step) const {
    const ImageView output = runner.next(step.window.size());
    runner.resampler_.resample(image, whole(image.size()), step, output);
    return output;
  }
  ImageView operator()(const FlipStep& step) const {
    flip(image, step);
    return image;
  }
  ImageView operator()(const WarpStep& step) const {
    const ImageView output = runner.next(step.output);
    warp(image, step, output);
    return output;
  }
  ImageView operator()(const ColorStep& step) const {
    switch (step.kind) {
      case ColorStep::Kind::kBrightness:
        adjust_brightness(image, step.amount);
        break;
      case ColorStep::Kind::kContrast:
        adjust_contrast(image, step.amount);
        break;
      case ColorStep::Kind::kSaturation:
        adjust_saturation(image, step.amount);
        break;
      case ColorStep::Kind::kHue:
        adjust_hue(image, step.amount);
        break;
      case ColorStep::Kind::kGrayscale:
        to_grayscale(image);
        break;
    }
    return image;
  }
  ImageView operator()(const CustomStep& step) const {
    const ImageView output = step.stage->in_place() ? image : runner.next(step.output);
    step.stage->apply(image, output, step.random);
    return output;
  }
};

ConstImageView PlanRunner::run(const Plan& plan, ConstImageView input, Box input_box) {
  const ResampleStep& first = plan.steps.front();
  if (plan.steps.size() == 1 && plan.pixel_steps.empty() && first.copies() &&
      first.window.inside(first.scaled)) {
    return input.crop({first.box.top + first.window.top - input_box.top,
                       first.box.left + first.window.left - input_box.left, first.window.height,
                       first.window.width});
  }
  ImageView image = next(first.window.size());
  resampler_.resample(input, input_box, first, image);
  for (size_t i = 1; i < plan.steps.size(); ++i) image = Apply{*this, image}(plan.steps[i]);
  for (const PixelStep& step : plan.pixel_steps) image = std::visit(Apply{*this, image}, step);
  return image;
}

}  // namespace fuelrail
