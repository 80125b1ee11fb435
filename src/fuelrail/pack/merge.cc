#include "fuelrail/pack/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <optional>
#include <set>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/schema_text.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/pack/source/open_source.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

void check_merged_names(const std::vector<std::string>& sources, const std::string& output) {
  const FileFormat& format = format_for(FormatWork::kWrite, output);
  if (sources.empty())
    throw InvalidArgumentError("the list of files to merge is empty", {.path = output});
  const std::string output_identity = identity_of_name(output);
  std::set<std::string> identities;
  for (const std::string& source : sources) {
    const std::string identity = identity_of_name(source);
    if (identity == output_identity) {
      throw InvalidArgumentError("the output is also a source",
                                 {.path = output, .remedy = "Choose another name for the output"});
    }
    if (!identities.insert(identity).second) {
      throw InvalidArgumentError("the source is listed twice",
                                 {.path = source, .remedy = "List each source once"});
    }
    if (&format_for(FormatWork::kCopy, source) == &format) continue;
    throw InvalidArgumentError("the source and the output have different formats",
                               {.path = source,
                                .expected = fmt::format("a {} file", format.extension),
                                .remedy = "Convert the source first with 'fuelrail convert'"});
  }
}

// The keys of all files so far. Ensures that no two files share a key.
class MergedKeys {
 public:
  explicit MergedKeys(const std::vector<std::string>& files) : files_(files) {}

  // `numbered_from`: if the next file's records are renumbered, the new number of its record 0.
  void begin_file(uint64_t numbered_from) { numbered_from_.push_back(numbered_from); }

  // `numbered_on`: whether the record was renumbered, so that the key differs from the one in the
  // file.
  void add(uint64_t key, bool numbered_on) {
    keys_.push_back({.key = key, .file = file_, .numbered_on = numbered_on});
  }

  // Whether an earlier file has a key below `end`.
  bool have_below(uint64_t end) const { return before_ > 0 && keys_.front().key < end; }

  // Call after all keys of a file have been added. Returns: the number of records that repeat a key
  // of this file. Errors: InvalidArgumentError for a key that an earlier file also has.
  uint64_t end_file() {
    const auto own = keys_.begin() + static_cast<int64_t>(before_);
    std::sort(own, keys_.end());
    uint64_t repeated = 0;
    for (auto at = own; at != keys_.end(); ++at) repeated += at != own && at->key == at[-1].key;
    // Merge only if the key ranges overlap, which is rare for the parts of one job.
    if (own != keys_.begin() && own != keys_.end() && own->key <= own[-1].key) {
      std::inplace_merge(keys_.begin(), own, keys_.end());
      refuse_shared();
    }
    before_ = keys_.size();
    ++file_;
    return repeated;
  }

 private:
  struct Entry {
    uint64_t key;
    uint32_t file;
    bool numbered_on;
    auto operator<=>(const Entry&) const = default;
  };

  uint64_t key_in_file(const Entry& entry) const {
    return entry.numbered_on ? entry.key - numbered_from_[entry.file] : entry.key;
  }

  void refuse_shared() const {
    const auto shared = std::adjacent_find(
        keys_.begin(), keys_.end(),
        [](const Entry& a, const Entry& b) { return a.key == b.key && a.file != b.file; });
    if (shared == keys_.end()) return;
    throw InvalidArgumentError(
        "two of the files to merge share a key",
        {.path = files_[shared[1].file],
         .expected = "keys that are in none of the earlier files",
         .found = found(shared[1], *shared),
         .remedy =
             "Open the files together with fuelrail.open([a, b]), or pack their images in one job "
             "so that each image gets its own key; if both files hold the same records, omit one"});
  }

