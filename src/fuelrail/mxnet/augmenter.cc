#include "fuelrail/mxnet/augmenter.h"

#include <optional>
#include <utility>

#include "fuelrail/mxnet/augment_plan.h"
#include "fuelrail/mxnet/colours.h"
#include "fuelrail/mxnet/picture.h"

namespace fuelrail::mxnet {

struct Augmenter::Impl {
  AugmentOptions options;
  MxShape shape;
  AugmentPlan plan;
  Size image;  // that the plan is for
  Picture picture;

  void change_geometry(Box held);
  void change_colours();
  void run_stages(const Draws& draws);
};

// Of a resized image that is cut at once, only the part that stays is made.
void Augmenter::Impl::change_geometry(Box held) {
  const auto& steps = plan.geometry;
  Size size = image;  // of which the picture holds `held`
  for (size_t i = 0; i < steps.size(); ++i) {
    if (const auto* resize = std::get_if<ResizeTo>(&steps[i])) {
      const auto* crop = i + 1 < steps.size() ? std::get_if<CropTo>(&steps[i + 1]) : nullptr;
      const Box window = crop ? crop->box : whole(resize->to);
      picture.resize(held, {size, resize->to, window, resize->interpolation});
      if (crop != nullptr) ++i;
    } else if (const auto* warp = std::get_if<WarpTo>(&steps[i])) {
      picture.warp(warp->to, warp->affine, warp->interpolation,
                   static_cast<uint8_t>(options.fill_value));
    } else if (const auto* pad = std::get_if<PadBy>(&steps[i])) {
      picture.pad({pad->pixels, pad->pixels, pad->pixels, pad->pixels},
                  static_cast<uint8_t>(options.fill_value));
    } else {
      const Box box = std::get<CropTo>(steps[i]).box;
      picture.crop({box.top - held.top, box.left - held.left, box.height, box.width});
    }
    size = picture.size();
    held = whole(size);
  }
}

void Augmenter::Impl::change_colours() {
  const ColourSteps& colours = plan.colours;
  if (!colours.jitter && !colours.shift && !colours.light) return;
  const ImageView image_view = picture.own();
  if (colours.jitter) {
    for (const int step : colours.order) {
      const float factor = colours.factors[static_cast<size_t>(step)];
      if (step == 0) scale_levels(image_view, factor, 0);
      if (step == 1) scale_levels(image_view, factor, (1 - factor) * mean_mxnet_grey(image_view));
      if (step == 2) saturate_colours(image_view, factor);
    }
  }
  if (colours.shift) shift_hls(image_view, colours.hls);
  if (colours.light) add_light(image_view, colours.rgb);
}

void Augmenter::Impl::run_stages(const Draws& draws) {
  uint32_t operation = 0;
  for (const auto& stage : options.stages) {
    const StageRandom random(draws.counted(), ++operation);
    if (stage->in_place()) {
      const ImageView own = picture.own();
      stage->apply(own, own, random);
    } else {
      picture.replace(shape.size(),
                      [&](ConstImageView from, ImageView to) { stage->apply(from, to, random); });
    }
  }
}

Augmenter::Augmenter(const AugmentOptions& options, const MxShape& shape) {
  check(options, shape);
  impl_ = std::make_unique<Impl>();
  impl_->options = options;
  impl_->shape = shape;
}

Augmenter::~Augmenter() = default;
Augmenter::Augmenter(Augmenter&&) noexcept = default;
Augmenter& Augmenter::operator=(Augmenter&&) noexcept = default;

ConstImageView Augmenter::augment(ConstImageView decoded, Draws& draws) {
  plan(decoded.size(), draws);
  return run(decoded, whole(decoded.size()), draws);
}

Box Augmenter::plan(Size image, Draws& draws) {
  plan_augmentation(impl_->options, impl_->shape, image, draws, impl_->plan);
  impl_->image = image;
  return needed_pixels(impl_->plan, image);
}

ConstImageView Augmenter::run(ConstImageView decoded, Box box, const Draws& draws) {
  impl_->picture.begin(decoded);
  impl_->change_geometry(box);
  impl_->change_colours();
  impl_->run_stages(draws);
  return impl_->picture.view();
}

}  // namespace fuelrail::mxnet
