#include "fuelrail/mxnet/augment_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuelrail/base/error.h"
#include "fuelrail/transform/portable_math.h"

namespace fuelrail::mxnet {
namespace {

struct AspectRange {
  float low = 1;
  float high = 1;
  bool varies() const { return low != 1.0f || high != 1.0f; }
};

AspectRange aspect_range(const AugmentOptions& options) {
  if (options.min_aspect_ratio) return {*options.min_aspect_ratio, options.max_aspect_ratio};
  return {1 - options.max_aspect_ratio, 1 + options.max_aspect_ratio};
}

// Draws the random numbers of each step and adds the step to the plan. `size_` is the image's size
// after the last step.
class Planner {
 public:
  Planner(const AugmentOptions& options, const MxShape& shape, Size image, Draws& draws,
          AugmentPlan& plan)
      : options_(options), target_(shape.size()), size_(image), draws_(draws), plan_(plan) {}

  void run() {
    plan_.geometry.clear();
    plan_.colours = {};
    if (options_.resize != -1) shorter_side();
    if (warps()) warp();
    if (options_.pad > 0) pad();
    if (!crop_and_resize()) enlarge_and_crop();
    colours();
  }

 private:
  void shorter_side() {
    const Size to = resized_shorter_side(size_, options_.resize);
    resize(to, interpolation(size_, to));
  }

  bool warps() const {
    return options_.max_rotate_angle > 0 || options_.max_shear_ratio > 0 || options_.rotate > 0 ||
           !options_.rotate_list.empty() || options_.max_random_scale != 1.0f ||
           options_.min_random_scale != 1.0f ||
           (!options_.random_resized_crop && aspect_range(options_).varies()) ||
           options_.max_img_size != 1e10f || options_.min_img_size != 0.0f;
  }

  int64_t angle() {
    int64_t angle = draws_.integer(-options_.max_rotate_angle, options_.max_rotate_angle);
    if (options_.rotate > 0) angle = options_.rotate;
    if (!options_.rotate_list.empty()) {
      const auto last = static_cast<int64_t>(options_.rotate_list.size()) - 1;
      angle = options_.rotate_list[static_cast<size_t>(draws_.integer(0, last))];
    }
    return angle;
  }

  void warp() {
    const float shear = draws_.unit() * options_.max_shear_ratio * 2 - options_.max_shear_ratio;
    const SineCosine turn = portable_sine_cosine(static_cast<double>(angle()));
    const auto a = static_cast<float>(turn.cosine);
    const auto b = static_cast<float>(turn.sine);
    float scale = 1;
    float ratio = 1;
    if (!options_.random_resized_crop) {
      scale = draws_.unit() * (options_.max_random_scale - options_.min_random_scale) +
              options_.min_random_scale;
      const AspectRange aspect = aspect_range(options_);
      ratio = draws_.unit() * (aspect.high - aspect.low) + aspect.low;
    }
    const float along_y = 2 * scale / (1 + ratio);
    const float along_x = ratio * along_y;
    const auto columns = static_cast<float>(size_.width);
    const auto rows = static_cast<float>(size_.height);
    const float width =
        std::max(options_.min_img_size, std::min(options_.max_img_size, scale * columns));
    const float height =
        std::max(options_.min_img_size, std::min(options_.max_img_size, scale * rows));
    const float m00 = along_y * a - shear * b * along_x;
    const float m10 = -b * along_x;
    const float m01 = along_y * b + shear * a * along_x;
    const float m11 = a * along_x;
    const float m02 = (width - (m00 * columns + m01 * rows)) / 2;
    const float m12 = (height - (m10 * columns + m11 * rows)) / 2;
    const Size to = require_side("after the affine map", width, height);
    require_fits("before the affine map", size_);
    const CvInterpolation how = interpolation(size_, to);
    plan_.geometry.push_back(WarpTo{to, {{m00, m01, m02, m10, m11, m12}}, how});
    size_ = to;
  }

  void pad() {
    const Size to{size_.height + 2 * options_.pad, size_.width + 2 * options_.pad};
    require_fits("after padding", to);
    plan_.geometry.push_back(PadBy{options_.pad});
    size_ = to;
  }

