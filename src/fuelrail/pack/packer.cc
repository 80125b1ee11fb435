#include "fuelrail/pack/packer.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "fuelrail/base/cpu.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/ordered_work.h"
#include "fuelrail/pack/image_reader.h"
#include "fuelrail/pack/pack_source.h"
#include "fuelrail/pack/part.h"
#include "fuelrail/pack/plan.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {
namespace {

void write_report(const std::string& uri, const std::vector<PackFailure>& failures) {
  const std::unique_ptr<Sink> sink = file_system_for(uri).create(uri);
  for (const PackFailure& failure : failures) {
    const nlohmann::ordered_json line{{"path", failure.path}, {"reason", failure.reason}};
    // A path need not be UTF-8; JSON must.
    sink->write(as_bytes(
        line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"));
  }
  sink->commit();
}

// The files in the writing are locked as long as it lives, and so is their report.
class Job {
 public:
  // `unread`: what of the source could not even be listed.
  Job(const PackSource& source, std::vector<PackFailure> unread, const std::string& output,
      const PackOptions& options)
      : source_(source),
        options_(options),
        plan_(plan_parts(source.size(), output, options)),
        report_uri_(plan_.front().uri + ".errors.jsonl"),
        failures_(std::move(unread)) {
    for (const PlannedPart& part : plan_) total_ += part.images.size();
    allowed_ = options.max_errors.of(total_);
    for (const PlannedPart& part : plan_) {
      parts_.push_back(std::make_unique<Part>(part.uri, part.images.size(), options.overwrite));
    }
  }

  PackResult run() {
    if (failures_.size() > allowed_) {
      give_up("a folder cannot be read, and more is left out than is allowed",
              failures_.back().path);
    }
    write_all();
    for (const auto& part : parts_) part->finish_images(source_.classes());
    if (failures_.empty()) {
      file_system_for(report_uri_).remove(report_uri_);
    } else {
      write_report(report_uri_, failures_);
    }
    commit();
    return result();
  }

 private:
  void write_all() {
    std::vector<uint64_t> order;
    for (const PlannedPart& part : plan_) {
      order.insert(order.end(), part.images.begin(), part.images.end());
    }
    OrderedWork<PackedImage> images(
        {.items = order.size(),
         .threads = options_.threads > 0 ? options_.threads : default_threads()},
        [&]() -> OrderedWork<PackedImage>::Worker {
          return [&order, reader = std::make_shared<ImageReader>(source_, options_)](uint64_t i) {
            return reader->read(order[i]);
          };
        },
        [](const PackedImage& image) { return image.payload.size(); });
    write_parts(images);
  }

  void write_parts(OrderedWork<PackedImage>& images) {
    ProgressReporter progress(options_.progress, total_);
    uint64_t done = 0;
    uint64_t bytes = 0;
    for (size_t p = 0; p < parts_.size(); ++p) {
      Part& part = *parts_[p];
      for (const uint64_t image : plan_[p].images) {
        write(part, image, next(images, progress));
        progress.advance(++done, bytes + part.bytes());
        progress.report_when_due();
      }
      bytes += part.bytes();
      if (part.records() == 0) give_up("no image of the file can be read", part.uri());
    }
    progress.report();
  }

  static PackedImage next(OrderedWork<PackedImage>& images, ProgressReporter& progress) {
    for (;;) {
      if (std::optional<PackedImage> image = images.take(ProgressReporter::kInterval)) {
        return *std::move(image);
      }
      progress.report_when_due();
    }
  }

  void write(Part& part, uint64_t image, PackedImage packed) {
    if (packed.failure.empty()) {
      part.append_image(packed.payload, packed.crc);
      return;
    }
    failures_.push_back({source_.path(image), std::move(packed.failure)});
    if (failures_.size() > allowed_) {
      give_up("the image cannot be read, and more are left out than are allowed",
              failures_.back().path);
    }
  }

  // Leaves the report behind.
  [[noreturn]] void give_up(const std::string& failure, const std::string& path) {
    write_report(report_uri_, failures_);
    std::string reason = failures_.back().reason;
    if (reason.ends_with('.')) reason.pop_back();
    throw CorruptError(
        fmt::format("{} ({})", failure, reason),
        {.path = path,
         .expected = fmt::format("at most {} of {} images left out", allowed_, total_),
         .found = fmt::to_string(failures_.size()),
         .remedy = fmt::format("{} lists what was found so far; mend or remove it, or allow more "
                               "with --max-errors (in Python `max_errors`)",
                               report_uri_)});
  }

  void commit() {
    for (const auto& part : parts_) part->begin_commit();
    for (const auto& part : parts_) part->commit_companions();
    for (const auto& part : parts_) part->commit_data();
  }

  PackResult result() {
    PackResult result;
    for (const auto& part : parts_) {
      result.files.push_back({part->uri(), part->records(), part->bytes()});
    }
    result.unassigned = source_.size() - total_;
    if (!failures_.empty()) result.report = report_uri_;
    result.failures = std::move(failures_);
    return result;
  }

  const PackSource& source_;
  const PackOptions& options_;
  const std::vector<PlannedPart> plan_;
  const std::string report_uri_;
  uint64_t total_ = 0;
  uint64_t allowed_ = 0;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<PackFailure> failures_;
};

}  // namespace

uint64_t MaxErrors::of(uint64_t images) const {
  // Both sides of the comparison are the doubles nearest to their decimal numbers, so equal numbers
  // are equal; the product is not, and only says where to look.
  const auto fits = [&](uint64_t share) {
    return static_cast<double>(share) / static_cast<double>(images) <= fraction;
  };
  auto share = static_cast<uint64_t>(fraction * static_cast<double>(images));
  while (share > 0 && !fits(share)) --share;
  while (share < images && fits(share + 1)) ++share;
  return std::max(count, share);
}

PackResult pack(const std::string& source, const std::string& output, const PackOptions& options) {
  check_pack_options(output, options);
  if (!options.overwrite) {
    for (const std::string& uri : output_uris(output, options)) refuse_existing(uri);
  }
  const bool may_leave_out = options.max_errors.count > 0 || options.max_errors.fraction > 0;
  std::vector<PackFailure> unread;
  const std::unique_ptr<PackSource> images =
      open_pack_source(source, options.root,
                       {.warn = options.warn,
                        .keep_going = options.keep_going,
                        .leave_out = [&](const IoError& error) {
                          unread.push_back({error.detail().path, reason_of(error)});
                          return may_leave_out;
                        }});
  return Job(*images, std::move(unread), output, options).run();
}

}  // namespace fuelrail
