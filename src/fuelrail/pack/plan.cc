#include "fuelrail/pack/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/subset.h"
#include "fuelrail/pack/record_format.h"

namespace fuelrail {
namespace {

constexpr int kMaxThreads = 1024;

[[noreturn]] void refuse(std::string failure, std::string expected, std::string found) {
  throw InvalidArgumentError(std::move(failure),
                             {.expected = std::move(expected), .found = std::move(found)});
}

void check_part_names(const std::vector<std::pair<std::string, double>>& split) {
  constexpr const char* kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  for (size_t i = 0; i < split.size(); ++i) {
    const std::string& name = split[i].first;
    if (name.empty() || name.find_first_not_of(kLetters) != std::string::npos) {
      refuse("the part's name cannot be in a file's name", "letters, digits, '_', '-' and '.'",
             fmt::format("'{}'", name));
    }
    const auto same = [&](const auto& other) { return other.first == name; };
    if (std::count_if(split.begin(), split.end(), same) > 1) {
      refuse("two parts of the split have the same name", "", fmt::format("'{}'", name));
    }
  }
}

std::string part_uri(const std::string& output, const std::string& name) {
  const RecordFormat& format = record_format_of(output);
  return fmt::format("{}_{}{}", stem_of(output, format), name, format.extension);
}

}  // namespace

void check_pack_options(const std::string& output, const PackOptions& options) {
  record_format_of(output);
  if (options.resize < 0 || options.resize > (1 << 15)) {
    refuse("resize is out of range", "0 to 32768", fmt::to_string(options.resize));
  }
  if (options.quality && (*options.quality < 1 || *options.quality > 100)) {
    refuse("quality is out of range", "1 to 100", fmt::to_string(*options.quality));
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    refuse("threads is out of range", fmt::format("1 to {}", kMaxThreads),
           fmt::to_string(options.threads));
  }
  if (!(options.max_errors.fraction >= 0 && options.max_errors.fraction <= 1)) {
    refuse("the fraction of images that may fail is out of range", "0 to 1",
           fmt::to_string(options.max_errors.fraction));
  }
  check_part_names(options.split);
}

std::vector<std::string> output_uris(const std::string& output, const PackOptions& options) {
  if (options.split.empty()) return {output};
  std::vector<std::string> uris;
  for (const auto& part : options.split) uris.push_back(part_uri(output, part.first));
  return uris;
}

std::vector<PlannedPart> plan_parts(uint64_t images, const std::string& output,
                                    const PackOptions& options) {
  if (options.split.empty()) {
    PlannedPart everything{.uri = output, .images = std::vector<uint64_t>(images)};
    std::iota(everything.images.begin(), everything.images.end(), uint64_t{0});
    return {everything};
  }
  std::vector<PlannedPart> parts;
  for (auto& [name, indices] : split_indices(images, options.split, options.seed)) {
    if (indices.empty()) {
      refuse(fmt::format("part '{}' of the split would be empty", name), "at least one image",
             fmt::format("{} images in all", images));
    }
    parts.push_back({part_uri(output, name), std::move(indices)});
  }
  return parts;
}

}  // namespace fuelrail