  // Returns: whether the image now has the size of data_shape.
  bool crop_and_resize() {
    if (options_.random_resized_crop) return random_resized_crop();
    if (options_.max_crop_size == -1) return false;
    square_crop();
    return true;
  }

  bool random_resized_crop() {
    const AspectRange aspect = aspect_range(options_);
    const bool varies = options_.max_random_area != 1.0f || options_.min_random_area != 1.0f;
    if (!varies && !aspect.varies()) return false;
    const auto area = static_cast<float>(size_.height * size_.width);
    for (int trial = 0; trial < 10; ++trial) {
      const float wanted =
          area * draws_.uniform(options_.min_random_area, options_.max_random_area);
      const float ratio = draws_.uniform(aspect.low, aspect.high);
      auto height = static_cast<int64_t>(std::round(std::sqrt(wanted / ratio)));
      auto width = static_cast<int64_t>(std::round(std::sqrt(wanted * ratio)));
      if (draws_.unit() > 0.5f) std::swap(height, width);
      // A very small image may give an empty crop, with which MXNet fails.
      if (height > size_.height || width > size_.width || height == 0 || width == 0) continue;
      const int64_t top = draws_.integer(0, size_.height - height);
      const int64_t left = draws_.integer(0, size_.width - width);
      crop_to_target({top, left, height, width});
      return true;
    }
    return false;
  }

  void square_crop() {
    if (size_.height < options_.max_crop_size || size_.width < options_.max_crop_size) {
      throw InvalidArgumentError(
          "the image is smaller than `max_crop_size`",
          {.expected = fmt::format("at least {} pixels per side", options_.max_crop_size),
           .found = fmt::format("height {}, width {}", size_.height, size_.width),
           .remedy = "Set `resize` to enlarge small images, or use a smaller `max_crop_size`"});
    }
    const int64_t side = draws_.integer(options_.min_crop_size, options_.max_crop_size);
    crop_to_target(place({side, side}));
  }

  // Makes both sides at least as long as the target's, then crops. Each enlargement keeps the
  // aspect ratio, with the other side truncated to whole pixels. The interpolation is chosen once,
  // by the size before the enlargements.
  void enlarge_and_crop() {
    const CvInterpolation how = interpolation(size_, target_);
    if (size_.height < target_.height) {
      const float scale = static_cast<float>(target_.height) / static_cast<float>(size_.height);
      const auto width = static_cast<int64_t>(scale * static_cast<float>(size_.width));
      resize({target_.height, width}, how);
    }
    if (size_.width < target_.width) {
      const float scale = static_cast<float>(target_.width) / static_cast<float>(size_.width);
      const auto height = static_cast<int64_t>(scale * static_cast<float>(size_.height));
      resize({height, target_.width}, how);
    }
    crop(place(target_));
  }

  // A box of this size, at a random position if rand_crop is set, otherwise in the centre.
  Box place(Size box) {
    int64_t top = size_.height - box.height;
    int64_t left = size_.width - box.width;
    if (options_.rand_crop) {
      top = draws_.integer(0, top);
      left = draws_.integer(0, left);
    } else {
      top /= 2;
      left /= 2;
    }
    return {top, left, box.height, box.width};
  }

  void crop_to_target(Box box) {
    const CvInterpolation how = interpolation(box.size(), target_);
    crop(box);
    resize(target_, how);
  }

  void crop(Box box) {
    plan_.geometry.push_back(CropTo{box});
    size_ = box.size();
  }

  void resize(Size to, CvInterpolation how) {
    require_fits("after resizing", to);
    plan_.geometry.push_back(ResizeTo{to, how});
    size_ = to;
  }

  CvInterpolation interpolation(Size from, Size to) {
    return choose_interpolation(options_.inter_method, from, to, draws_);
  }