  // Names each key as it is in its file. At most one of the two keys is renumbered, because two
  // renumbered keys are never equal.
  std::string found(const Entry& entry, const Entry& before) const {
    const std::string& other = files_[before.file];
    if (before.numbered_on) {
      return fmt::format("{}, the same as key {} of {} after renumbering", entry.key,
                         key_in_file(before), other);
    }
    if (!entry.numbered_on) return fmt::format("{}, which is also a key of {}", entry.key, other);
    return fmt::format("{}, renumbered to {}, which is also a key of {}", key_in_file(entry),
                       entry.key, other);
  }

  const std::vector<std::string>& files_;
  std::vector<uint64_t> numbered_from_;  // by file
  std::vector<Entry> keys_;              // sorted, except those of the file being added
  size_t before_ = 0;                    // number of keys of earlier files
  uint32_t file_ = 0;
};

class Merger {
 public:
  // `has_names`: whether the output's sidecar gets names of the records.
  Merger(Part& to, const std::vector<std::string>& sources, const JobOptions& options,
         uint64_t total, bool has_names)
      : to_(to),
        all_keys_(sources),
        warn_(options.warn),
        progress_(options.progress, total),
        has_names_(has_names) {}

  void add(const std::string& source, RecordStream& from) {
    const uint64_t first = to_.records();
    number_on_from_ = all_keys_.have_below(from.size()) && from.is_keyed_by_number() ? first : 0;
    all_keys_.begin_file(number_on_from_);
    for (uint64_t i = 0; i < from.size(); ++i) {
      copy(from, i);
      progress_.advance(to_.records(), to_.bytes());
      progress_.report_when_due();
    }
    add_splits(from.splits(), first);
    SidecarWriter checked;
    from.finish(checked);
    add_known(source, *from.sidecar(), first == 0);
    if (const uint64_t repeated = all_keys_.end_file(); repeated > 0 && warn_) {
      warn_(
          fmt::format("{}: a search by key cannot find {} of its {} records, because later records "
                      "have the same keys. For an index with the keys 0, 1, 2, ..., see "
                      "docs/from_mxnet.md, \"An index by position\"",
                      source, repeated, from.size()));
    }
  }

  void finish() {
    to_.set_splits(splits_);
    progress_.report();
    to_.sidecar().set_payloads(payloads_);
    if (!classes_.empty()) to_.sidecar().set_classes(classes_);
    to_.sidecar().set_field_classes(field_classes_);
  }

 private:
  void copy(RecordStream& from, uint64_t i) {
    const StreamedRecord record = from.read(i);
    const bool on = !record.id && number_on_from_ > 0;
    const uint64_t key = on ? number_on_from_ + i : record.key.value_or(record.id.value_or(i));
    to_.sidecar().hints().add(to_.records(), record.crc, record.hints);
    to_.append(record.payload, record.crc, key, record.id);
    if (has_names_) {
      const Sidecar& known = *from.sidecar();
      to_.sidecar().add_name(known.has_names() ? known.name(i) : "", true);
    }
    all_keys_.add(key, on);
  }

  // `first`: the number of the source's record 0 in the output.
  void add_splits(std::vector<RecordSplit> splits, uint64_t first) {
    for (RecordSplit& split : splits) {
      const auto same = std::ranges::find(splits_, split.name, &RecordSplit::name);
      RecordSplit& to = same != splits_.end()
                            ? *same
                            : splits_.emplace_back(RecordSplit{.name = split.name, .records = {}});
      for (const uint64_t record : split.records) to.records.push_back(first + record);
    }
  }

  void add_known(const std::string& source, const Sidecar& known, bool first) {
    for (const SidecarSection& section : known.sections()) {
      const uint32_t type = section.type();
      const bool is_merged = type == kKeysSection || type == kClassesSection ||
                             type == kNamesSection || type == kSchemaSection;
      if (!section.kept() || is_merged) continue;
      throw UnsupportedError(
          "the sidecar has a section that cannot be merged",
          {.path = source,
           .expected =
               "class names, names, keys, or a section that can be rebuilt from the record file",
           .found = "a section with other data"});
    }
    if (first) {
      classes_ = known.classes();
      field_classes_ = known.field_classes();
      payloads_ = known.payloads();
      return;
    }
    check_same_names(source, "", classes_, known.classes());
    check_same_fields(source, known);
    payloads_.labels = joined(payloads_.labels, known.labels());
  }

