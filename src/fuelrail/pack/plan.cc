#include "fuelrail/pack/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/hevc_library.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/subset.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

[[noreturn]] void refuse_plan(std::string failure, std::string expected, std::string found) {
  throw InvalidArgumentError(std::move(failure),
                             {.expected = std::move(expected), .found = std::move(found)});
}

std::string part_uri(const std::string& output, const std::string& name) {
  const FileFormat& format = format_for(FormatWork::kWrite, output);
  return fmt::format("{}_{}{}", stem_of(output, format), name, format.extension);
}

// All part numbers have the same number of digits, so that a shell pattern lists the parts in
// order.
std::string position_uri(const std::string& output, uint64_t part, uint64_t nsplit) {
  const FileFormat& format = format_for(FormatWork::kWrite, output);
  const size_t digits = std::max<size_t>(3, fmt::to_string(nsplit - 1).size());
  return fmt::format("{}.part{:0{}}{}", stem_of(output, format), part, digits, format.extension);
}

// The first image of part `part` of `nsplit`, computed without overflowing 64 bits.
uint64_t first_position(uint64_t images, uint64_t nsplit, uint64_t part) {
  return images / nsplit * part + images % nsplit * part / nsplit;
}

PlannedPart positions_part(uint64_t images, const std::string& output, const PackOptions& options,
                           uint64_t part) {
  const uint64_t begin = first_position(images, options.nsplit, part);
  const uint64_t end = first_position(images, options.nsplit, part + 1);
  PlannedPart planned{
      .uri = options.nsplit > 1 ? position_uri(output, part, options.nsplit) : output,
      .images = std::vector<uint64_t>(end - begin)};
  std::iota(planned.images.begin(), planned.images.end(), begin);
  return planned;
}

}  // namespace

ImageSteps image_steps(const PackOptions& options) {
  if (const auto* steps = std::get_if<ImageSteps>(&options.images)) return *steps;
  const auto& stored = std::get<StoredImages>(options.images);
  ImageSteps steps{.baseline = stored.baseline,
                   .shorter_side = stored.resize.value_or(0),
                   .rule = ResizeRule::kShrink,
                   .quality = stored.quality,
                   .stills = stored.stills,
                   .measure = !options.quality_report.empty()};
  if (!stored.quality) {
    steps.keep = stored.resize ? ImageSteps::Keep::kSmallJpegs : ImageSteps::Keep::kAll;
    steps.verify = stored.decode          ? ImageSteps::Verify::kPixels
                   : stored.verify_images ? ImageSteps::Verify::kHeader
                                          : ImageSteps::Verify::kNothing;
  }
  return steps;
}

std::vector<std::string> output_uris(const std::string& output, const PackOptions& options) {
  std::vector<std::string> uris;
  for (const auto& part : options.split) uris.push_back(part_uri(output, part.first));
  if (!uris.empty()) return uris;
  if (options.nsplit == 1) return {output};
  for (uint64_t part = 0; part < options.nsplit; ++part) {
    if (options.part.value_or(part) == part)
      uris.push_back(position_uri(output, part, options.nsplit));
  }
  return uris;
}

std::vector<PlannedPart> plan_parts(uint64_t images, const std::string& output,
                                    const PackOptions& options) {
  std::vector<PlannedPart> parts;
  if (options.split.empty()) {
    if (options.nsplit > images && options.nsplit > 1) {
      refuse_plan("`nsplit` exceeds the number of images", fmt::format("at most {}", images),
                  fmt::to_string(options.nsplit));
    }
    for (uint64_t part = 0; part < options.nsplit; ++part) {
      if (options.part.value_or(part) != part) continue;
      parts.push_back(positions_part(images, output, options, part));
    }
    return parts;
  }
  for (auto& [name, indices] : split_indices(images, options.split, options.split_seed)) {
    if (indices.empty()) {
      refuse_plan(fmt::format("part '{}' of `split` would be empty", name), "at least one image",
                  fmt::format("0 of {}", images));
    }
    parts.push_back({part_uri(output, name), std::move(indices)});
  }
  return parts;
}

std::string describe_job(const PackSource& source, const std::vector<PlannedPart>& plan,
                         const PackOptions& options) {
  const ImageSteps steps = image_steps(options);
  // Another version may encode an image differently.
  std::string text = "fuelrail " FUELRAIL_VERSION "\n";
  text += fmt::format(
      "keep {} verify {} baseline {} color {} crop {} resize {} {} {} rule {} encoding {} quality "
      "{} seed {}\n",
      static_cast<int>(steps.keep), static_cast<int>(steps.verify), steps.baseline,
      static_cast<int>(steps.color), steps.center_crop, steps.shorter_side, steps.resize.height,
      steps.resize.width, static_cast<int>(steps.rule), static_cast<int>(steps.encoding),
      steps.quality.value_or(-1), steps.seed);
  if (format_for(FormatWork::kWrite, plan.front().uri).content == RecordContent::kNestedFile) {
    text += fmt::format("crf {} preset {} chroma {} thumb {} by {}\n", steps.stills.hevc.crf,
                        steps.stills.hevc.preset, steps.stills.hevc.chroma, steps.stills.thumb,
                        describe_hevc_library());
  }
  text += fmt::format("stages {} {}\n", steps.stages.size(), steps.stages_name);
  text += fmt::format("first label {}\n", options.first_label_only);
  text += fmt::format("entry points {}\n", options.entry_points);
  for (const PlannedPart& part : plan) {
    uint32_t crc = 0;
    for (const uint64_t image : part.images) {
      crc = crc32(as_bytes(fmt::format("{}\t{}\n", image, source.description(image))), crc);
    }
    text +=
        fmt::format("part {} images {} crc {:08x}\n", base_name(part.uri), part.images.size(), crc);
  }
  for (const PackSource::Split& split : source.splits()) {
    text += fmt::format("split {} to {}\n", split.name, split.end);
  }
  for (const std::string& name : source.classes()) text += fmt::format("class {}\n", name);
  return text + source.contents();
}

}  // namespace fuelrail::pack