  void colours() {
    ColourSteps& colours = plan_.colours;
    if (options_.brightness > 0 || options_.contrast > 0 || options_.saturation > 0) {
      colours.jitter = true;
      const std::array<float, 3> limits{options_.brightness, options_.contrast,
                                        options_.saturation};
      for (size_t i = 0; i < 3; ++i) {
        const auto change = static_cast<double>(draws_.uniform(-limits[i], limits[i]));
        colours.factors[i] = static_cast<float>(1.0 + change);
      }
      draws_.shuffle(colours.order);
    }
    if (options_.random_h != 0 || options_.random_s != 0 || options_.random_l != 0) {
      colours.shift = true;
      const int hue = offset(options_.random_h);
      const int saturation = offset(options_.random_s);
      const int lightness = offset(options_.random_l);
      colours.hls = {hue, lightness, saturation};
    }
    if (options_.pca_noise > 0) {
      colours.light = true;
      colours.rgb = lighting();
    }
  }

  // A number in [-most, most], more often near 0 than a uniform one.
  int offset(int64_t most) {
    float random = draws_.unit();
    random += 4 * draws_.unit();
    random = random / 5;
    const auto limit = static_cast<float>(most);
    return static_cast<int>(random * limit * 2 - limit);
  }

  // AlexNet's lighting noise: the eigenvectors of ImageNet's colours, each times the square root of
  // its eigenvalue and 255.
  std::array<float, 3> lighting() {
    constexpr float kAxes[3][3] = {{55.46f * -0.5675f, 4.794f * 0.7192f, 1.148f * 0.4009f},
                                   {55.46f * -0.5808f, 4.794f * -0.0045f, 1.148f * -0.8140f},
                                   {55.46f * -0.5836f, 4.794f * -0.6948f, 1.148f * 0.4203f}};
    std::array<float, 3> alpha{};
    draws_.normal(options_.pca_noise, alpha);
    std::array<float, 3> rgb{};
    for (size_t i = 0; i < 3; ++i) {
      rgb[i] = kAxes[i][0] * alpha[0] + kAxes[i][1] * alpha[1] + kAxes[i][2] * alpha[2];
    }
    return rgb;
  }

  static void require_fits(const char* step, Size size) {
    if (size.height >= 1 && size.width >= 1 && size.height <= kLongestSide &&
        size.width <= kLongestSide) {
      return;
    }
    throw InvalidArgumentError(
        fmt::format("the image size {} is out of range", step),
        {.expected = "1 to 32766 pixels per side",
         .found = fmt::format("height {}, width {}", size.height, size.width)});
  }

  static Size require_side(const char* step, float width, float height) {
    constexpr float kMost = 1e9f;  // too large in any case, but representable as an integer
    const Size size{static_cast<int64_t>(std::min(height, kMost)),
                    static_cast<int64_t>(std::min(width, kMost))};
    require_fits(step, size);
    return size;
  }

  const AugmentOptions& options_;
  Size target_;
  Size size_;
  Draws& draws_;
  AugmentPlan& plan_;
};

}  // namespace

CvInterpolation choose_interpolation(int64_t inter_method, Size from, Size to, Draws& draws) {
  if (inter_method == 10) return static_cast<CvInterpolation>(draws.integer(0, 4));
  if (inter_method != 9) return static_cast<CvInterpolation>(inter_method);
  return cv_auto_interpolation(from, to);
}

Size resized_shorter_side(Size image, int64_t resize) {
  const Size to = image.height > image.width ? Size{resize * image.height / image.width, resize}
                                             : Size{resize, resize * image.width / image.height};
  if (to.height <= kLongestSide && to.width <= kLongestSide) return to;
  throw InvalidArgumentError("`resize` makes the longer side of the image too long",
                             {.expected = "at most 32766 pixels",
                              .found = fmt::format("height {}, width {}", to.height, to.width)});
}

void plan_augmentation(const AugmentOptions& options, const MxShape& shape, Size image,
                       Draws& draws, AugmentPlan& plan) {
  Planner(options, shape, image, draws, plan).run();
}

Box needed_pixels(const AugmentPlan& plan, Size image) {
  const auto& steps = plan.geometry;
  if (const auto* crop = std::get_if<CropTo>(&steps.front())) return crop->box;
  const auto* resize = std::get_if<ResizeTo>(&steps.front());
  if (resize == nullptr || steps.size() == 1) return whole(image);
  const auto* crop = std::get_if<CropTo>(&steps[1]);
  if (crop == nullptr) return whole(image);
  return needed_input(CvResizeStep{image, resize->to, crop->box, resize->interpolation});
}

}  // namespace fuelrail::mxnet
