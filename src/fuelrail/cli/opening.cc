#include "fuelrail/cli/opening.h"

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/cli/record_info.h"
#include "fuelrail/cli/signals.h"
#include "fuelrail/container/concat.h"
#include "fuelrail/container/hint_workers.h"
#include "fuelrail/container/subset.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/encode/baseline_jpeg.h"
#include "fuelrail/pack/source/open_source.h"

namespace fuelrail::cli {

std::vector<Option> dataset_options(DatasetArguments& arguments) {
  static const auto sidecar = OptionTable<DatasetArguments>().choice(
      "sidecar", &DatasetArguments::ignores_sidecar, {{"use", false}, {"ignore", true}},
      "whether to use the sidecar; with \"ignore\" it is neither read nor written, and the file is "
      "scanned.");
  return joined(
      {{{"FILE", &arguments.uri, "Dataset to read: {known}", true},
        schema_option(arguments.schema),
        {"--root", &arguments.root,
         "Folder that a list's paths are relative to (default: the list's folder)"},
        {"--track", &arguments.track,
         "Image of each sample of a .bzna file: bzna_thumb or bzna_input (default: bzna_thumb if "
         "the record has it)"},
        {"--split", &arguments.split,
         "Samples of a .bzna file: train, validation (or val) or test (default: all)"}},
       options_of_table(sidecar, arguments, {"sidecar"})});
}

Option schema_option(std::string& schema) {
  return {
      "--schema", &schema,
      "Schema to read the file with (default: the file's own); {schemas}, read as labelled images"};
}

std::shared_ptr<const Container> open_warning(const DatasetArguments& arguments, Console& console) {
  auto container = pack::open_input(arguments.uri, {.schema = arguments.schema,
                                                    .root = arguments.root,
                                                    .track = arguments.track,
                                                    .split = arguments.split,
                                                    .ignore_sidecar = arguments.ignores_sidecar,
                                                    .warn = console.warner(),
                                                    .keep_going = [] { return !interrupted(); }});
  for (const RecordFile* file : record_files_of(*container)) {
    if (!file->sidecar_location().made) continue;
    console.say(file->uri() + ": the file had no sidecar; created " + file->sidecar_location().uri);
  }
  return container;
}

std::vector<const RecordFile*> record_files_of(const Container& container) {
  if (const Container* parent = parent_of(container)) return record_files_of(*parent);
  std::vector<const RecordFile*> files;
  const auto add = [&files](const Container& part) {
    if (const auto* file = dynamic_cast<const RecordFile*>(&part)) files.push_back(file);
  };
  add(container);
  for (const auto& part : parts_of(container)) add(*part);
  return files;
}

std::optional<uint64_t> entry_points(const Container& container) {
  std::optional<uint64_t> all;
  for (const RecordFile* file : record_files_of(container)) {
    if (const auto records = file->hinted_records()) all = all.value_or(0) + *records;
  }
  return all;
}

PossibleGains possible_gains(const Container& container) {
  constexpr uint64_t kMostRecords = 8;
  PossibleGains gains;
  if (!has_images(container)) return gains;
  const bool may_have_entry_points = entry_points(container).has_value();
  const MakeHints make_hints = hint_maker();
  RecordInspector inspector(container);
  std::vector<std::byte> recoded;
  const uint64_t records = std::min(container.size(), kMostRecords);
  for (uint64_t k = 0; k < records; ++k) {
    try {
      const RecordInfo record = inspector.inspect(k * container.size() / records);
      gains.baseline |=
          is_progressive_jpeg(record.content) && recode_as_baseline(record.content, recoded);
      gains.entry_points |= may_have_entry_points && record.encoded.hints.empty() &&
                            !make_hints(record.content).empty();
    } catch (const Error&) {  // 'fuelrail verify' says what is wrong with the record
    }
  }
  return gains;
}

bool has_images(const Container& container) {
  return std::ranges::count(container.schema().fields, FieldKind::kImage, &FieldSpec::kind) > 0;
}

bool has_samples(const Container& container) {
  return std::ranges::any_of(record_files_of(container), [](const RecordFile* file) {
    return file->sidecar().payloads().samples.has_value();
  });
}

bool is_opaque(const Container& container) {
  return !has_images(container) && !has_samples(container);
}

size_t content_field(const Schema& schema) {
  const auto image = std::ranges::find_if(schema.fields, [](const FieldSpec& field) {
    return field.kind == FieldKind::kImage && !field.of;
  });
  return image == schema.fields.end() ? 0 : static_cast<size_t>(image - schema.fields.begin());
}

}  // namespace fuelrail::cli
