#include "fuelrail/cli/annotated.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/sample_json.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/cli/text.h"
#include "fuelrail/container/sample_record.h"
#include "fuelrail/container/schema_text.h"
#include "fuelrail/pack/annotations/coco_source.h"
#include "fuelrail/pack/annotations/jsonl.h"
#include "fuelrail/pack/annotations/mask_folder.h"
#include "fuelrail/pack/annotations/voc.h"
#include "fuelrail/pack/source/sample_records.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::cli {
namespace {

constexpr size_t kMostShown = 10;  // unreadable samples, class names

struct AnnotationKind {
  const char* name;
  std::vector<std::string> inputs;
};

const std::array<AnnotationKind, 4>& annotation_kinds() {
  static const std::array<AnnotationKind, 4> kKinds{
      AnnotationKind{"coco", {"ANNOTATIONS.json", "IMAGES"}},
      {"voc", {"FOLDER"}},
      {"masks", {"IMAGES", "MASKS"}},
      {"jsonl", {"TABLE"}},
  };
  return kKinds;
}

const AnnotationKind& annotation_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const AnnotationKind& kind : annotation_kinds()) {
    if (name == kind.name) return kind;
    names.emplace_back(kind.name);
  }
  throw InvalidArgumentError(
      "unknown kind of annotations",
      {.found = name,
       .remedy = fmt::format("Known: {}. Pack others in Python, as dicts (docs/samples.md)",
                             fmt::join(names, ", "))});
}

void refuse_unused(bool is_given, const char* option, const std::string& from) {
  if (!is_given) return;
  throw InvalidArgumentError(fmt::format("{} does not apply to --from {}", option, from),
                             {.remedy = "Omit it"});
}

}  // namespace

std::vector<Option> annotated_options(AnnotatedArguments& arguments) {
  return {
      {"--from", &arguments.from,
       "Pack annotated images: coco ANNOTATIONS.json IMAGES, voc FOLDER, masks IMAGES MASKS, or "
       "jsonl TABLE (docs/annotations.md)"},
      {"--set", &arguments.set,
       "With --from voc: the list of images, ImageSets/Main/SET.txt (default: all annotations)"},
      {"--dry-run", &arguments.dry_run,
       "With --from: print the fields, the counts and the first sample, and write nothing"}};
}

std::unique_ptr<pack::SampleSource> open_annotated(const AnnotatedArguments& arguments,
                                                   std::vector<std::string>& names,
                                                   const std::string& root,
                                                   const std::vector<std::string>& classes,
                                                   Console& console) {
  const std::string& from = arguments.from;
  const AnnotationKind& kind = annotation_kind(from);
  const size_t inputs = kind.inputs.size();
  const auto refuse_names = [&](const char* failure, const char* remedy) {
    throw InvalidArgumentError(fmt::format("pack: --from {} has {}", from, failure),
                               {.expected = fmt::format("{}{}", fmt::join(kind.inputs, " "),
                                                        arguments.dry_run ? "" : " OUT"),
                                .found = fmt::format("{}", fmt::join(names, " ")),
                                .remedy = remedy});
  };
  if (names.size() != inputs + 1 && !(arguments.dry_run && names.size() == inputs)) {
    const bool several = from == "coco" && names.size() > inputs;
    refuse_names(
        "the wrong number of arguments",
        several ? "Join several annotation files into one first (docs/annotations.md)" : "");
  }
  if (inputs == 2 && is_file(names[1])) {
    refuse_names("a file in place of a folder", "Check the order of the arguments");
  }
  if (inputs == 2 && !file_system_for(names[1]).stat(names[1])) {
    throw NotFoundError("the folder does not exist", {.path = names[1]});
  }
  refuse_unused(!arguments.set.empty() && from != "voc", "--set", from);
  refuse_unused(!root.empty() && from != "jsonl", "--root", from);
  refuse_unused(!classes.empty() && from != "voc" && from != "coco", "--classes", from);
  const std::vector<std::string> given(names.begin(), names.begin() + std::ptrdiff_t(inputs));
  names.erase(names.begin(), names.begin() + std::ptrdiff_t(inputs));
  const Warn warn = console.warner();
  const KeepGoing keep_going = [] { return !interrupted(); };
  if (from == "coco") {
    return pack::open_coco(given[0], given[1],
                           {.classes = classes, .warn = warn, .keep_going = keep_going});
  }
  if (from == "masks") return pack::open_mask_folder(given[0], given[1], warn, keep_going);
  if (from == "jsonl") return pack::open_jsonl(given[0], root, warn, keep_going);
  return pack::open_voc(
      given[0], {.set = arguments.set, .classes = classes, .warn = warn, .keep_going = keep_going});
}

int print_samples(const pack::SampleSource& samples, Console& console) {
  const pack::SampleRecords records(samples, {});
  for (const FieldSpec& field : samples.schema().fields) {
    console.print_line("field " + describe(samples.schema(), field));
  }
  for (const auto& [field, names] : samples.classes()) {
    const std::vector<std::string> first(
        names.begin(), names.begin() + std::ptrdiff_t(std::min(names.size(), kMostShown)));
    console.print_line(fmt::format("classes of {}: {} ({}{})", field, names.size(),
                                   fmt::join(first, ", "),
                                   names.size() > kMostShown ? ", ..." : ""));
  }
  console.print_line(counted(samples.size(), "sample"));
  const std::vector<pack::PackFailure>& unread = samples.unread();
  if (!unread.empty()) console.print_line(fmt::format("cannot be packed: {}", unread.size()));
  for (size_t i = 0; i < std::min(unread.size(), kMostShown); ++i) {
    console.print_line(fmt::format("  {}: {}", unread[i].path, unread[i].reason));
  }
  if (samples.size() > 0) {
    pack::SourceImage first;
    records.read(0, first);
    Sample sample;
    SampleParser(samples.schema()).parse(first.storage, sample);
    console.print_line(samples.path(0) + ": " + sample_json(samples.schema(), sample).text());
  }
  return unread.empty() ? kOk : kDataProblem;
}

}  // namespace fuelrail::cli
