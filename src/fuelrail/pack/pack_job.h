// One packing job: the images of a source, in their order, into the files of a plan.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/ordered_work.h"
#include "fuelrail/pack/image/image_reader.h"
#include "fuelrail/pack/output/journal.h"
#include "fuelrail/pack/output/made_already.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/pack_options.h"
#include "fuelrail/pack/plan.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

// Of those that are too many: a list of all images, where none is where it should be, helps nobody.
inline constexpr size_t kMostFailuresListed = 10'000;

// The files in the writing are locked as long as it lives, and so is their report.
class PackJob {
 public:
  // `unread`: what of the source could not even be listed. Lifetime: `source` and `options` outlive
  // the job. Requires: checked options. Errors: as `pack`.
  PackJob(const PackSource& source, std::vector<PackFailure> unread, const std::string& output,
          const PackOptions& options);

  // Once. Errors: as `pack`.
  PackResult run();

 private:
  // A part of the plan on its way to a file.
  struct Planned {
    PlannedPart plan;
    std::unique_ptr<Part> part{};  // while it is being written
    PackResult::File made{};       // when it has its name
    bool done = false;             // it has its name
    bool is_there = false;         // a file has its name, and nothing says whose it is
    uint64_t taken = 0;            // images of it that were dealt with
  };
  using Images = OrderedWork<PackedImage>;
  // What is held against the allowance.
  struct LeftOut {
    uint64_t count;
    uint64_t allowed;
    uint64_t all;  // of which so many are allowed
    bool too_many() const { return count > allowed; }
  };

  // What a run before this one has left. `resume_part` returns whether all of the part is there.
  void resume();
  void replace_foreign();
  bool resume_part(size_t number, const JournalContents& left);
  bool still_fails(uint64_t image, std::string& reason) const;

  void look_at_existing_parts();
  void open_as_left(Planned& planned) const;
  void open(Planned& planned) const;
  void write_all();
  void write_part(Planned& planned, Images& images, ProgressReporter& progress);
  void compare_part(Planned& planned, uint32_t number, Images& images, ProgressReporter& progress);
  void compare_image(Planned& planned, PackedImage packed, MadeAlready& there,
                     std::vector<JournalItem>& items);
  bool write_image(Planned& planned, PackedImage packed);
  void leave_out(PackFailure failure);
  LeftOut left_out() const;
  [[noreturn]] void list_rest(const Planned& at, Images& images, ProgressReporter& progress);
  void commit(size_t begin, size_t end);
  [[noreturn]] void give_up(const std::string& failure, const PackFailure& first,
                            bool all_listed = false);
  PackResult result();

  // Parts by fraction get their names together.
  bool together() const { return !options_.split.empty(); }

  const PackSource& source_;
  const PackOptions& options_;
  const ImageSteps steps_;
  std::vector<Planned> parts_;
  std::string report_uri_;
  uint64_t total_ = 0;
  uint64_t allowed_ = 0;
  uint64_t unlisted_ = 0;    // of the failures: the first ones, which no part has
  uint64_t done_ = 0;        // images that were dealt with
  uint64_t bytes_done_ = 0;  // of the parts that are complete
  std::vector<PackFailure> failures_;
  std::unique_ptr<PackJournal> journal_;
};

}  // namespace fuelrail::pack
