#include "fuelrail/pack/pack_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/pack/output/quality_report.h"

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
      refuse("a part name in `split` is invalid",
             "one or more of letters, digits, '_', '-' and '.'", fmt::format("'{}'", name));
    }
    const auto same = [&](const auto& other) { return other.first == name; };
    if (std::count_if(split.begin(), split.end(), same) > 1) {
      refuse("two parts in `split` have the same name", "", fmt::format("'{}'", name));
    }
  }
}

void check_positions(const PackOptions& options) {
  if (options.part && *options.part >= options.nsplit) {
    refuse("`part` is out of range",
           fmt::format("0 to {}, because `nsplit` is {}", options.nsplit - 1, options.nsplit),
           fmt::to_string(*options.part));
  }
  if (options.nsplit > 1 && !options.split.empty()) {
    refuse("`split` and `nsplit` cannot be combined", "one of them", "both");
  }
}

// Refuses an option that applies only to formats whose records are nested files.
[[noreturn]] void refuse_for(const FileFormat& format, std::string_view option, std::string found) {
  refuse(
      fmt::format("`{}` does not apply to {} files", option, format.extension),
      fmt::format("an output whose name ends in {}", extensions_with(RecordContent::kNestedFile)),
      std::move(found));
}

// Refuses an option that applies only to formats whose records hold images.
[[noreturn]] void refuse_for_stills(const FileFormat& format, std::string_view option) {
  refuse(
      fmt::format("`{}` does not apply to {} files", option, format.extension),
      fmt::format("an output whose name ends in {}", extensions_with(RecordContent::kImageRecord)),
      std::string(format.extension));
}

void check_report(const std::string& report, const FileFormat& format) {
  if (report.empty()) return;
  if (format.content != RecordContent::kNestedFile) refuse_for(format, "quality_report", report);
  if (report.ends_with(kReportExtension)) return;
  refuse("`quality_report` has the wrong extension",
         fmt::format("a name that ends in {}", kReportExtension), report);
}

// Checks the options that apply only to some formats.
void check_stored(const StoredImages& images, const FileFormat& format) {
  StoredImages::table().check(images);
  if (format.content == RecordContent::kNestedFile) {
    if (images.baseline) refuse_for_stills(format, "baseline");
    if (!images.quality) return;
    refuse(fmt::format("`quality` does not apply to {} files", format.extension), "`crf`",
           fmt::format("quality {}", *images.quality));
  }
  for (const auto& option : StoredStills::table().rows()) {
    if (option.get(images.stills) == option.get({})) continue;
    refuse_for(format, option.rule.name, shown(option.get(images.stills)));
  }
}

void check_images(const PackOptions& options, const FileFormat& format) {
  if (const auto* stored = std::get_if<StoredImages>(&options.images)) {
    return check_stored(*stored, format);
  }
  if (format.content == RecordContent::kNestedFile) {
    throw UnsupportedError("im2rec and np2rec cannot write this format",
                           {.expected = fmt::format("a name that ends in {}",
                                                    extensions_with(RecordContent::kImageRecord)),
                            .found = std::string(format.extension),
                            .remedy = "Use fuelrail.pack ('fuelrail pack')"});
  }
  const auto& steps = std::get<ImageSteps>(options.images);
  check(steps);
  if (options.resume && !steps.stages.empty() && steps.stages_name.empty()) {
    refuse("`resume` of a job with stages requires `stages_name`", "a name", "none");
  }
}

}  // namespace

const OptionTable<StoredImages>& StoredImages::table() {
  static const auto table =
      OptionTable<StoredImages>()
          .number("resize", &StoredImages::resize, 1, 1 << 15,
                  "length of the shorter side, in pixels; smaller images are not enlarged.")
          .number("quality", &StoredImages::quality, 1, 100,
                  "JPEG quality of encoded images, default 95; if given, every image is encoded.")
          .flag("verify_images", &StoredImages::verify_images, "check every image's header.")
          .flag("decode", &StoredImages::decode,
                "decode every image before it is stored, to find damage beyond the header.")
          .flag(
              "baseline", &StoredImages::baseline,
              "store progressive JPEGs as baseline JPEGs with the same pixels and metadata, which "
              "load faster. Those that are damaged or would lose anything are stored as they are.")
          .part(&StoredImages::stills, StoredStills::table());
  return table;
}

const OptionTable<PackOptions>& PackOptions::table() {
  static const auto table =
      OptionTable<PackOptions>()
          .number("seed", &PackOptions::split_seed, 0, UINT64_MAX, "seed of the random split.")
          .number("nsplit", &PackOptions::nsplit, 1, kMostParts,
                  "number of parts of consecutive images, named OUT.part000 and so on; 'fuelrail "
                  "merge' joins the parts.")
          .number("part", &PackOptions::part, 0, kMostParts - 1,
                  "create only the part with this number, counted from 0; by default, all parts.")
          .flag("entry_points", &PackOptions::entry_points,
                "store entry points of JPEGs, so that loaders decode crops faster, as 'fuelrail "
                "index' does. An existing output that is kept gets none.")
          .flag(
              "overwrite", [](auto& o) -> auto& { return o.job.overwrite; },
              "replace an existing output.")
          .flag("resume", &PackOptions::resume,
                "resume a killed or failed run of the same job. An existing output that equals "
                "this job's result is kept. If a run fails, its unfinished files are kept.")
          .number("threads", &PackOptions::threads, 1, kMaxThreads,
                  "number of threads that read, decode and encode.")
          .any(option::allowance_rule(
                   "max_errors", "int or float",
                   "largest number of images that may be skipped, or their fraction."),
               &PackOptions::max_errors);
  return table;
}

void check_pack_options(const std::string& output, const PackOptions& options) {
  const FileFormat& format = format_for(FormatWork::kWrite, output);
  PackOptions::table().check(options);
  check_images(options, format);
  check_report(options.quality_report, format);
  if (options.entry_points && format.content != RecordContent::kImageRecord) {
    refuse_for_stills(format, "entry_points");
  }
  if (options.journal_interval_ms < 0) {
    refuse("`journal_interval_ms` is out of range", "0 or more",
           fmt::to_string(options.journal_interval_ms));
  }
  check_class_names(options.classes);
  check_part_names(options.split);
  check_positions(options);
}

}  // namespace fuelrail::pack
