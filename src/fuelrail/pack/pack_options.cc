#include "fuelrail/pack/pack_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/pack/output/record_format.h"

namespace fuelrail::pack {
namespace {

constexpr int kMaxThreads = 1024;
constexpr uint64_t kMostParts = 100'000;

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

void check_positions(const PackOptions& options) {
  if (options.nsplit < 1 || options.nsplit > kMostParts) {
    refuse("nsplit is out of range", fmt::format("1 to {}", kMostParts),
           fmt::to_string(options.nsplit));
  }
  if (options.part && *options.part >= options.nsplit) {
    refuse("there is no such part",
           fmt::format("0 to {}, as nsplit is {}", options.nsplit - 1, options.nsplit),
           fmt::to_string(*options.part));
  }
  if (options.nsplit > 1 && !options.split.empty()) {
    refuse("parts are made by fraction or by position", "one of split and nsplit", "both");
  }
}

void check_images(const PackOptions& options) {
  check(*options.images);
  if (options.resize > 0 || options.quality || !options.verify_images || options.decode) {
    refuse("the steps of images are given in two ways",
           "images, or resize, quality, verify_images and decode", "both");
  }
  if (options.resume && !options.images->stages.empty() && options.images->stages_name.empty()) {
    refuse("a job of stages without a name cannot be gone on with", "a stages_name", "none");
  }
}

}  // namespace

uint64_t MaxErrors::of(uint64_t images) const {
  // Both sides of the comparison are the doubles nearest to their decimal numbers, so equal numbers
  // are equal; the product is not, and only says where to look.
  const auto fits = [&](uint64_t share) {
    return static_cast<double>(share) / static_cast<double>(images) <= fraction;
  };
  auto share = static_cast<uint64_t>(fraction * static_cast<double>(images));
  while (share > 0 && !fits(share)) --share;
  while (share < images && fits(share + 1)) ++share;
  return std::max(count, share);
}

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
  if (options.journal_interval_ms < 0) {
    refuse("the journal's interval is out of range", "0 or more milliseconds",
           fmt::to_string(options.journal_interval_ms));
  }
  if (!(options.max_errors.fraction >= 0 && options.max_errors.fraction <= 1)) {
    refuse("the fraction of images that may fail is out of range", "0 to 1",
           fmt::to_string(options.max_errors.fraction));
  }
  check_class_names(options.classes);
  check_part_names(options.split);
  check_positions(options);
  if (options.images) check_images(options);
}

}  // namespace fuelrail::pack
