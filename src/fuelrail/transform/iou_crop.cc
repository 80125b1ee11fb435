#include "fuelrail/transform/iou_crop.h"

#include <algorithm>
#include <cstdint>

namespace fuelrail {
namespace {

double intersection_over_union(const Box& crop, const Corners& object) {
  const auto overlap = [](double begin, double end, int64_t from, int64_t to) {
    return std::max(
        std::min(end, static_cast<double>(to)) - std::max(begin, static_cast<double>(from)), 0.0);
  };
  const double shared = overlap(object.x1, object.x2, crop.left, crop.right()) *
                        overlap(object.y1, object.y2, crop.top, crop.bottom());
  const double own = (object.x2 - object.x1) * (object.y2 - object.y1);
  return shared / (own + static_cast<double>(crop.height * crop.width) - shared);
}

bool is_near_enough(const Box& crop, std::span<const Corners> objects, double option) {
  return std::any_of(objects.begin(), objects.end(), [&](const Corners& object) {
    return holds_middle(crop, object) && intersection_over_union(crop, object) >= option;
  });
}

// One try; empty if the crop is too small or its aspect ratio is out of range.
std::optional<Box> draw_crop(const RandomIoUCrop& crop, Size image, const StageRandom& random,
                             uint32_t draw) {
  const auto side = [&](uint32_t which, int64_t length) {
    const double part =
        crop.scale[0] + (crop.scale[1] - crop.scale[0]) * random.uniform(draw + which);
    return static_cast<int64_t>(static_cast<double>(length) * part);
  };
  const auto place = [&](uint32_t which, int64_t room) {
    return static_cast<int64_t>(static_cast<double>(room) * random.uniform(draw + which));
  };
  const int64_t width = side(0, image.width);
  const int64_t height = side(1, image.height);
  if (width < 1 || height < 1) return std::nullopt;
  const double aspect = static_cast<double>(width) / static_cast<double>(height);
  if (!(aspect >= crop.aspect_ratio[0] && aspect <= crop.aspect_ratio[1])) return std::nullopt;
  const int64_t left = place(2, image.width - width);
  const int64_t top = place(3, image.height - height);
  return Box{top, left, height, width};
}

}  // namespace

bool holds_middle(const Box& crop, const Corners& object) {
  const double x = 0.5 * (object.x1 + object.x2);
  const double y = 0.5 * (object.y1 + object.y2);
  return x > static_cast<double>(crop.left) && x < static_cast<double>(crop.right()) &&
         y > static_cast<double>(crop.top) && y < static_cast<double>(crop.bottom());
}

std::optional<Box> draw_iou_crop(const RandomIoUCrop& crop, Size image,
                                 std::span<const Corners> objects, const StageRandom& random) {
  if (objects.empty()) return std::nullopt;
  const auto trials = static_cast<uint32_t>(crop.trials);
  for (uint32_t round = 0; round < kMostRounds; ++round) {
    const uint32_t draw = round * (1 + 4 * trials);
    const double option = crop.sampler_options[random.below(draw, crop.sampler_options.size())];
    if (option >= 1) return std::nullopt;
    for (uint32_t trial = 0; trial < trials; ++trial) {
      const std::optional<Box> box = draw_crop(crop, image, random, draw + 1 + 4 * trial);
      if (box && is_near_enough(*box, objects, option)) return box;
    }
  }
  return std::nullopt;
}

}  // namespace fuelrail
