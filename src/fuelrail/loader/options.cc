#include "fuelrail/loader/options.h"

namespace fuelrail {

uint64_t LoaderOptions::seed() const {
  return std::visit([](const auto& of) { return of.seed; }, order);
}

const Shard& LoaderOptions::shard() const {
  return std::visit([](const auto& of) -> const Shard& { return of.shard; }, order);
}

const OptionTable<LoaderOptions>& LoaderOptions::table() {
  static const auto table =
      OptionTable<LoaderOptions>()
          .part(&LoaderOptions::engine, EngineOptions::table())
          .any({.name = "stall_timeout",
                .kind = "float or None",
                .bounds = "above 0; None waits for ever",
                .meaning =
                    "seconds. Where no batch comes for so long, a StallError, a TimeoutError, says "
                    "what it waits for: the stage (a file is looked at, read, decoded; the "
                    "sampler), "
                    "the file and offset, and the sample's index. The next call waits again, and "
                    "gives the batch if it comes by then. Default: None, wait for ever.",
                .allows =
                    [](const OptionValue& value) {
                      const auto* const seconds = std::get_if<double>(&value);
                      return seconds == nullptr || *seconds > 0;
                    }},
               &LoaderOptions::stall_timeout);
  return table;
}

const OptionTable<ImageOptions>& ImageOptions::table() {
  static const auto table =
      OptionTable<ImageOptions>()
          .choice("dtype", &ImageOptions::dtype,
                  {{"float32", DType::kFloat32},
                   {"float16", DType::kFloat16},
                   {"bfloat16", DType::kBfloat16},
                   {"uint8", DType::kUint8}},
                  "of the images: \"float32\", \"float16\", \"bfloat16\" (for DLPack and PyTorch; "
                  "NumPy has none) or \"uint8\". Without Normalize, floats are in [0, 1].")
          .choice("layout", &ImageOptions::layout,
                  {{"NCHW", ImageLayout::kNchw}, {"NHWC", ImageLayout::kNhwc}},
                  "\"NCHW\" or \"NHWC\"; channels are red, green, blue.")
          .choice("orientation", &ImageOptions::orientation,
                  {{"apply", Orientation::kApply}, {"ignore", Orientation::kIgnore}},
                  "\"apply\" turns images as their EXIF tag says; \"ignore\" does not.")
          .flag("scaled_decode", &ImageOptions::scaled_decode,
                "decode JPEGs at 1/8, 1/4 or 1/2 of their size where the first resampling makes "
                "them at least as much smaller: faster, and not quite the same pixels "
                "(docs/transforms.md says how far off).")
          .number("max_pixels", &ImageOptions::max_pixels, 1, INT64_MAX,
                  "an image that declares more is an error, before memory is taken for it. "
                  "(docs/limits.md has all limits.)");
  return table;
}

}  // namespace fuelrail
