// fuelrail info: describes a dataset.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/image_format.h"
#include "fuelrail/base/json.h"
#include "fuelrail/cli/command.h"
#include "fuelrail/cli/content_kind.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/cli/record_info.h"
#include "fuelrail/cli/sample_json.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"

namespace fuelrail::cli {
namespace {

constexpr uint64_t kSampleRecords = 256;
// The upper bounds of the buckets of shorter sides; the last bucket has all larger sides.
constexpr std::array<int64_t, 6> kSideBounds{64, 128, 256, 512, 1024, 2048};

struct InfoArguments {
  DatasetArguments dataset;
  bool json = false;
};

// The contents of a sample of records that are spread evenly over the dataset.
struct SampledImages {
  uint64_t records = 0;
  uint64_t unreadable = 0;  // damaged, or not an image
  uint64_t damaged = 0;     // unreadable because of damage
  std::map<std::string, uint64_t> formats;
  std::array<uint64_t, kSideBounds.size() + 1> shorter_sides{};
};

SampledImages look_at_some(const Container& container) {
  SampledImages sampled;
  RecordInspector inspector(container);
  sampled.records = std::min(container.size(), kSampleRecords);
  for (uint64_t k = 0; k < sampled.records; ++k) {
    throw_if_interrupted();
    const auto i =
        static_cast<uint64_t>(static_cast<double>(k) / static_cast<double>(sampled.records) *
                              static_cast<double>(container.size()));
    std::optional<ImageInfo> image;
    try {
      image = inspector.inspect(i).image;
    } catch (const Error&) {  // `verify` reports the cause
      ++sampled.damaged;
    }
    if (!image) {
      ++sampled.unreadable;
      continue;
    }
    ++sampled.formats[std::string(image->format->name)];
    const int64_t side = std::min(image->stored.height, image->stored.width);
    const auto* bound = std::upper_bound(kSideBounds.begin(), kSideBounds.end(), side);
    ++sampled.shorter_sides[static_cast<size_t>(bound - kSideBounds.begin())];
  }
  return sampled;
}

std::string label_kind(const Schema& schema) {
  if (!schema.has("label")) return "none";
  const FieldSpec& label = schema.fields[schema.index_of("label")];
  if (label.shape.empty()) return fmt::format("one {} per record", name_of(label.dtype));
  if (label.shape[0] < 0) return fmt::format("{}, varying number per record", name_of(label.dtype));
  return fmt::format("{} {} per record", label.shape[0], name_of(label.dtype));
}

std::string side_range(size_t bucket) {
  if (bucket == 0) return fmt::format("below {}", kSideBounds.front());
  if (bucket == kSideBounds.size()) return fmt::format("{} and more", kSideBounds.back());
  return fmt::format("{} to {}", kSideBounds[bucket - 1], kSideBounds[bucket] - 1);
}

Json sampled_json(const SampledImages& sampled) {
  std::vector<Json> sides;
  std::vector<Json::Member> formats(sampled.formats.begin(), sampled.formats.end());
  for (size_t b = 0; b < sampled.shorter_sides.size(); ++b) {
    sides.push_back(Json{{"from", b == 0 ? 0 : kSideBounds[b - 1]},
                         {"below", b == kSideBounds.size() ? Json() : Json(kSideBounds[b])},
                         {"images", sampled.shorter_sides[b]}});
  }
  return {{"records", sampled.records},
          {"unreadable", sampled.unreadable},
          {"formats", formats},
          {"shorter_sides", sides}};
}

Json label_json(const Schema& schema) {
  if (!schema.has("label")) return nullptr;
  const FieldSpec& label = schema.fields[schema.index_of("label")];
  return {{"dtype", name_of(label.dtype)}, {"shape", label.shape}};
}

Json sidecar_json(const SidecarLocation& location) {
  return {{"place", name_of(location.place)},
          {"path", location.uri.empty() ? Json() : Json(location.uri)},
          {"made", location.made}};
}

// Names and numbers of records. Errors: those of RecordFile::splits.
std::vector<std::pair<std::string, size_t>> splits_of(const Container& container) {
  std::vector<std::pair<std::string, size_t>> splits;
  const std::vector<const RecordFile*> files = record_files_of(container);
  if (files.size() != 1) return splits;
  for (const RecordSplit& split : files[0]->splits()) {
    splits.emplace_back(split.name, split.records.size());
  }
  return splits;
}

// Null if there is no record file; an array if there are several.
Json sidecars_json(const Container& container) {
  std::vector<Json> sidecars;
  for (const RecordFile* file : record_files_of(container)) {
    sidecars.push_back(sidecar_json(file->sidecar_location()));
  }
  if (sidecars.empty()) return nullptr;
  return sidecars.size() == 1 ? sidecars[0] : Json(sidecars);
}

// The results for a dataset, printed as JSON or as text.
struct Findings {
  ContentKind kind;
  RecordSizes sizes{};                                   // only for opaque records
  SampledImages sampled{};                               // only for images
  std::optional<uint64_t> entry_points{};                // records that have them; only for JPEGs
  std::vector<std::pair<std::string, size_t>> splits{};  // that the file stores, with their sizes
};

Json splits_json(const Findings& found) {
  const std::vector<Json::Member> splits(found.splits.begin(), found.splits.end());
  return splits.empty() ? Json() : Json(splits);
}

Json fields_json(const Container& container) {
  std::vector<Json> fields;
  const bool samples = has_samples(container);
  for (const FieldSpec& field : container.schema().fields) {
    fields.push_back(samples ? field_json(container, field)
                             : Json{{"name", field.name}, {"kind", describe(field)}});
  }
  return fields;
}

Json sizes_json(const Findings& found) {
  if (!found.kind.opaque) return nullptr;
  return {{"smallest", found.sizes.smallest},
          {"mean", found.sizes.mean},
          {"largest", found.sizes.largest}};
}

void print_json(const std::string& uri, const Container& container, const Findings& found,
                Console& console) {
  const Fingerprint fingerprint = container.fingerprint();
  const auto& classes = container.classes();
  console.print_line(Json{{"path", uri},
                          {"format", container.format()},
                          {"records", container.size()},
                          {"bytes", fingerprint.bytes},
                          {"splits", splits_json(found)},
                          {"fields", fields_json(container)},
                          {"opaque", found.kind.opaque},
                          {"packed_folders", found.kind.packed_folders},
                          {"record_bytes", sizes_json(found)},
                          {"label", label_json(container.schema())},
                          {"classes", classes.empty() ? Json() : Json(classes)},
                          {"sample", has_images(container) ? sampled_json(found.sampled) : Json()},
                          {"checksums", container.verifies_checksums()},
                          {"entry_points", found.entry_points ? Json(*found.entry_points) : Json()},
                          {"sidecar", sidecars_json(container)},
                          {"fingerprint", to_string(fingerprint)}}
                         .text());
}

std::string classes_text(const std::vector<std::string>& classes) {
  if (classes.empty()) {
    return "names unknown: the file stores none, and they cannot be rebuilt from it";
  }
  constexpr size_t kShown = 5;
  std::string text = grouped(classes.size()) + ": ";
  for (size_t i = 0; i < std::min(classes.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + classes[i];
  }
  return classes.size() > kShown ? text + ", ..." : text;
}

std::string checksums_text(const Container& container) {
  if (container.verifies_checksums()) return "known, and verified on every read";
  if (record_files_of(container).empty()) return "none: a folder stores no checksums";
  return "unknown ('fuelrail index' adds them)";
}

// `records`: those with entry points.
std::string entry_points_text(uint64_t records, const Container& container) {
  const PossibleGains gains = possible_gains(container);
  if (records > 0) {
    return fmt::format("in {} of {}, for faster decoding{}", grouped(records),
                       counted(container.size(), "record"),
                       gains.entry_points ? " ('fuelrail index' adds more)" : "");
  }
  if (gains.entry_points) return "none ('fuelrail index' adds them, for faster decoding)";
  return std::string(
             "none (only baseline JPEGs of some size, without restart markers, can have them") +
         (gains.baseline ? "; pack progressive ones with --baseline)" : ")");
}

std::string sidecar_text(const Container& container) {
  const std::vector<const RecordFile*> files = record_files_of(container);
  if (files.empty()) return fmt::format("none: a {} needs no sidecar", container.format());
  if (files.size() > 1) return fmt::format("{}, one per file", files.size());
  const SidecarLocation& location = files[0]->sidecar_location();
  switch (location.place) {
    case SidecarPlace::kBeside:
      return location.uri + (location.made ? " (just created)" : "");
    case SidecarPlace::kCache:
      return location.uri + (location.made ? " (just created, in the cache)" : " (in the cache)");
    case SidecarPlace::kMemory:
      return "in memory only: it is rebuilt each time the file is opened";
  }
  return "";
}

using Line = std::function<void(std::string_view name, const std::string& value)>;

void print_images(const SampledImages& sampled, const Line& line) {
  std::string formats;
  for (const auto& [name, count] : sampled.formats) {
    formats += fmt::format("{}{} {}", formats.empty() ? "" : ", ", grouped(count), name);
  }
  if (sampled.unreadable > 0) {
    formats +=
        fmt::format("{}{} unreadable", formats.empty() ? "" : ", ", grouped(sampled.unreadable));
  }
  line("images", fmt::format("{} of {} sampled", formats.empty() ? "0" : formats,
                             counted(sampled.records, "record")));
  for (size_t b = 0; b < sampled.shorter_sides.size(); ++b) {
    const uint64_t count = sampled.shorter_sides[b];
    if (count == 0) continue;
    line("", fmt::format("shorter side {:<13} {:>5.1f} %", side_range(b),
                         100 * static_cast<double>(count) / static_cast<double>(sampled.records)));
  }
}

// Prints a dataset whose records are images with labels.
void print_image_dataset(const Container& container, const Findings& found, const Line& line) {
  line("labels", label_kind(container.schema()));
  line("classes", classes_text(container.classes()));
  print_images(found.sampled, line);
}

// Prints a dataset whose records are sample records.
void print_samples(const Container& container, const Findings& found, const Line& line) {
  std::string_view name = "fields";
  for (const std::string& row : field_table(container)) line(std::exchange(name, ""), row);
  for (const FieldSpec& field : container.schema().fields) {
    if (field.role != Role::kLabel) continue;
    line("classes", field.name + ": " + classes_text(container.classes_of(field.name)));
  }
  if (has_images(container)) print_images(found.sampled, line);
}

void print_opaque_dataset(const Container& container, const Findings& found, const Line& line) {
  line("content", content_text(found.kind));
  if (container.size() > 0) {
    line("sizes", fmt::format("{} to {}, {} on average", human_bytes(found.sizes.smallest),
                              human_bytes(found.sizes.largest), human_bytes(found.sizes.mean)));
  }
  for (const auto& [name, value] : readers_of(found.kind)) line(name, value);
}

void print_text(const std::string& uri, const Container& container, const Findings& found,
                Console& console) {
  const Line line = [&console](std::string_view name, const std::string& value) {
    console.print_line(fmt::format("  {:<12} {}", name, value));
  };
  console.print_line(fmt::format("{}: {}", uri, container.format()));
  line("records", grouped(container.size()));
  line("bytes", fmt::format("{} ({})", grouped(container.fingerprint().bytes),
                            human_bytes(container.fingerprint().bytes)));
  std::string splits;
  for (const auto& [name, records] : found.splits) {
    splits += fmt::format("{}{} {}", splits.empty() ? "" : ", ", name, grouped(records));
  }
  if (!splits.empty()) line("splits", splits);
  (found.kind.opaque        ? print_opaque_dataset
   : has_samples(container) ? print_samples
                            : print_image_dataset)(container, found, line);
  line("checksums", checksums_text(container));
  if (found.entry_points) {
    line("entry points", entry_points_text(*found.entry_points, container));
  }
  line("sidecar", sidecar_text(container));
}

int run(const InfoArguments& arguments, Console& console) {
  const auto container = open_warning(arguments.dataset, console);
  Findings found{.kind = kind_of(*container)};
  if (found.kind.opaque) {
    found.sizes = sizes_of(*container);
  } else if (has_images(*container)) {
    found.sampled = look_at_some(*container);
    if (found.sampled.formats.contains(std::string(kJpegFormat.name))) {
      found.entry_points = entry_points(*container);
    }
  }
  std::string damage;
  try {
    found.splits = splits_of(*container);
  } catch (const CorruptError& error) {
    damage = error.what();
  }
  container->fingerprint([] { return !interrupted(); });  // slow for a folder; cached
  if (arguments.json) {
    print_json(arguments.dataset.uri, *container, found, console);
  } else {
    print_text(arguments.dataset.uri, *container, found, console);
  }
  if (!damage.empty()) {
    console.say(damage);
    return kDataProblem;
  }
  if (found.sampled.damaged == 0) return kOk;
  console.say(
      fmt::format("{}: {} of the sample cannot be read; 'fuelrail verify' reports the cause",
                  arguments.dataset.uri, counted(found.sampled.damaged, "record")));
  return kDataProblem;
}

constexpr const char* kInfoFooter = R"(
Like every command that opens a .rec file, info creates the sidecar (.frx) if the file has none, so
that the file opens at once the next time. Standard error and the output ("just created"; with
--json: "made") report this. A sample of up to 256 images is read; the exit code is 1 if one of them
is damaged. Opaque records are not read; to read everything, use 'fuelrail verify'.

Examples:
  fuelrail info train.{1}
  fuelrail info packed.{s} --schema {schema}
  fuelrail info train.{1} --json | jq .records)";

std::vector<Option> options_of(InfoArguments& arguments) {
  return joined({dataset_options(arguments.dataset), {json_option(arguments.json)}});
}

}  // namespace

Command info_command() {
  return command_of<InfoArguments>("info",
                                   "Describe a dataset: its records, images, classes and sidecar",
                                   kInfoFooter, options_of, run);
}

}  // namespace fuelrail::cli
