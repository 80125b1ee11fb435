#include "fuelrail/pack/convert.h"

#include <memory>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/part.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/pack/record_stream.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

void check_formats(const std::string& source, const std::string& output, bool has_schema) {
  if (const auto info = file_system_for(source).stat(source); info && info->is_directory) {
    throw InvalidArgumentError("a folder cannot be converted",
                               {.path = source,
                                .expected = "a .rec or .ffr file",
                                .remedy = "Convert its files one by one; pack a folder of images"});
  }
  if (identity_of_name(source) == identity_of_name(output)) {
    throw InvalidArgumentError(
        "source and output are the same file",
        {.path = output, .remedy = "Give the output another name, and rename it afterwards"});
  }
  const std::string_view from = record_format_of(source).extension;
  const std::string_view to = record_format_of(output).extension;
  if (from != to || has_schema) return;
  throw InvalidArgumentError("source and output are of the same format",
                             {.path = output,
                              .expected = "an output of the other format",
                              .found = std::string(to),
                              .remedy = "Copy the file with its companions"});
}

class Converter {
 public:
  Converter(RecordStream& from, Part& to) : from_(from), to_(to) {}

  void run(const std::string& source, const ConvertOptions& options) {
    ProgressReporter progress(options.progress, from_.size());
    for (uint64_t i = 0; i < from_.size(); ++i) {
      try {
        copy(i);
      } catch (Error& error) {
        const std::string& path = error.detail().path;
        if (path.empty() || path == source) error.add({.path = source, .record = i});
        throw;
      }
      progress.advance(i + 1, to_.bytes());
      progress.report_when_due();
    }
    from_.finish(to_.sidecar());
    progress.report();
    if (keys_differ_) to_.sidecar().set_keys(keys_);
  }

 private:
  void copy(uint64_t i) {
    const StreamedRecord record = from_.read(i);
    const uint64_t key = record.key.value_or(record.own_key);
    to_.append(record.payload, record.crc, key);
    if (to_.has_index()) return;
    keys_differ_ = keys_differ_ || key != record.own_key;
    keys_.push_back(key);
  }

  RecordStream& from_;
  Part& to_;
  std::vector<uint64_t> keys_;  // where the output has no index
  bool keys_differ_ = false;
};

}  // namespace

PackResult::File convert(const std::string& source, const std::string& output,
                         const ConvertOptions& options) {
  check_formats(source, output, !options.schema.empty());
  if (!options.overwrite) refuse_existing(output);
  const std::unique_ptr<RecordStream> stream = open_record_stream(
      source, {.schema = options.schema, .warn = options.warn, .keep_going = options.keep_going});
  Part part(output, stream->size(), options.overwrite);
  Converter(*stream, part).run(source, options);
  part.finish();
  part.commit();
  return {part.uri(), part.records(), part.bytes()};
}

}  // namespace fuelrail
