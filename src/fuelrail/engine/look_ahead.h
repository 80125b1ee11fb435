// Plans batches, and has their records found ahead of their turn.
//
// A record of a folder of images is a file, and where it ends only a look at it tells, which on a
// network file system takes as long as a read. So records whose extents their container does not
// know are looked at by threads, many at once, in the order of the plans, and from further batches
// than the next one where storage is slow; what stands in for bad records too. All others cost
// nothing here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fuelrail/container/container.h"
#include "fuelrail/sampler/sampler.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

// Threads: one at a time, but for `cancel`. Belongs to the process that made it, as a ReadQueue
// does. The destructor waits for the looks in progress.
class LookAhead {
 public:
  // `threads` = looks at once, at most kMaxReadThreads; 0 looks inside `find`, when its turn has
  // come. `on_end` is called when looks have ended, but for cancelled ones, on a thread of theirs,
  // which holds no lock; it must not throw.
  LookAhead(std::shared_ptr<const Container> container, int threads, std::function<void()> on_end);
  // For tests: looks are that queue's reads.
  LookAhead(std::shared_ptr<const Container> container, std::unique_ptr<ReadQueue> queue);
  ~LookAhead();
  LookAhead& operator=(LookAhead&&) = delete;

  // The sampler's next batch, whose records are being looked at from now on at the latest. Where
  // that takes looks, further batches may be planned until `ahead` records wait to be found.
  // Errors: the sampler's, in the place of the batch that it did not give; until then it is not
  // asked again.
  std::optional<BatchPlan> next_plan(Sampler& sampler, size_t ahead);

  // Where the next record lies, in the order of the plans that `next_plan` returned; what is no
  // record of the container (>= size()) is passed over. Waits for its look. Requires: `record` is
  // that one. Errors: Container::extent's; StateError "cancelled".
  Extent find(uint64_t record);

  // Whether `find` would not wait for a look by another thread. Requires: there is a next one.
  bool is_found();

  // Has a record looked at that stands in for a planned one, `key` being the caller's. Returns:
  // whether that takes a look; otherwise there is nothing to wait for. Requires: record < size();
  // no other is looked at by that key.
  bool look_at_substitute(uint64_t key, uint64_t record);
  // As is_found and find, of what `look_at_substitute` was told.
  bool is_substitute_found(uint64_t key);
  Extent find_substitute(uint64_t key, uint64_t record);

  // As many looks at once from now on, at least 1; nothing changes where there are no threads.
  void set_threads(int threads);

  // From now on, until `go_on`, no look begins: each ends as "cancelled". Threads: any.
  void cancel();
  void go_on() { cancelled_.store(false, std::memory_order_relaxed); }

  // Forgets every batch that was planned and every record. Waits for the looks in progress.
  void drop();

 private:
  class Looks;
  struct Look {
    uint64_t record;
    Extent extent{};  // a thread's of the queue until the look has ended
    bool ended = false;
    std::exception_ptr error{};
  };
  struct PlannedLook {
    uint64_t turn;  // among the planned records
    Look look;
  };
  struct Planned {
    std::optional<BatchPlan> plan;
    std::exception_ptr error;
    bool is_last() const { return error || !plan; }
  };

  bool may_plan(const Sampler& sampler, size_t ahead) const;
  void plan_one(Sampler& sampler);
  void look_at(const std::vector<Entry>& entries);
  void look_at_each(const std::vector<Entry>& entries, uint64_t turn);
  ReadRequest request_for(Look& look) const;
  Extent extent_of(uint64_t record) const;
  bool has_ended(const Look& look);
  Extent end(Look& look);
  size_t collect(size_t at_least);

  const std::shared_ptr<const Container> container_;
  const std::unique_ptr<const Looks> source_;
  std::atomic<bool> cancelled_ = false;
  std::deque<Planned> plans_;  // not returned yet
  uint64_t planned_ = 0;       // records
  uint64_t found_ = 0;         // of those
  // Of planned records, those that take a look, in the order of their turns. Neither container
  // moves a look.
  std::deque<PlannedLook> looks_;
  std::unordered_map<uint64_t, Look> substitutes_;  // by key
  std::vector<ReadRequest> requests_;
  std::vector<Completion> completions_;
  // Null without threads. Destroyed first: its threads work on the looks.
  std::unique_ptr<ReadQueue> queue_;
};

}  // namespace fuelrail
