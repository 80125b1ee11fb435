// What moves with an image is found again in its pixels: boxes, points and masks of drawn objects.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/testing/pillow_reference.h"
#include "fuelrail/transform/coordinates.h"
#include "fuelrail/transform/map_runner.h"
#include "fuelrail/transform/mask_runner.h"
#include "fuelrail/transform/plan_runner.h"

namespace fuelrail {
namespace {

using testing::PlainImage;

constexpr size_t kObjects = 3;  // one for each channel of the picture

// A black picture with a red, a green and a blue rectangle that do not overlap.
struct Scene {
  PlainImage image;
  std::vector<Corners> boxes;
};

class RandomScenes {
 public:
  explicit RandomScenes(uint32_t seed) : random_(seed) {}

  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(random_()) * 0x1p-32;
  }

  Scene scene() {
    const int64_t half_height = between(30, 60);
    const int64_t half_width = between(30, 60);
    Scene made{PlainImage({2 * half_height, 2 * half_width}), {}};
    const int64_t empty = between(0, 3);  // each object has a quarter of its own
    for (int64_t quarter = 0; quarter < 4; ++quarter) {
      if (quarter == empty) continue;
      const int64_t height = between(12, half_height);
      const int64_t width = between(12, half_width);
      const int64_t top = quarter / 2 * half_height + between(0, half_height - height);
      const int64_t left = quarter % 2 * half_width + between(0, half_width - width);
      const auto channel = static_cast<int64_t>(made.boxes.size());
      for (int64_t y = top; y < top + height; ++y) {
        for (int64_t x = left; x < left + width; ++x) made.image.at(y, x, channel) = 255;
      }
      made.boxes.push_back({static_cast<double>(left), static_cast<double>(top),
                            static_cast<double>(left + width), static_cast<double>(top + height)});
    }
    return made;
  }

  Size size() { return {between(50, 90), between(50, 90)}; }
  Border border(bool constant) {
    return {.mode = constant ? PaddingMode::kConstant : static_cast<PaddingMode>(between(0, 3))};
  }
  Margins margins() { return {between(0, 9), between(0, 9), between(0, 30), between(0, 9)}; }

  // `constant`: with constant borders; `nearest`: also with the nearest filter.
  Transform transform(bool constant, bool nearest) {
    const auto filter = static_cast<Interpolation>(between(nearest ? 0 : 1, 2));
    const auto warp_filter = static_cast<Interpolation>(between(nearest ? 0 : 1, 1));
    const PaddingMode edges =
        constant || between(0, 1) == 0 ? PaddingMode::kConstant : PaddingMode::kEdge;
    switch (between(0, 14)) {
      case 0:
        return CenterCrop{size()};
      case 1:
        return RandomResizedCrop{.size = size(), .scale = {0.4, 1}, .interpolation = filter};
      case 2:
        return Resize{.size = size(), .interpolation = filter};
      case 3:
        return Resize{.shorter_side = between(50, 80),
                      .interpolation = filter,
                      .antialias = between(0, 1) == 0,
                      .max_size = between(0, 1) * 100};
      case 4:
        return HorizontalFlip{0.7};
      case 5:
        return VerticalFlip{0.7};
      case 6:
        return Pad{margins(), border(constant)};
      case 7:
        return RandomCrop{.size = size(),
                          .padding = margins(),
                          .pad_if_needed = true,
                          .border = border(constant)};
      case 8:
        return RandomRotation{.degrees = {-180, 180},
                              .interpolation = warp_filter,
                              .expand = between(0, 1) == 0,
                              .border = {.mode = edges}};
      case 9:
        return RandomAffine{.degrees = {-20, 20},
                            .translate = {0.2, 0.2},
                            .scale = {0.8, 1.2},
                            .shear = {-10, 10, -5, 5},
                            .interpolation = warp_filter,
                            .border = {.mode = edges}};
      case 10:
        return RandomIoUCrop{.scale = {0.6, 1}};
      case 11:
        return RandomZoomOut{.side_range = {1, 1.4}, .p = 0.8};
      case 12:
        return ScaleJitter{.target = {80, 80}, .scale_range = {0.8, 1.2}, .interpolation = filter};
      case 13:
        return RandomShortestSize{.min_size = {55, 70}, .max_size = 120, .interpolation = filter};
      default:
        return ResizedCenterCrop{.size = size(), .resize = 80, .interpolation = filter};
    }
  }
  Transforms list(bool constant, bool nearest) {
    Transforms transforms;
    for (int64_t n = between(1, 6); n > 0; --n) transforms.push_back(transform(constant, nearest));
    return transforms;
  }

