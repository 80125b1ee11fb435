#include "fuelrail/pack/packer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/pack/pack_job.h"
#include "fuelrail/pack/plan.h"
#include "fuelrail/pack/source/joined_source.h"
#include "fuelrail/pack/source/pack_source.h"
#include "fuelrail/pack/source/sample_records.h"

namespace fuelrail::pack {

namespace {

void warn_of_lost_labels(const PackSource& images, const std::string& source,
                         const PackOptions& options) {
  if (!options.first_label_only || !options.job.warn) return;
  const uint64_t several = images.with_several_labels();
  if (several == 0) return;
  options.job.warn(
      fmt::format("{}: lines with several labels: {} of {}. Only the first label of each line is "
                  "stored. To store all labels, set pack_label (--pack-label)",
                  source, several, images.size()));
}

// Opens sources, and collects what cannot be read in them.
class SourceOpener {
 public:
  // Lifetime: `options` outlive the object.
  explicit SourceOpener(const PackOptions& options)
      : options_(options),
        may_leave_out_(options.max_errors.count > 0 || options.max_errors.fraction > 0) {}

  std::unique_ptr<PackSource> open(const std::string& source,
                                   const std::vector<std::string>& classes) {
    const size_t before = unread_.size();
    try {
      auto images = open_pack_source(source, options_.root,
                                     {.classes = classes,
                                      .warn = options_.job.warn,
                                      .keep_going = options_.job.keep_going,
                                      .leave_out = [this](auto& e) { return leave_out(e); }},
                                     {.label_width = options_.label_width,
                                      .of_mxnet = options_.mxnet_list,
                                      .classes = classes,
                                      .leave_out = [this](auto& e) { return leave_out_line(e); },
                                      .warn = options_.job.warn,
                                      .keep_going = options_.job.keep_going});
      warn_of_lost_labels(*images, source, options_);
      return images;
    } catch (Error& error) {
      if (unread_.size() > before) {  // the source may have no readable entry
        error.add({.found = fmt::format("unreadable folders or lines: {}; the first: {}",
                                        unread_.size() - before, unread_[before].reason)});
      }
      throw;
    }
  }

  std::vector<PackFailure> take_unread() { return std::move(unread_); }

 private:
  bool leave_out(const Error& error) {
    unread_.push_back({error.detail().path, reason_of(error)});
    return may_leave_out_;
  }
  bool leave_out_line(const Error& error) {  // the job fails after reading all lines
    if (may_leave_out_ || unread_.size() < kMostFailuresListed) leave_out(error);
    return true;
  }

  const PackOptions& options_;
  bool may_leave_out_;
  std::vector<PackFailure> unread_;
};

void check_outputs(const std::string& output, const PackOptions& options) {
  check_pack_options(output, options);
  if (options.job.overwrite || options.resume) return;
  for (const std::string& uri : output_uris(output, options)) refuse_existing(uri);
}

// The names of the splits, as the file stores them.
std::vector<std::string> checked_splits(const std::vector<SplitSource>& sources,
                                        const std::string& output) {
  const FileFormat& format = format_for(FormatWork::kWrite, output);
  if (sources.empty()) throw InvalidArgumentError("there is no source", {.path = output});
  std::vector<std::string> names;
  for (const SplitSource& source : sources) {
    if (source.split.empty()) {
      throw InvalidArgumentError("one of several sources is not for a split",
                                 {.path = source.uri, .expected = "the name of a split"});
    }
    if (format.splits == nullptr) {
      throw InvalidArgumentError("files of this format cannot store splits",
                                 {.path = output,
                                  .expected = "one source, or an output whose name ends in .bzna",
                                  .found = fmt::format("a source for the split '{}'", source.split),
                                  .remedy = "Pack each source into a file of its own"});
    }
    check_track_and_split(output, {.split = source.split}, &format);
    names.push_back(source.split == "val" ? "validation" : source.split);
    if (std::ranges::count(names, names.back()) == 1) continue;
    throw InvalidArgumentError("two sources are for the same split",
                               {.path = output, .found = names.back()});
  }
  return names;
}

void check_sample_options(const SampleSource& samples, const std::string& output,
                          const PackOptions& options) {
  const FileFormat& format = format_for(FormatWork::kWrite, output);
  if (format.content != RecordContent::kImageRecord) {
    throw UnsupportedError("files of this format cannot store samples of many fields",
                           {.path = output,
                            .expected = fmt::format("a name that ends in {}",
                                                    extensions_with(RecordContent::kImageRecord))});
  }
  const auto refuse = [&](const char* option, const char* reason) {
    throw InvalidArgumentError(fmt::format("`{}` does not apply to {}", option, reason),
                               {.path = output, .remedy = "Omit it"});
  };
  const auto* images = std::get_if<StoredImages>(&options.images);
  if (images == nullptr || images->resize) refuse("resize", "samples of many fields");
  if (images->quality) refuse("quality", "samples of many fields; it is an option of their fields");
  if (!options.root.empty()) refuse("root", "samples of many fields");
  if (!options.classes.empty()) {
    refuse("classes", "samples of many fields; it is an option of their fields");
  }
  if (!samples.is_stream()) return;
  constexpr const char* kStream = "samples whose number is unknown";
  if (!options.split.empty()) refuse("split", kStream);
  if (options.nsplit > 1) refuse("nsplit", kStream);
  if (options.resume) refuse("resume", kStream);
  if (options.max_errors.fraction > 0)
    refuse("max_errors", "samples whose number is unknown if it is a fraction");
}

}  // namespace

PackResult pack(const std::string& source, const std::string& output, const PackOptions& options) {
  check_outputs(output, options);
  SourceOpener opener(options);
  const std::unique_ptr<PackSource> images = opener.open(source, options.classes);
  return PackJob(*images, opener.take_unread(), output, options).run();
}

PackResult pack(const std::vector<SplitSource>& sources, const std::string& output,
                const PackOptions& options) {
  check_outputs(output, options);
  const std::vector<std::string> names = checked_splits(sources, output);
  if (!options.split.empty()) {
    throw InvalidArgumentError("`split` cannot be used with a source for each split",
                               {.path = output, .remedy = "Omit `split`, or give one source"});
  }
  SourceOpener opener(options);
  JoinedSource joined;
  for (size_t i = 0; i < sources.size(); ++i) {
    const std::vector<std::string> classes =
        i == 0 || !options.classes.empty() ? options.classes : joined.classes();
    joined.add(names[i], opener.open(sources[i].uri, classes));
  }
  return PackJob(joined, opener.take_unread(), output, options).run();
}

PackResult pack_samples(const SampleSource& samples, const std::string& output,
                        const PackOptions& options, bool strict) {
  check_outputs(output, options);
  check_sample_options(samples, output, options);
  const auto& images = std::get<StoredImages>(options.images);
  const SampleRecords records(samples, {.headers = images.verify_images || images.decode,
                                        .decode = images.decode,
                                        .strict = strict,
                                        .baseline = images.baseline});
  if (!samples.is_stream() && samples.size() == 0) {
    throw CorruptError("the source has no samples", {.path = output});
  }
  PackResult result = PackJob(records, samples.unread(), output, options).run();
  if (options.job.warn) {
    for (const std::string& remark : records.remarks()) {
      options.job.warn(output + ": " + remark);
    }
  }
  return result;
}

}  // namespace fuelrail::pack
