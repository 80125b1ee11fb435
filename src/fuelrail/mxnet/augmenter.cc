#include "fuelrail/mxnet/augmenter.h"

#include "fuelrail/mxnet/colours.h"

namespace fuelrail::mxnet {

// If a crop follows a resize directly, only the pixels that the crop keeps are computed.
void Augmenter::change_geometry(Box held) {
  const auto& steps = plan_.geometry;
  Size size = image_;  // the image's size; the picture has its pixels in `held`
  for (size_t i = 0; i < steps.size(); ++i) {
    if (const auto* resize = std::get_if<ResizeTo>(&steps[i])) {
      const auto* crop = i + 1 < steps.size() ? std::get_if<CropTo>(&steps[i + 1]) : nullptr;
      const Box window = crop ? crop->box : whole(resize->to);
      picture_.resize(held, {size, resize->to, window, resize->interpolation});
      if (crop != nullptr) ++i;
    } else if (const auto* warp = std::get_if<WarpTo>(&steps[i])) {
      picture_.warp(warp->to, warp->affine, warp->interpolation,
                    static_cast<uint8_t>(options_.fill_value));
    } else if (const auto* pad = std::get_if<PadBy>(&steps[i])) {
      picture_.pad({pad->pixels, pad->pixels, pad->pixels, pad->pixels},
                   static_cast<uint8_t>(options_.fill_value));
    } else {
      const Box box = std::get<CropTo>(steps[i]).box;
      picture_.crop({box.top - held.top, box.left - held.left, box.height, box.width});
    }
    size = picture_.size();
    held = whole(size);
  }
}

void Augmenter::change_colours() {
  const ColourSteps& colours = plan_.colours;
  if (!colours.jitter && !colours.shift && !colours.light) return;
  const ImageView image_view = picture_.own();
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

void Augmenter::run_stages(const Draws& draws) {
  uint32_t operation = 0;
  for (const auto& stage : options_.stages) {
    const StageRandom random(draws.counted(), ++operation);
    if (stage->in_place()) {
      const ImageView own = picture_.own();
      stage->apply(own, own, random);
    } else {
      picture_.replace(shape_.size(),
                       [&](ConstImageView from, ImageView to) { stage->apply(from, to, random); });
    }
  }
}

Augmenter::Augmenter(const AugmentOptions& options, const MxShape& shape)
    : options_(options), shape_(shape) {
  check(options, shape);
}

ConstImageView Augmenter::augment(ConstImageView decoded, Draws& draws) {
  plan(decoded.size(), draws);
  return run(decoded, whole(decoded.size()), draws);
}

Box Augmenter::plan(Size image, Draws& draws) {
  plan_augmentation(options_, shape_, image, draws, plan_);
  image_ = image;
  return needed_pixels(plan_, image);
}

ConstImageView Augmenter::run(ConstImageView decoded, Box box, const Draws& draws) {
  picture_.begin(decoded);
  change_geometry(box);
  change_colours();
  run_stages(draws);
  return picture_.view();
}

}  // namespace fuelrail::mxnet
