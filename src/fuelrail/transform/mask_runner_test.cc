#include "fuelrail/transform/mask_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "fuelrail/testing/pillow_reference.h"
#include "fuelrail/testing/resolved_plan.h"
#include "fuelrail/transform/plan_runner.h"

namespace fuelrail {
namespace {

using testing::PlainImage;

// The numbers of a picture's pixels, in `bytes` bytes each: 3 are the pixel itself.
std::vector<std::byte> numbers_of(const PlainImage& image, size_t bytes) {
  std::vector<std::byte> numbers;
  for (size_t i = 0; i < image.bytes.size(); i += 3) {
    const uint8_t pixel[] = {image.bytes[i], image.bytes[i + 1], image.bytes[i + 2],
                             image.bytes[i]};
    for (size_t b = 0; b < bytes; ++b) numbers.push_back(std::byte{pixel[b]});
  }
  return numbers;
}

constexpr DType kDTypeOf[] = {DType::kUint8, DType::kUint16, DType::kUint8, DType::kInt32};

template <typename Bytes>
auto view_of(Bytes& numbers, Size size, size_t bytes) {
  const auto channels = bytes == 3 ? 3 : 1;
  return BasicRawView<std::remove_pointer_t<decltype(numbers.data())>>{
      numbers.data(), size.height,         size.width,
      channels,       kDTypeOf[bytes - 1], size.width * static_cast<int64_t>(bytes)};
}

PlainImage run_on_picture(const Plan& plan, const PlainImage& image) {
  const Box needed = needed_input(plan.steps.front());
  const PlainImage input = testing::pillow_crop(image, needed);
  PlanRunner runner;
  const ConstImageView made = runner.run(plan, input.view(), needed);
  PlainImage to(made.size());
  copy_rows(made, to.view());
  return testing::flipped(to, plan.flip_horizontal, plan.flip_vertical);
}

class NearestLists {
 public:
  explicit NearestLists(uint32_t seed) : random_(seed) {}
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }
  PlainImage picture() {
    PlainImage image(size());
    for (uint8_t& byte : image.bytes) byte = static_cast<uint8_t>(random_());
    return image;
  }
  Transforms list() {
    Transforms transforms;
    for (int64_t n = below(6); n > 0; --n) transforms.push_back(transform());
    return transforms;
  }

 private:
  static constexpr Interpolation kNearest = Interpolation::kNearestExact;

  Size size() { return {1 + below(40), 1 + below(40)}; }
  Border border() { return {.mode = static_cast<PaddingMode>(below(4)), .fill = {4, 5, 6}}; }
  Margins margins() { return {below(5), below(50), below(5), below(5)}; }
  Transform transform() {
    switch (below(8)) {
      case 0:
        return RandomResizedCrop{.size = size(), .interpolation = kNearest};
      case 1:
        return Resize{.size = size(), .interpolation = kNearest};
      case 2:
        return HorizontalFlip{};
      case 3:
        return VerticalFlip{};
      case 4:
        return Pad{margins(), border()};
      case 5:
        return RandomCrop{
            .size = size(), .padding = margins(), .pad_if_needed = true, .border = border()};
      case 6:
        return RandomRotation{
            .degrees = {-90, 90}, .expand = below(2) == 0, .border = {.fill = {4, 5, 6}}};
      default:
        return RandomAffine{.degrees = {-20, 20},
                            .scale = {0.5, 2},
                            .shear = {-10, 10, -5, 5},
                            .border = {.mode = PaddingMode::kEdge}};
    }
  }
  std::mt19937 random_;
};

TEST(MaskRunner, moves_numbers_of_all_sizes_as_pixels_move_with_the_nearest_filter) {
  NearestLists random(5);
  for (uint64_t i = 0; i < 1000; ++i) {
    const PlainImage image = random.picture();
    const Transforms transforms = random.list();
    const Plan leader = testing::resolve_at(transforms, image.size, i);
    const PlainImage expected = run_on_picture(leader, image);
    Plan plan;
    follow(leader, image.size, image.size, Follower::kMask, plan);
    const Box needed = needed_input(plan.steps.front());
    const PlainImage part = testing::pillow_crop(image, needed);
    for (const size_t bytes : {1u, 2u, 3u, 4u}) {
      const std::vector<std::byte> input = numbers_of(part, bytes);
      std::vector<std::byte> made(static_cast<size_t>(plan.output.height * plan.output.width) *
                                  bytes);
      MaskRunner().run(plan, view_of(input, needed.size(), bytes), needed, 0x04060504,
                       view_of(made, plan.output, bytes));
      ASSERT_EQ(made, numbers_of(expected, bytes)) << i << ": " << bytes;
    }
  }
}

TEST(MaskRunner, takes_the_nearest_pixel_whatever_the_image_takes_and_skips_colours) {
  const Size size{4, 4};
  const std::vector<uint8_t> mask{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4};
  const Transforms transforms{ColorJitter{.brightness = {0.5, 0.6}},
                              Resize{.size = {2, 2}, .interpolation = Interpolation::kBicubic},
                              Grayscale{}, Pad{{1, 0, 0, 0}, {.fill = {9, 9, 9}}}};
  Plan plan;
  follow(testing::resolve_at(transforms, size, 0), size, size, Follower::kMask, plan);
  std::vector<uint8_t> made(6);
  MaskRunner().run(
      plan, {reinterpret_cast<const std::byte*>(mask.data()), 4, 4, 1, DType::kUint8, 4},
      whole(size), 255, {reinterpret_cast<std::byte*>(made.data()), 2, 3, 1, DType::kUint8, 3});
  EXPECT_EQ(made, (std::vector<uint8_t>{255, 1, 2, 255, 3, 4}));
}

// Computed by torch 2.13's interpolate(mode="nearest-exact"); Pillow takes the other pixel.
TEST(MaskRunner, a_place_between_two_pixels_is_rounded_as_torch_does) {
  struct Case {
    int64_t from, to, output;
    uint8_t input;
  };
  for (const Case& c : {Case{62, 153, 76, 31}, Case{96, 156, 19, 12}, Case{196, 153, 76, 98},
                        Case{184, 111, 55, 92}, Case{26, 11, 5, 12}, Case{190, 35, 10, 56}}) {
    const Size image{1, c.from};
    Plan plan;
    follow(testing::resolve_at({Resize{.size = {1, c.to}}}, image, 0), image, image,
           Follower::kMask, plan);
    std::vector<std::byte> mask, made(static_cast<size_t>(c.to));
    for (int64_t x = 0; x < c.from; ++x) mask.push_back(static_cast<std::byte>(x));
    MaskRunner().run(plan, {mask.data(), 1, c.from, 1, DType::kUint8, c.from}, whole(image), 0,
                     {made.data(), 1, c.to, 1, DType::kUint8, c.to});
    EXPECT_EQ(made[static_cast<size_t>(c.output)], std::byte{c.input}) << c.from << " to " << c.to;
  }
}

}  // namespace
}  // namespace fuelrail
