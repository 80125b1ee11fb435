// Plans batches, and finds their records ahead of time.
//
// In a folder of images each record is a file. Its size must be looked up (stat), which on a
// network file system takes as long as a read. So if a container does not know a record's extent,
// threads look it up (a "look"), many at the same time, in the order of the plans. They also look
// up substitutes and, on slow storage, the records of batches after the next one. Records with
// known extents cost nothing here.
//
// If a container makes its records (Container::makes_at_once), a look makes one, and its memory
// stays in use until the extent is released. Such looks do not start at once, but in the order of
// the plans, as many at the same time as the container makes, and as `start_looks` admits.
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

// Threads: one at a time, except `cancel`. Belongs to the process that created it, like a
// ReadQueue. The destructor waits for the looks in progress.
class LookAhead {
 public:
  // `threads`: the number of simultaneous looks, at most kMaxReadThreads; with 0, `find` looks up
  // the record itself. `on_end` is called when looks have ended (except cancelled ones), on their
  // thread, without a lock; it must not throw.
  LookAhead(std::shared_ptr<const Container> container, int threads, std::function<void()> on_end);
  // For tests: looks run as reads of `queue`.
  LookAhead(std::shared_ptr<const Container> container, std::unique_ptr<ReadQueue> queue);
  ~LookAhead();
  LookAhead& operator=(LookAhead&&) = delete;

  // For records that are made: starts the looks that wait, until the records found but not returned
  // by `find` and those being made fill `room_bytes`. Starts at least one, if there are no such
  // records. Does nothing for other records.
  void start_looks(size_t room_bytes);

  // Whether looks wait for more room than the last `start_looks` had.
  bool waits_for_room() const { return waits_for_room_; }

  // Ends the looks in progress with a StateError, as far as the container can (extent_while).
  // Cannot be undone. Threads: any.
  void give_up() { given_up_.store(true, std::memory_order_relaxed); }

  // Returns the sampler's next batch, after starting the looks for its records. If looks are
  // needed, may plan further batches until `ahead` records wait to be found. Errors: the sampler's,
  // in place of the batch that was not planned; the sampler is not called again before this error
  // has been thrown.
  std::optional<BatchPlan> next_plan(Sampler& sampler, size_t ahead);

  // The extent of the next record, in the order of the plans that `next_plan` returned, skipping
  // indices >= size(). Waits for its look. Requires: `record` is that record. Errors: those of
  // Container::extent; StateError after `cancel`.
  Extent find(uint64_t record);

  // Whether `find` would return without waiting for another thread's look. Requires: a next record
  // exists.
  bool is_found();

  // Starts a look for the substitute of a planned record, under a key that the caller chooses.
  // Returns: whether a look was started; if false, there is no look to wait for. Requires: record <
  // size(); no other look has this key.
  bool look_at_substitute(uint64_t key, uint64_t record);
  // As `is_found` and `find`, for the record given to `look_at_substitute`.
  bool is_substitute_found(uint64_t key);
  Extent find_substitute(uint64_t key, uint64_t record);

  // Sets the number of simultaneous looks, at least 1; does nothing without threads.
  void set_threads(int threads);

  // Until `go_on` is called, no look starts; each ends with a StateError instead. Threads: any.
  void cancel() noexcept;
  void go_on() { cancelled_.store(false, std::memory_order_relaxed); }

  // Drops all planned batches and records. Waits for the looks in progress.
  void drop();

 private:
  class Looks;
  struct Look {
    uint64_t record;
    Extent extent{};  // only the queue's thread uses it until the look has ended
    bool ended = false;
    bool counts = false;  // it makes a planned record
    std::exception_ptr error{};
  };
  struct PlannedLook {
    uint64_t turn;  // its index among the planned records
    Look look;
    bool started = true;
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
  void start(PlannedLook& planned);
  void note_made(const Look& look);
  ReadRequest request_for(Look& look) const;
  Extent extent_of(uint64_t record) const;
  bool has_ended(const Look& look);
  Extent end(Look& look);
  size_t collect(size_t at_least);

  const std::shared_ptr<const Container> container_;
  const std::unique_ptr<const Looks> source_;
  const size_t made_at_once_;  // 0: the container finds its records
  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> given_up_ = false;
  std::deque<Planned> plans_;  // not yet returned by next_plan
  uint64_t planned_ = 0;       // number of planned records
  uint64_t found_ = 0;         // the number of them that were found
  // The looks for planned records, in the order of their turns. Neither container moves its
  // elements.
  std::deque<PlannedLook> looks_;
  // Of records that are made:
  size_t started_ = 0;        // the looks at the front of `looks_` that have started
  size_t making_ = 0;         // of them, those that have not ended
  uint64_t made_bytes_ = 0;   // of those that have
  uint64_t usual_bytes_ = 0;  // a guess at the size of the next record
  bool waits_for_room_ = false;
  std::unordered_map<uint64_t, Look> substitutes_;  // by key
  std::vector<ReadRequest> requests_;
  std::vector<Completion> completions_;
  // Null without threads. Destroyed first, because its threads use the looks.
  std::unique_ptr<ReadQueue> queue_;
};

}  // namespace fuelrail
