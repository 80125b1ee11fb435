// Plans batches, and has their records found ahead of their turn.
//
// A record of a folder of images is a file, and where it ends only a look at it tells, which on a
// network file system takes as long as a read. So records whose extents their container does not
// know are looked at by threads, many at once, and from further batches than the next one where
// storage is slow. All others cost nothing here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/container/container.h"
#include "fuelrail/sampler/sampler.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

// Threads: one at a time. Belongs to the process that made it, as a ReadQueue does. The destructor
// waits for the looks in progress.
class LookAhead {
 public:
  // `threads` as a ReadQueue's: looks at once; 0 looks in `find` itself.
  LookAhead(std::shared_ptr<const Container> container, int threads);
  ~LookAhead();
  LookAhead(const LookAhead&) = delete;
  LookAhead& operator=(const LookAhead&) = delete;

  // The sampler's next batch, whose records are being looked at from now on at the latest. Where
  // that takes looks, further batches may be planned until `ahead` records wait to be found.
  // Errors: the sampler's, in the place of the batch that it did not give; until then it is not
  // asked again.
  std::optional<BatchPlan> next_plan(Sampler& sampler, size_t ahead);

  // Where the next record lies, in the order of the plans that `next_plan` returned; what is no
  // record of the container (>= size()) is passed over. Requires: `record` is that one. Errors:
  // Container::extent's.
  Extent find(uint64_t record);

  // Whether `find` would not wait. Requires: there is a next one.
  bool is_found();

  void set_threads(int threads) { queue_->set_threads(threads); }

  // Forgets every batch that was planned and every record. Waits for the looks in progress.
  void drop();

 private:
  class Look;
  struct Planned {
    std::optional<BatchPlan> plan;
    std::exception_ptr error;
    bool is_last() const { return error || !plan; }
  };

  bool may_plan(const Sampler& sampler, size_t ahead) const;
  void plan_one(Sampler& sampler);
  void look_at(const std::vector<Entry>& entries);
  void collect(size_t at_least);

  const std::shared_ptr<const Container> container_;
  std::deque<Planned> plans_;                // not returned yet
  std::deque<std::unique_ptr<Look>> looks_;  // a planned record each; null where it takes none
  size_t looking_ = 0;                       // of those that are not null
  std::vector<ReadRequest> requests_;
  std::vector<Completion> completions_;
  std::unique_ptr<ReadQueue> queue_;  // destroyed first: its threads work on the looks
};

}  // namespace fuelrail
