#include "fuelrail/pack/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/part.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/pack/record_stream.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

void check_merged_names(const std::vector<std::string>& sources, const std::string& output) {
  const std::string_view extension = record_format_of(output).extension;
  if (sources.empty()) throw InvalidArgumentError("there is nothing to merge", {.path = output});
  const auto plain = [](const std::string& uri) {
    return std::filesystem::path(file_system_for(uri).absolute(uri)).lexically_normal();
  };
  for (const std::string& source : sources) {
    if (plain(source) == plain(output)) {
      throw InvalidArgumentError("the output is one of the files that are merged into it",
                                 {.path = output, .remedy = "Give the output another name"});
    }
    if (record_format_of(source).extension == extension) continue;
    throw InvalidArgumentError("files of two formats cannot be merged",
                               {.path = source,
                                .expected = fmt::format("a name that ends in {}", extension),
                                .remedy = "Convert it first with 'fuelrail convert'"});
  }
}

class Merger {
 public:
  Merger(Part& to, const MergeOptions& options, uint64_t total)
      : to_(to), progress_(options.progress, total) {}

  void add(const std::string& source, RecordStream& from) {
    const uint64_t first = to_.records();
    for (uint64_t i = 0; i < from.size(); ++i) {
      try {
        copy(from, i, first);
      } catch (Error& error) {
        const std::string& path = error.detail().path;
        if (path.empty() || path == source) error.add({.path = source, .record = i});
        throw;
      }
      progress_.advance(to_.records(), to_.bytes());
      progress_.report_when_due();
    }
    SidecarWriter checked;
    from.finish(checked);
    add_known(source, *from.sidecar(), first == 0);
  }

  void finish() {
    progress_.report();
    if (labels_) to_.sidecar().set_labels(*labels_);
    if (!classes_.empty()) to_.sidecar().set_classes(classes_);
    if (keys_differ_) to_.sidecar().set_keys(keys_);
  }

 private:
  void copy(RecordStream& from, uint64_t i, uint64_t first) {
    const StreamedRecord record = from.read(i);
    const uint64_t own = record.numbered ? first + i : record.own_key;
    const uint64_t key = record.key && !(record.numbered && *record.key == i) ? *record.key : own;
    to_.append(record.payload, record.crc, key);
    if (to_.has_index()) return;
    keys_differ_ = keys_differ_ || key != own;
    keys_.push_back(key);
  }

  void add_known(const std::string& source, const Sidecar& known, bool first) {
    for (const SidecarSection& section : known.sections()) {
      if (!section.kept() || section.type() == kKeysSection || section.type() == kClassesSection) {
        continue;
      }
      throw UnsupportedError("what is in the file's sidecar cannot be merged",
                             {.path = source,
                              .expected = "class names and keys, beside what can be rebuilt",
                              .found = "a section of another kind"});
    }
    if (first) {
      classes_ = known.classes();
      labels_ = known.labels();
    } else if (known.classes() != classes_) {
      throw InvalidArgumentError(
          "the files that are to be merged have different classes",
          {.path = source,
           .expected = fmt::format("those of the first file: {}", fmt::join(classes_, ", ")),
           .found = fmt::format("{}", fmt::join(known.classes(), ", "))});
    } else {
      labels_ = joined(labels_, known.labels());
    }
  }

  // As a LabelTally over all records has it.
  static std::optional<LabelSummary> joined(const std::optional<LabelSummary>& a,
                                            const std::optional<LabelSummary>& b) {
    if (!a || !b) return std::nullopt;
    return LabelSummary{.width = a->width == b->width ? a->width : -1,
                        .integral = a->integral && b->integral};
  }

  Part& to_;
  ProgressReporter progress_;
  std::vector<uint64_t> keys_;  // where the output has no index
  bool keys_differ_ = false;
  std::vector<std::string> classes_;
  std::optional<LabelSummary> labels_;
};

}  // namespace

PackResult::File merge(const std::vector<std::string>& sources, const std::string& output,
                       const MergeOptions& options) {
  check_merged_names(sources, output);
  if (!options.overwrite) refuse_existing(output);
  const OpenOptions opening{.warn = options.warn, .keep_going = options.keep_going};
  uint64_t total = 0;
  for (const std::string& source : sources) total += open_record_stream(source, opening)->size();
  Part part(output, total, options.overwrite);
  Merger merger(part, options, total);
  for (const std::string& source : sources) {
    merger.add(source, *open_record_stream(source, opening));
  }
  merger.finish();
  part.finish();
  part.begin_commit();
  part.commit_companions();
  part.commit_data();
  return {part.uri(), part.records(), part.bytes()};
}

}  // namespace fuelrail
