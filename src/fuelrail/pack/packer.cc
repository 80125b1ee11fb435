#include "fuelrail/pack/packer.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/pack_job.h"
#include "fuelrail/pack/plan.h"
#include "fuelrail/pack/source/pack_source.h"

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

}  // namespace

PackResult pack(const std::string& source, const std::string& output, const PackOptions& options) {
  check_pack_options(output, options);
  if (!options.job.overwrite && !options.resume) {
    for (const std::string& uri : output_uris(output, options)) refuse_existing(uri);
  }
  const bool may_leave_out = options.max_errors.count > 0 || options.max_errors.fraction > 0;
  std::vector<PackFailure> unread;
  const auto leave_out = [&](const Error& error) {
    unread.push_back({error.detail().path, reason_of(error)});
    return may_leave_out;
  };
  const auto leave_out_line = [&](const Error& error) {  // the job fails after reading all lines
    if (may_leave_out || unread.size() < kMostFailuresListed) leave_out(error);
    return true;
  };
  std::unique_ptr<PackSource> images;
  try {
    images = open_pack_source(source, options.root,
                              {.classes = options.classes,
                               .warn = options.job.warn,
                               .keep_going = options.job.keep_going,
                               .leave_out = leave_out},
                              {.label_width = options.label_width,
                               .of_mxnet = options.mxnet_list,
                               .classes = options.classes,
                               .leave_out = leave_out_line,
                               .warn = options.job.warn,
                               .keep_going = options.job.keep_going});
  } catch (Error& error) {
    if (!unread.empty()) {  // the source may have no readable entry
      error.add({.found = fmt::format("unreadable folders or lines: {}; the first: {}",
                                      unread.size(), unread.front().reason)});
    }
    throw;
  }
  warn_of_lost_labels(*images, source, options);
  return PackJob(*images, std::move(unread), output, options).run();
}

}  // namespace fuelrail::pack