 private:
  std::mt19937 random_;
};

std::string listed(const Transforms& transforms) {
  std::string text = "transforms";
  for (const Transform& transform : transforms) text += " " + std::to_string(transform.index());
  return text;
}

// The picture after the plan, computed only from the pixels that the plan needs.
PlainImage moved_image(const Plan& plan, const PlainImage& image) {
  const Box needed = needed_input(plan.steps.front());
  PlainImage input = testing::pillow_crop(image, needed);
  PlanRunner runner;
  const ConstImageView made = runner.run(plan, input.view(), needed);
  PlainImage to(made.size());
  copy_rows(made, to.view());
  return testing::flipped(to, plan.flip_horizontal, plan.flip_vertical);
}

// One number for each pixel.
template <typename Number>
struct Values {
  Size size;
  std::vector<Number> numbers;

  explicit Values(Size s, Number value = 0)
      : size(s), numbers(static_cast<size_t>(s.height * s.width), value) {}
  Number& at(int64_t y, int64_t x) { return numbers[static_cast<size_t>(y * size.width + x)]; }
  Number at(int64_t y, int64_t x) const { return numbers[static_cast<size_t>(y * size.width + x)]; }
  RawView view(DType dtype) {
    return {reinterpret_cast<std::byte*>(numbers.data()),     size.height, size.width, 1, dtype,
            size.width * static_cast<int64_t>(sizeof(Number))};
  }
  Values crop(Box box) const {
    Values part(box.size());
    for (int64_t y = 0; y < box.height; ++y) {
      for (int64_t x = 0; x < box.width; ++x) part.at(y, x) = at(box.top + y, box.left + x);
    }
    return part;
  }
};
using Mask = Values<uint16_t>;
using Map = Values<float>;

// 0, or the number of the object that has at least half of the pixel.
Mask mask_of(const PlainImage& image) {
  Mask mask(image.size);
  for (int64_t y = 0; y < image.size.height; ++y) {
    for (int64_t x = 0; x < image.size.width; ++x) {
      for (int64_t c = 0; c < 3; ++c) {
        if (image.at(y, x, c) >= 128) mask.at(y, x) = static_cast<uint16_t>(c + 1);
      }
    }
  }
  return mask;
}

// The same scene with twice as many pixels in each direction.
Mask enlarged(const Mask& mask) {
  Mask to({2 * mask.size.height, 2 * mask.size.width});
  for (int64_t y = 0; y < to.size.height; ++y) {
    for (int64_t x = 0; x < to.size.width; ++x) to.at(y, x) = mask.at(y / 2, x / 2);
  }
  return to;
}

Mask moved_mask(const Plan& leader, Size image, const Mask& mask) {
  Plan plan;
  follow(leader, image, mask.size, Follower::kMask, plan);
  const Box needed = needed_input(plan.steps.front());
  EXPECT_TRUE(needed.inside(mask.size));
  Mask input = mask.crop(needed);
  Mask to(plan.output, 9);
  MaskRunner().run(plan, input.view(DType::kUint16), needed, 0, to.view(DType::kUint16));
  return to;
}

// Pixels where the masks differ, although all pixels at most `reach` pixels away have one number.
int64_t differences(const Mask& made, const Mask& expected, int64_t reach) {
  int64_t count = 0;
  for (int64_t y = 0; y < made.size.height; ++y) {
    for (int64_t x = 0; x < made.size.width; ++x) {
      if (made.at(y, x) == expected.at(y, x)) continue;
      bool even = true;
      for (int64_t down = -reach; down <= reach; ++down) {
        for (int64_t right = -reach; right <= reach; ++right) {
          const int64_t row = std::clamp<int64_t>(y + down, 0, made.size.height - 1);
          const int64_t column = std::clamp<int64_t>(x + right, 0, made.size.width - 1);
          even = even && made.at(row, column) == made.at(y, x);
        }
      }
      count += even ? 1 : 0;
    }
  }
  return count;
}

std::optional<Corners> box_of(const Mask& mask, uint16_t object) {
  std::optional<Corners> box;
  for (int64_t y = 0; y < mask.size.height; ++y) {
    for (int64_t x = 0; x < mask.size.width; ++x) {
      if (mask.at(y, x) != object) continue;
      const auto left = static_cast<double>(x);
      const auto top = static_cast<double>(y);
      if (!box) box = Corners{left, top, left + 1, top + 1};
      box = Corners{std::min(box->x1, left), std::min(box->y1, top), std::max(box->x2, left + 1),
                    std::max(box->y2, top + 1)};
    }
  }
  return box;
}

bool warps(const Plan& plan) {
  return std::any_of(plan.pixel_steps.begin(), plan.pixel_steps.end(),
                     [](const PixelStep& step) { return std::holds_alternative<WarpStep>(step); });
}

// The steps that interpolate.
int64_t resamplings(const Plan& plan) {
  int64_t count = 0;
  for (const ResampleStep& step : plan.steps) count += step.copies() ? 0 : 1;
  for (const PixelStep& step : plan.pixel_steps) {
    const auto* resampling = std::get_if<ResampleStep>(&step);
    const bool copies = resampling ? resampling->copies() : !std::holds_alternative<WarpStep>(step);
    count += copies ? 0 : 1;
  }
  return count;
}

double distance(const Corners& a, const Corners& b) {
  return std::max({std::fabs(a.x1 - b.x1), std::fabs(a.y1 - b.y1), std::fabs(a.x2 - b.x2),
                   std::fabs(a.y2 - b.y2)});
}

Plan plan_of(const Transforms& transforms, const Scene& scene, uint64_t position) {
  check(transforms);
  return resolve(
      transforms,
      {.image = scene.image.size, .random = Philox(3, 0, position), .boxes = scene.boxes});
}

TEST(MovedTogether, boxes_and_points_are_where_the_pixels_show_the_objects) {
  RandomScenes random(1);
  int64_t judged = 0;
  for (uint64_t i = 0; i < 700; ++i) {
    const Scene scene = random.scene();
    const Transforms transforms = random.list(/*constant=*/true, /*nearest=*/false);
    const Plan plan = plan_of(transforms, scene, i);
    Motion motion(plan, scene.image.size);
    ASSERT_EQ(motion.output(), plan.output);
    const Mask seen = mask_of(moved_image(plan, scene.image));
    std::vector<Corners> boxes = scene.boxes;
    std::vector<uint8_t> kept;
    move_boxes(motion, {.min_size = 3}, {}, boxes, kept);
    for (size_t k = 0; k < kObjects; ++k) {
      const auto object = static_cast<uint16_t>(k + 1);
      const std::optional<Corners> found = box_of(seen, object);
      const Corners hull = motion.hull(scene.boxes[k]);
      const bool cut = distance(hull, boxes[k]) > 1e-6;
      if (kept[k] == 0) {
        ASSERT_TRUE(!found || found->x2 - found->x1 <= 5 || found->y2 - found->y1 <= 5)
            << i << ": " << listed(transforms);
        continue;
      }
      if (warps(plan) && cut) continue;  // the hull is larger than what is visible
      ASSERT_TRUE(found) << i << ": " << listed(transforms);
      ASSERT_LE(distance(*found, boxes[k]), warps(plan) ? 1.5 : 1.0)
          << i << ": " << listed(transforms);
      ++judged;
      const std::array middle{(scene.boxes[k].x1 + scene.boxes[k].x2) * 0.5,
                              (scene.boxes[k].y1 + scene.boxes[k].y2) * 0.5};
      std::array<double, 2> point{};
      std::vector<uint8_t> shown;
      move_points(motion, {}, 2, std::span<const double>(middle), std::span<double>(point), shown);
      if (shown[0] == 0) continue;
      const auto y = std::min(static_cast<int64_t>(point[1]), plan.output.height - 1);
      const auto x = std::min(static_cast<int64_t>(point[0]), plan.output.width - 1);
      if (cut) continue;  // the middle may be on an edge
      ASSERT_EQ(seen.at(y, x), object) << i << ": " << listed(transforms);
    }
  }
  EXPECT_GT(judged, 600);
}

TEST(MovedTogether, masks_show_the_objects_where_the_picture_does) {
  RandomScenes random(2);
  int64_t judged = 0;
  for (uint64_t i = 0; i < 700; ++i) {
    const Scene scene = random.scene();
    const bool constant = i % 2 == 0;
    const Transforms transforms = random.list(constant, /*nearest=*/true);
    const Plan plan = plan_of(transforms, scene, i);
    const Mask seen = mask_of(moved_image(plan, scene.image));
    const Mask mask = mask_of(scene.image);
    // Each resampling takes the nearest pixel, which is up to half a pixel away.
    const int64_t reach = std::max<int64_t>(resamplings(plan), 1);
    if (reach > (constant ? 2 : 1)) continue;  // others repeat pixels of which objects have a part
    ++judged;
    const Mask made = moved_mask(plan, scene.image.size, mask);
    ASSERT_EQ(made.size, plan.output);
    ASSERT_EQ(differences(made, seen, reach), 0) << i << ": " << listed(transforms);
    const Mask fine = moved_mask(plan, scene.image.size, enlarged(mask));
    ASSERT_EQ(differences(fine, seen, reach), 0) << i << ": " << listed(transforms);
  }
  EXPECT_GT(judged, 400);
}

}  // namespace
}  // namespace fuelrail
