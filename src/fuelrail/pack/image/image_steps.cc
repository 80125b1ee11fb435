#include "fuelrail/pack/image/image_steps.h"

#include <fmt/format.h>

namespace fuelrail::pack {
namespace {

constexpr int64_t kLongestSide = int64_t{1} << 15;

[[noreturn]] void refuse_step(std::string failure, std::string expected, std::string found,
                              std::string remedy = "") {
  throw InvalidArgumentError(
      std::move(failure),
      {.expected = std::move(expected), .found = std::move(found), .remedy = std::move(remedy)});
}

void check_side(const char* what, int64_t side, int64_t least) {
  if (side >= least && side <= kLongestSide) return;
  refuse_step(fmt::format("{} is out of range", what), fmt::format("{} to {}", least, kLongestSide),
              fmt::to_string(side));
}

void check_resizing(const ImageSteps& steps) {
  check_side("resize", steps.shorter_side, 0);
  if (steps.resize == Size{}) return;
  check_side("resize", steps.resize.height, 1);
  check_side("resize", steps.resize.width, 1);
  if (steps.shorter_side > 0 || steps.rule == ResizeRule::kShrink) {
    refuse_step("resize is both a shorter side and a size", "one of them", "both");
  }
}

void check_quality(const ImageSteps& steps) {
  if (!steps.quality) return;
  const int least = steps.encoding == ImageEncoding::kJpeg ? 1 : 0;
  if (*steps.quality >= least && *steps.quality <= 100) return;
  refuse_step("quality is out of range",
              least == 1 ? "1 to 100" : "a compression level from 0 to 9",
              fmt::to_string(*steps.quality));
}

void check_stage(const ImageStage& stage) {
  const auto* transforms = std::get_if<Transforms>(&stage);
  if (transforms == nullptr) return;
  check(*transforms);
  if (!normalization(*transforms)) return;
  refuse_step("Normalize makes floats, which no image file can hold", "transforms of 8-bit pixels",
              "Normalize",
              "Leave it out here and give it to the loader that reads the file: "
              "transforms=[..., Normalize(mean, std)]; mean_r, std_r and so on of ImageRecordIter");
}

}  // namespace

void check(const ImageSteps& steps) {
  check_resizing(steps);
  check_quality(steps);
  for (const ImageStage& stage : steps.stages) check_stage(stage);
}

}  // namespace fuelrail::pack
