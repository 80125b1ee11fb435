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
          .choice(
              "dtype", &ImageOptions::dtype,
              {{"float32", DType::kFloat32},
               {"float16", DType::kFloat16},
               {"bfloat16", DType::kBfloat16},
               {"uint8", DType::kUint8},
               {"uint16", DType::kUint16},
               {"int32", DType::kInt32},
               {"int64", DType::kInt64}},
              "element type of the images: \"float32\", \"float16\", \"bfloat16\" (only "
              "for DLPack and PyTorch; NumPy has no bfloat16) or \"uint8\". Without the "
              "transform Normalize, floats are in [0, 1]. A dict gives a type to each pattern "
              "of field names, as in `ragged`. Masks have the type of the first record's mask "
              "(\"uint8\", \"uint16\" or \"int32\"), unless a dict names them; it may also name "
              "\"int64\": {\"mask\": \"int64\"}. Maps are float32.")
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
              "matches.")
          .choice("boxes", &ImageOptions::boxes,
                  {{"field", std::nullopt},
                   {"xyxy", BoxColumns{BoxFormat::kXyxy, false}},
                   {"xywh", BoxColumns{BoxFormat::kXywh, false}},
                   {"cxcywh", BoxColumns{BoxFormat::kCxcywh, false}},
                   {"xyxy-relative", BoxColumns{BoxFormat::kXyxy, true}},
                   {"xywh-relative", BoxColumns{BoxFormat::kXywh, true}},
                   {"cxcywh-relative", BoxColumns{BoxFormat::kCxcywh, true}}},
                  "the format of the columns of boxes. \"field\": the format of each field, in "
                  "pixels. \"xyxy\", \"xywh\" or \"cxcywh\": this format, in pixels; with "
                  "\"-relative\" as fractions of the width and height after the transforms.")
          .number(
              "min_size", [](auto& of) -> auto& { return of.keep.min_size; }, 0, 1e9,
              "the least width and height, in pixels, that the visible part of an object's "
              "box must have after the transforms. Other objects are removed from all fields "
              "that have a row for each object.")
          .number(
              "min_area", [](auto& of) -> auto& { return of.keep.min_area; }, 0, 1,
              "the least part of the area of an object's box that must be visible after the "
              "transforms, from 0 to 1.")
          .flag(
              "keep_empty", [](auto& of) -> auto& { return of.keep.keep_empty; },
              "whether objects that are not visible stay. Their boxes then have no area.")
          .flag("drop_points", &ImageOptions::drop_points,
                "whether an object that has points but no box is removed if none of its points is "
                "visible.");
  return table;
}

}  // namespace fuelrail
