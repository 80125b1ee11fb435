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
                .bounds = "above 0, or None",
                .meaning =
                    "the longest time to wait for a batch, in seconds. After this time, a "
                    "StallError (a TimeoutError) is raised. It names the stage that is too slow "
                    "(opening, reading or decoding a file, or the sampler), the file, the offset "
                    "and the sample's index. The next call waits for the same batch again. "
                    "Default: None, no limit.",
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
                   {"uint8", DType::kUint8},
                   {"int64", DType::kInt64}},
                  "element type of the images: \"float32\", \"float16\", \"bfloat16\" (only "
                  "for DLPack and PyTorch; NumPy has no bfloat16) or \"uint8\". Without the "
                  "transform Normalize, floats are in [0, 1]. \"int64\" is only for masks. A dict "
                  "gives a type to each pattern of field names, as in `ragged`.")
          .choice("layout", &ImageOptions::layout,
                  {{"NCHW", ImageLayout::kNchw}, {"NHWC", ImageLayout::kNhwc}},
                  "order of the images' dimensions, \"NCHW\" or \"NHWC\". The channels are red, "
                  "green, blue. A dict gives an order to each pattern of field names, as in "
                  "`ragged`.")
          .choice(
              "orientation", &ImageOptions::orientation,
              {{"apply", Orientation::kApply}, {"ignore", Orientation::kIgnore}},
              "\"apply\" turns images upright according to their EXIF orientation tag; \"ignore\" "
              "ignores the tag.")
          .flag("scaled_decode", &ImageOptions::scaled_decode,
                "whether to decode a JPEG at 1/8, 1/4 or 1/2 of its size, if the first transform "
                "that resizes the image shrinks it at least this much. This is faster, but changes "
                "pixels slightly (docs/transforms.md has measurements).")
          .number(
              "max_pixels", &ImageOptions::max_pixels, 1, INT64_MAX,
              "the largest allowed number of pixels in an image. If the header of an image "
              "declares more pixels, an error is raised before memory is allocated for the image. "
              "docs/limits.md lists all limits.")
          .choice(
              "ragged", &ImageOptions::ragged,
              {{"list", Ragged::kList}, {"pad", Ragged::kPad}, {"packed", Ragged::kPacked}},
              "the form of a column of numbers or images whose rows differ in size. \"list\": "
              "a list with one array for each row. \"pad\": one array, in which zeros fill up "
              "each row to the largest row of the batch; the column `<name>.length`, int64 of "
              "shape (batch, dimensions that differ), has the sizes of the rows. \"packed\": "
              "one array of the rows joined along their first dimension; the column "
              "`<name>.offsets`, int64 of shape (batch + 1,), has the place where each row "
              "begins and the end of the last row. A column whose rows differ in another "
              "dimension than the first stays a list. A dict gives a form to each pattern of "
              "field names: {\"*.boxes\": \"packed\", \"*\": \"list\"}. In a pattern, \"*\" "
              "stands for any characters; the pattern \"*\" is for fields that no other pattern "
              "matches.");
  return table;
}

}  // namespace fuelrail
