#include "fuelrail/pack/convert.h"

#include <fmt/format.h>

#include <memory>

#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/pack_job.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/pack/source/container_source.h"
#include "fuelrail/pack/source/open_source.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

void check_formats(const std::string& source, const std::string& output, bool has_schema) {
  if (const auto info = file_system_for(source).stat(source); info && info->is_directory) {
    throw InvalidArgumentError(
        "a folder cannot be converted",
        {.path = source,
         .expected = fmt::format("a {} file", extensions_for(FormatWork::kCopy)),
         .remedy = "Convert its record files one by one, or pack its images with 'fuelrail pack'"});
  }
  check_other_file(source, output);
  const FileFormat& from = format_for(FormatWork::kCopy, source);
  const FileFormat& to = format_for(FormatWork::kWrite, output);
  if (&from != &to || has_schema) return;
  throw InvalidArgumentError(
      "the source and the output have the same format",
      {.path = output,
       .expected = "an output of a different format",
       .found = std::string(to.extension),
       .remedy = "Copy the source and its companion files (index, sidecar) instead"});
}

PackResult::File encode_images(const std::string& source, const std::string& output,
                               const std::string& schema, const PackOptions& options) {
  const std::shared_ptr<const Container> file =
      open_input(source, {.schema = schema,
                          .classes = options.classes,
                          .warn = options.job.warn,
                          .keep_going = options.job.keep_going});
  if (!file->schema().has("image")) {
    throw UnsupportedError("the records of the source are not images",
                           {.path = source,
                            .expected = "records with an image, to be encoded",
                            .found = "records without a field `image`"});
  }
  if (file->size() == 0) throw CorruptError("the file has no records", {.path = source});
  if (const auto* record_file = dynamic_cast<const RecordFile*>(file.get())) {
    require_sidecar_beside(*record_file);
  }
  const std::unique_ptr<PackSource> images = source_of_images(file);
  return PackJob(*images, {}, output, options).run().files.front();
}

}  // namespace

PackResult::File convert(const std::string& source, const std::string& output,
                         const JobOptions& options, const ConvertedAs& as) {
  check_formats(source, output, !as.schema.empty());
  if (!as.classes.empty() && as.schema.empty()) {
    throw InvalidArgumentError(
        "`classes` needs a `schema`",
        {.path = source,
         .remedy =
             "Give a schema, or omit `classes` to keep the labels and class names of the source"});
  }
  const PackOptions packing{.images = StoredImages{.stills = as.stills},
                            .classes = as.classes,
                            .job = options,
                            .threads = as.threads};
  check_pack_options(output, packing);
  if (!options.overwrite) refuse_existing(output);
  if (format_for(FormatWork::kWrite, output).content == RecordContent::kNestedFile) {
    return encode_images(source, output, as.schema, packing);
  }
  const std::unique_ptr<RecordStream> stream = open_stream(source, output,
                                                           {.schema = as.schema,
                                                            .classes = as.classes,
                                                            .warn = options.warn,
                                                            .keep_going = options.keep_going});
  Part part(output, stream->size(), options.overwrite);
  ProgressReporter progress(options.progress, stream->size());
  for (uint64_t i = 0; i < stream->size(); ++i) {
    const StreamedRecord record = stream->read(i);
    part.append(record.payload, record.crc, record.key.value_or(record.id.value_or(i)), record.id);
    part.sidecar().hints().add(i, record.crc, record.hints);
    progress.advance(i + 1, part.bytes());
    progress.report_when_due();
  }
  stream->finish(part.sidecar());
  if (options.warn && !stream->splits().empty()) {
    options.warn(source + ": the output does not store the splits of the source");
  }
  progress.report();
  part.finish();
  part.commit();
  return {part.uri(), part.records(), part.bytes()};
}

}  // namespace fuelrail::pack
