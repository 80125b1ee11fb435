#include "fuelrail/pack/image/image_steps.h"

namespace fuelrail::pack {
namespace {

constexpr int64_t kLongestSide = int64_t{1} << 15;

[[noreturn]] void refuse_step(std::string failure, std::string expected, std::string found,
                              std::string remedy = "") {
  throw InvalidArgumentError(
      std::move(failure),
      {.expected = std::move(expected), .found = std::move(found), .remedy = std::move(remedy)});
}

void check_size(const ImageSteps& steps) {
  if (steps.resize == Size{}) return;
  const OptionRule side = option::number_rule("resize", "int", int64_t{1}, kLongestSide, "");
  side.check(steps.resize.height);
  side.check(steps.resize.width);
  if (steps.shorter_side > 0) {
    refuse_step("`shorter_side` and `resize` cannot be combined", "one of them", "both");
  }
}

void check_stage(const ImageStage& stage) {
  const auto* transforms = std::get_if<Transforms>(&stage);
  if (transforms == nullptr) return;
  check(*transforms);
  if (!normalization(*transforms)) return;
  refuse_step("Normalize cannot be used in packing, because image files cannot store floats",
              "transforms of 8-bit pixels", "Normalize",
              "Omit it here and give it to the loader that reads the file: transforms=[..., "
              "Normalize(mean, std)], or mean_r, std_r and so on of ImageRecordIter");
}

std::vector<std::pair<std::string, std::string>> presets() {
  std::vector<std::pair<std::string, std::string>> values;
  for (const std::string& name : hevc_presets()) values.emplace_back(name, name);
  return values;
}

}  // namespace

const OptionTable<StoredStills>& StoredStills::table() {
  static const auto table =
      OptionTable<StoredStills>()
          .number(
              "crf", [](auto& o) -> auto& { return o.hevc.crf; }, 0.0, 51.0,
              "H.265: x265's constant rate factor. Smaller numbers give better and larger "
              "images.")
          .choice(
              "preset", [](auto& o) -> auto& { return o.hevc.preset; }, presets(),
              "H.265: x265's preset. Slower presets give smaller files.")
          .any(option::numbers_rule("chroma", {420, 444},
                                    "H.265: 420 stores colours in half the width and height, "
                                    "444 in full size."),
               [](auto& o) -> auto& { return o.hevc.chroma; })
          .flag("thumb", &StoredStills::thumb,
                "H.265: also store each image reduced to at most 512 x 512, which loaders read "
                "by default.");
  return table;
}

const OptionTable<ImageSteps>& ImageSteps::table() {
  using Steps = ImageSteps;
  static const auto table =
      OptionTable<Steps>()
          .row({.rule = {.name = "pass_through",
                         .kind = "bool",
                         .meaning = "check the headers and store the files unchanged. All of the "
                                    "following steps are skipped."},
                .get = [](const Steps& o) { return OptionValue{o.keep == Keep::kAll}; },
                .set =
                    [](Steps& o, const OptionValue& value) {
                      o.keep = std::get<bool>(value) ? Keep::kAll : Keep::kNone;
                    }})
          .any(option::numbers_rule("color", {-1, 0, 1},
                                    "1 colour, 0 grey, -1 the channels of the file. With 1 and 0, "
                                    "images are turned upright according to their EXIF tag."),
               &Steps::color)
          .flag("center_crop", &Steps::center_crop, "crop the central square.")
          .number("resize", &Steps::shorter_side, 0, kLongestSide,
                  "length of the shorter side, in pixels. 0 keeps the size.")
          .any(option::numbers_rule(
                   "inter_method", {0, 1, 2, 3, 4, 9, 10},
                   "interpolation method, as in OpenCV: 0 nearest, 1 bilinear, 2 cubic, 3 area, 4 "
                   "Lanczos, 9 by size (cubic to enlarge, area to shrink, otherwise bilinear), 10 "
                   "a random choice of 0 to 4."),
               &Steps::rule)
          .choice("encoding", &Steps::encoding,
                  {{".jpg", ImageEncoding::kJpeg},
                   {".jpeg", ImageEncoding::kJpeg},
                   {".png", ImageEncoding::kPng}},
                  "format of encoded images; for images with alpha, any other than .png is an "
                  "error.")
          .number(
              "quality", &Steps::quality, 0, 100,
              "JPEG quality (1 to 100, default 95) or PNG compression level (0 to 9, default 9).")
          .number(
              "seed", &Steps::seed, 0, UINT64_MAX,
              "seed of inter_method 10 and of random transforms. The random numbers of an image "
              "depend on the seed and on the image's place in the list.");
  return table;
}

void check(const ImageSteps& steps) {
  ImageSteps::table().check(steps);
  check_size(steps);
  if (steps.encoding == ImageEncoding::kJpeg && steps.quality == 0) {
    refuse_step("`quality` is out of range", "1 to 100 for JPEG", "0");
  }
  for (const ImageStage& stage : steps.stages) check_stage(stage);
}

}  // namespace fuelrail::pack
