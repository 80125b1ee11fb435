#include "fuelrail/transform/plan_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/pillow_reference.h"

#ifndef FUELRAIL_SANITIZED
// g++ inlines only one of the two operators, and then warns that they do not match.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
static std::atomic<int64_t> allocations = 0;
void* operator new(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace fuelrail {
namespace {

using testing::PlainImage;

class Fails final : public PixelStage {
 public:
  void apply(ConstImageView, ImageView, const StageRandom&) const override {
    throw std::runtime_error("no pixels today");
  }
};

class Invert final : public PixelStage {
 public:
  bool in_place() const override { return true; }
  void apply(ConstImageView from, ImageView to, const StageRandom&) const override {
    EXPECT_EQ(from.data, to.data);
    for (int64_t y = 0; y < to.height; ++y) {
      for (int64_t x = 0; x < to.width * 3; ++x) to.row(y)[x] ^= 255;
    }
  }
};

class Nothing final : public PixelStage {
 public:
  Size output_size(Size) const override { return {0, 5}; }
  void apply(ConstImageView, ImageView, const StageRandom&) const override {}
};

PlainImage grey(Size size, uint8_t level) {
  PlainImage image(size);
  std::fill(image.bytes.begin(), image.bytes.end(), level);
  return image;
}

#ifndef FUELRAIL_SANITIZED
TEST(PlanRunner, memory_is_taken_for_the_first_images_only) {
  const Transforms transforms{
      RandomCrop{.size = {30, 40}, .padding = {4, 4, 4, 4}, .border = {PaddingMode::kReflect}},
      RandomResizedCrop{.size = {32, 32}},
      ColorJitter{{0.6, 1.4}, {0.6, 1.4}, {0.6, 1.4}, {-0.1, 0.1}},
      HorizontalFlip{},
      RandomRotation{.degrees = {-30, 30}, .interpolation = Interpolation::kBilinear},
      RandomAffine{.degrees = {-30, 30}, .border = {PaddingMode::kEdge}},
      Pad{{1, 2, 3, 4}},
      RandomGrayscale{0.5},
      CustomStage{std::make_shared<Invert>()}};
  PlainImage image = grey({48, 64}, 7);
  PlanRunner runner;
  Plan plan;
  const auto run = [&](uint64_t position) {
    resolve(transforms, {.image = image.size, .random = Philox(1, 0, position)}, plan);
    runner.run(plan, image.view(), whole(image.size));
  };
  for (uint64_t position = 0; position < 300; ++position) run(position);
  const int64_t before = allocations.load(std::memory_order_relaxed);
  for (uint64_t position = 0; position < 300; ++position) run(position);
  EXPECT_EQ(allocations.load(std::memory_order_relaxed), before);
}
#endif

TEST(PlanRunner, a_lone_crop_is_a_view_of_the_input) {
  const PlainImage image = grey({20, 30}, 9);
  const Plan plan = resolve({CenterCrop{{4, 6}}}, {.image = image.size, .random = Philox(0, 0, 0)});
  PlanRunner runner;
  EXPECT_EQ(runner.run(plan, image.view(), whole(image.size)).data, image.view().row(8) + 12 * 3);
}

TEST(PlanRunner, a_stage_in_place_changes_the_image_and_not_the_input) {
  const PlainImage image = grey({6, 7}, 10);
  const Transforms transforms{CustomStage{std::make_shared<Invert>()}};
  const Plan plan = resolve(transforms, {.image = image.size, .random = Philox(0, 0, 0)});
  PlanRunner runner;
  EXPECT_EQ(runner.run(plan, image.view(), whole(image.size)).row(0)[0], 245);
  EXPECT_EQ(image.bytes[0], 10);
}

TEST(PlanRunner, what_a_stage_throws_comes_out) {
  const PlainImage image = grey({6, 7}, 10);
  const Transforms transforms{CustomStage{std::make_shared<Fails>()}};
  const Plan plan = resolve(transforms, {.image = image.size, .random = Philox(0, 0, 0)});
  PlanRunner runner;
  EXPECT_THROW(runner.run(plan, image.view(), whole(image.size)), std::runtime_error);
}

TEST(PlanRunner, a_stage_without_a_usable_size_is_refused) {
  const Transforms transforms{CustomStage{std::make_shared<Nothing>()}};
  EXPECT_THROW(resolve(transforms, {.image = {4, 5}, .random = Philox(0, 0, 0)}),
               InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail
