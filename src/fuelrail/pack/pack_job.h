// One packing job: writes the images of a source, in order, into the files of a plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/ordered_work.h"
#include "fuelrail/pack/image/image_reader.h"
#include "fuelrail/pack/output/journal.h"
#include "fuelrail/pack/output/made_already.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/output/quality_report.h"
#include "fuelrail/pack/pack_options.h"
#include "fuelrail/pack/plan.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

// The largest number of failures that a failing job lists. A complete list would be useless if, for
// example, all images are missing.
inline constexpr size_t kMostFailuresListed = 10'000;

// Locks its unfinished files and its report until it is destroyed.
class PackJob {
 public:
  // `unread`: folders and lines of the source that cannot be listed. Lifetime: `source` and
  // `options` outlive the job. Requires: checked options. Errors: as `pack`.
  PackJob(const PackSource& source, std::vector<PackFailure> unread, const std::string& output,
          const PackOptions& options);

  // Call once. Errors: as `pack`.
  PackResult run();

 private:
  // A part of the plan and its state.
  struct Planned {
    PlannedPart plan;
    std::unique_ptr<Part> part{};  // set while the part is being written
    PackResult::File made{};       // set once the file has its final name
    bool done = false;             // the file has its final name
    bool is_there = false;         // a file that no journal attributes to this job exists
    uint64_t taken = 0;            // the part's images that were processed
    bool ended = false;            // of a stream: there are no more images
    std::vector<RecordSplit> splits{};

    // The number of the part's next image in the source.
    uint64_t next() const { return plan.images.empty() ? taken : plan.images[taken]; }
  };
  using Images = OrderedWork<PackedImage>;
  // Skipped images and their limit.
  struct LeftOut {
    uint64_t count;
    uint64_t allowed;
    uint64_t all;  // the images of which `allowed` may be skipped
    bool too_many() const { return count > allowed; }
  };

  // These handle the files of an earlier run. `resume_part` returns whether all images of the part
  // were processed.
  void resume();
  void replace_foreign();
  bool resume_part(size_t number, const JournalContents& left);
  std::shared_ptr<ImageReader> make_reader();
  bool still_fails(uint64_t image, std::string& reason);

  // Whether the part has images that were not processed.
  bool has_more(const Planned& planned) const {
    return source_.is_stream() ? !planned.ended : planned.taken < planned.plan.images.size();
  }
  void look_at_existing_parts();
  void open_as_left(Planned& planned) const;
  void open(Planned& planned) const;
  void write_all();
  void write_part(Planned& planned, Images& images, ProgressReporter& progress);
  void compare_part(Planned& planned, uint32_t number, Images& images, ProgressReporter& progress);
  void compare_image(Planned& planned, PackedImage packed, MadeAlready& there,
                     std::vector<JournalItem>& items);
  bool write_image(Planned& planned, PackedImage packed);
  void note(const Planned& planned, const PackedImage& packed);
  void finish_report();
  void add_to_split(Planned& planned, uint64_t image, uint64_t record) const;
  void leave_out(PackFailure failure);
  LeftOut left_out() const;
  [[noreturn]] void list_rest(const Planned& at, Images& images, ProgressReporter& progress);
  [[noreturn]] void give_up_early();
  void commit(size_t begin, size_t end);
  [[noreturn]] void give_up(const PackFailure& failure, bool all_listed = false);
  PackResult result();

  // Parts by fraction get their names together.
  bool together() const { return !options_.split.empty(); }

  const PackSource& source_;
  const PackOptions& options_;
  const RecordContent content_;
  const ImageSteps steps_;
  SpareBuffers spares_;
  std::vector<Planned> parts_;
  std::string report_uri_;
  uint64_t total_ = 0;
  uint64_t allowed_ = 0;
  uint64_t unlisted_ = 0;    // number of failures, first in `failures_`, that belong to no part
  uint64_t done_ = 0;        // images that were processed
  uint64_t bytes_done_ = 0;  // bytes of complete parts
  std::vector<PackFailure> failures_;
  std::unique_ptr<PackJournal> journal_;
  std::unique_ptr<QualityReport> quality_report_;  // null: none is requested
  uint64_t recoded_ = 0;                           // JPEGs that this run stored as baseline
  uint64_t unchanged_ = 0;  // images that this run packed without measuring them
};

}  // namespace fuelrail::pack