  // `of`: " in field 'x'", or nothing.
  static void check_same_names(const std::string& source, const std::string& of,
                               const std::vector<std::string>& expected,
                               const std::vector<std::string>& found) {
    const auto difference = first_difference(expected, found);
    if (!difference) return;
    throw InvalidArgumentError(
        "the files to merge have different class names" + of,
        {.path = source,
         .expected = difference->expected + ", as in the first file",
         .found = difference->found,
         .remedy = "Pack this file again with the first file's class names (classes, --classes)"});
  }

  // Compares the fields of sample records, and their class names.
  void check_same_fields(const std::string& source, const Sidecar& known) const {
    const auto found = known.payloads().samples;
    if (payloads_.samples.has_value() != found.has_value()) {
      const auto name = [](bool samples) { return samples ? "sample records" : "other records"; };
      throw InvalidArgumentError(
          "the files to merge have different kinds of records",
          {.path = source,
           .expected = fmt::format("{}, as in the first file", name(!found.has_value())),
           .found = name(found.has_value())});
    }
    if (!found) return;
    if (const auto differing = difference(*payloads_.samples, *found)) {
      throw InvalidArgumentError(
          "the files to merge have different fields",
          {.path = source,
           .expected = differing->expected + ", as in the first file",
           .found = differing->found,
           .remedy = "Pack this file again with the schema of the first file"});
    }
    for (const FieldSpec& field : found->fields) {
      const auto names_in = [&](const FieldClasses& classes) {
        const auto names = classes.find(field.name);
        return names == classes.end() ? std::vector<std::string>{} : names->second;
      };
      check_same_names(source, fmt::format(" in field '{}'", field.name), names_in(field_classes_),
                       names_in(known.field_classes()));
    }
  }

  // The summary that a single LabelTally over all records would give.
  static std::optional<LabelSummary> joined(const std::optional<LabelSummary>& a,
                                            const std::optional<LabelSummary>& b) {
    if (!a || !b) return std::nullopt;
    return LabelSummary{.width = a->width == b->width ? a->width : -1,
                        .integral = a->integral && b->integral};
  }

  Part& to_;
  MergedKeys all_keys_;
  const Warn& warn_;
  ProgressReporter progress_;
  uint64_t number_on_from_ = 0;  // the new number of the source's record 0; 0 if keys are kept
  std::vector<std::string> classes_;
  FieldClasses field_classes_;
  PayloadKind payloads_;
  std::vector<RecordSplit> splits_;
  const bool has_names_;
};

}  // namespace

PackResult::File merge(const std::vector<std::string>& sources, const std::string& output,
                       const JobOptions& options) {
  check_merged_names(sources, output);
  if (!options.overwrite) refuse_existing(output);
  std::set<std::string> said;  // each source is opened twice
  const OpenOptions opening{.warn =
                                [&](const std::string& text) {
                                  if (options.warn && said.insert(text).second) options.warn(text);
                                },
                            .keep_going = options.keep_going};
  uint64_t total = 0;
  bool has_names = false;  // that only the sidecars have
  for (const std::string& source : sources) {
    const std::unique_ptr<RecordStream> stream = open_stream(source, output, opening);
    total += stream->size();
    has_names = has_names || stream->sidecar()->keeps_names();
  }
  Part part(output, total, options.overwrite);
  Merger merger(part, sources, options, total, has_names);
  for (const std::string& source : sources) {
    merger.add(source, *open_stream(source, output, opening));
  }
  merger.finish();
  part.finish();
  part.commit();
  return {part.uri(), part.records(), part.bytes()};
}

}  // namespace fuelrail::pack
