#include "fuelrail/pack/pack_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/formats.h"

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
      refuse("a name in `split` cannot be in a file's name", "letters, digits, '_', '-' and '.'",
             fmt::format("'{}'", name));
    }
    const auto same = [&](const auto& other) { return other.first == name; };
    if (std::count_if(split.begin(), split.end(), same) > 1) {
      refuse("two parts of the split have the same name", "", fmt::format("'{}'", name));
    }
  }
}

void check_positions(const PackOptions& options) {
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
  if (const auto* stored = std::get_if<StoredImages>(&options.images)) {
    return StoredImages::table().check(*stored);
  }
  const auto& steps = std::get<ImageSteps>(options.images);
  check(steps);
  if (options.resume && !steps.stages.empty() && steps.stages_name.empty()) {
    refuse("a job of stages without a name cannot be resumed", "a stages_name", "none");
  }
}

}  // namespace

const OptionTable<StoredImages>& StoredImages::table() {
  static const auto table =
      OptionTable<StoredImages>()
          .number("resize", &StoredImages::resize, 1, 1 << 15,
                  "length of the shorter side; smaller images are not enlarged.")
          .number("quality", &StoredImages::quality, 1, 100,
                  "of the JPEGs that are encoded, default 95; if given, every image is encoded.")
          .flag("verify_images", &StoredImages::verify_images, "look into every image's header.")
          .flag("decode", &StoredImages::decode,
                "decode every image before it is stored: this finds damage behind the header.");
  return table;
}

const OptionTable<PackOptions>& PackOptions::table() {
  static const auto table =
      OptionTable<PackOptions>()
          .number("seed", &PackOptions::split_seed, 0, UINT64_MAX, "of the split.")
          .number("nsplit", &PackOptions::nsplit, 1, kMostParts,
                  "parts by position, OUT.part000 and so on; 'fuelrail merge' joins them.")
          .number("part", &PackOptions::part, 0, kMostParts - 1,
                  "make this part alone, counted from 0; without it, all.")
          .flag(
              "overwrite", [](auto& o) -> auto& { return o.job.overwrite; },
              "replace an output that is there.")
          .flag(
              "resume", &PackOptions::resume,
              "resume a run of the same job that was killed or failed, and keep an output that is "
              "there as this job makes it; an interrupted run keeps what it has written.")
          .number("threads", &PackOptions::threads, 1, kMaxThreads, "readers.")
          .any(option::allowance_rule("max_errors", "int or float",
                                      "images that may be left out, a count or a fraction."),
               &PackOptions::max_errors);
  return table;
}

void check_pack_options(const std::string& output, const PackOptions& options) {
  format_for(FormatWork::kWrite, output);
  PackOptions::table().check(options);
  check_images(options);
  if (options.journal_interval_ms < 0) {
    refuse("the journal's interval is out of range", "0 or more milliseconds",
           fmt::to_string(options.journal_interval_ms));
  }
  check_class_names(options.classes);
  check_part_names(options.split);
  check_positions(options);
}

}  // namespace fuelrail::pack
