// Runs a producer on its own thread, a limited number of items ahead of its consumer: the next item
// is read while the last one is processed. Modeled on dmlc-core's ThreadedIter, but items produced
// before an error are delivered before it, the error is the original exception, and an iterator may
// be rewound, ended and destroyed at any time.
//
//   ThreadedIter<Chunk> chunks(2);
//   chunks.init([&](std::unique_ptr<Chunk>& cell) {
//                 if (!cell) cell = std::make_unique<Chunk>();  // else a recycled one
//                 return reader.read(*cell);                    // false: the end
//               },
//               [&] { reader.rewind(); });
//   while (auto chunk = chunks.next()) { ...; chunks.recycle(std::move(chunk)); }
//   chunks.before_first();
#pragma once

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/base/native_thread.h"
#include "fuelrail/base/own_process.h"

namespace fuelrail {

// Threads: `next`, `recycle` and `before_first` from any number of threads at once; `init`,
// `destroy` and the destructor from one thread; `advance` and `value` from one thread. The
// producer's functions must not call any of them.
//
// Fork: the iterator belongs to the process that called `init`. In a forked child, `destroy` and
// the destructor abandon it without freeing its memory, and every other call throws StateError.
//
// Memory: at most `capacity` cells are queued or being filled. Together with the cells that
// consumers hold or have recycled, there are at most `capacity` plus the largest number that
// consumers ever held at once.
template <typename T>
class ThreadedIter {
 public:
  // Fills a cell, which is null or recycled; may replace it. Returns: false at the end (the cell
  // then counts as recycled). `next` rethrows its exceptions.
  using Produce = std::function<bool(std::unique_ptr<T>& cell)>;
  using Rewind = std::function<void()>;

  // Errors: InvalidArgumentError for capacity 0.
  explicit ThreadedIter(size_t capacity = 8) : capacity_(capacity) {
    if (capacity > 0) return;
    throw InvalidArgumentError("a threaded iterator's capacity is out of range",
                               {.expected = "at least 1", .found = "0"});
  }
  ThreadedIter& operator=(ThreadedIter&&) = delete;
  ~ThreadedIter() { destroy(); }

  // Starts the producer's thread. The two functions never run at the same time: `produce` is called
  // on the producer's thread, `rewind` on the thread that calls `before_first`. If called again,
  // `init` first calls `destroy`. Errors: IoError if the system cannot start a thread.
  void init(Produce produce, Rewind rewind = {}) {
    destroy();
    state_.reset();
    auto state = std::make_unique<State>();
    state->produce = std::move(produce);
    state->rewind = std::move(rewind);
    state->capacity = capacity_;
    state->thread = start_native_thread("fuelrail-iter", [at = state.get()] { run_producer(*at); });
    state_ = std::move(state);
  }

  // Waits for the next cell, which then belongs to the caller. Returns: null at the end (on every
  // call until `before_first`), before `init`, and after `destroy`, which also ends calls that are
  // waiting. Errors: the producer's exception, after the cells produced before it, on every call
  // until `before_first` or `init`; StateError in a forked child.
  std::unique_ptr<T> next() {
    State* const state = mine();
    if (state == nullptr) return nullptr;
    const Lock lock(state->mutex);
    const Inside inside(*state);
    while (!state->ending && !state->answers()) state->arrived.wait(state->mutex);
    if (state->ending) return nullptr;
    if (state->queue.empty()) {
      if (state->error) std::rethrow_exception(state->error);
      return nullptr;
    }
    std::unique_ptr<T> cell = std::move(state->queue.front());
    state->queue.pop_front();
    state->room.notify_one();
    return cell;
  }

  // Gives a cell back, to be filled again. Errors: StateError in a forked child.
  void recycle(std::unique_ptr<T> cell) {
    State* const state = mine();
    if (state == nullptr || cell == nullptr) return;
    const Lock lock(state->mutex);
    if (!state->ending) state->keep(std::move(cell));
  }

  // Starts over: waits until the producer has finished its current item, drops the queued cells and
  // calls `rewind`. May be called at any time, even at the end or after an error, which is then
  // cleared. Does nothing after `destroy`. Errors: UnsupportedError if there is no `rewind`
  // (nothing changes); exceptions of `rewind`, which later calls of `next` throw as well;
  // StateError in a forked child.
  void before_first() {
    State* const state = mine();
    if (state == nullptr) return;
    if (!state->rewind) {
      throw UnsupportedError("this threaded iterator has no rewind function",
                             {.remedy = "Pass a rewind function to `init`, or start over by "
                                        "calling `init` again"});
    }
    before_first(state->rewind);
  }

  // As `before_first()`, but calls `move` instead of `rewind`, so that the producer can continue at
  // a different position.
  void before_first(const Rewind& move) {
    State* const state = mine();
    if (state == nullptr) return;
    const Lock lock(state->mutex);
    const Inside inside(*state);
    while (!state->ending && state->paused) state->arrived.wait(state->mutex);
    if (state->ending) return;
    state->paused = true;
    while (state->producing) state->idle.wait(state->mutex);
    state->drop_queue();
    std::exception_ptr error;
    try {
      const Unlocked unlocked(state->mutex);
      move();
    } catch (...) {
      error = std::current_exception();
    }
    state->finish(error == nullptr, error);
    state->paused = false;
    state->room.notify_one();
    state->arrived.notify_all();
    if (error) std::rethrow_exception(error);
  }

  // Waits until the producer has finished its current item and has stopped, then frees all cells
  // except those that consumers hold. Does nothing if called again.
  void destroy() {
    current_.reset();
    if (state_ == nullptr) return;
    if (state_->process.is_parents()) {
      // The parent's thread cannot be joined and may have held the lock, so the state is leaked.
      static_cast<void>(state_.release());
      return;
    }
    {
      const Lock lock(state_->mutex);
      state_->ending = true;
      state_->room.notify_all();
      state_->arrived.notify_all();
      while (state_->callers > 0) state_->idle.wait(state_->mutex);
    }
    if (state_->thread.joinable()) state_->thread.join();
    const Lock lock(state_->mutex);
    state_->queue.clear();
    state_->free.clear();
  }

  // For a single consumer: `advance` recycles the last cell and takes the next one. Returns: false
  // at the end. Errors: as for `next`.
  bool advance() {
    recycle(std::move(current_));
    current_ = next();
    return current_ != nullptr;
  }
  // Requires: the last `advance` returned true. Lifetime: until the next `advance` or `destroy`.
  T& value() { return *current_; }

 private:
  struct State {
    Produce produce;
    Rewind rewind;
    size_t capacity = 0;
    const OwnProcess process;
    Mutex mutex;
    Condition room;     // for the producer: room in the queue, a rewind, or the end
    Condition arrived;  // for consumers
    Condition idle;     // `produce` has returned, or the last call has ended
    std::deque<std::unique_ptr<T>> queue FUELRAIL_GUARDED_BY(mutex);
    std::vector<std::unique_ptr<T>> free FUELRAIL_GUARDED_BY(mutex);
    std::exception_ptr error FUELRAIL_GUARDED_BY(mutex);  // delivered after the queued cells
    bool ended FUELRAIL_GUARDED_BY(mutex) = false;        // no more cells are produced
    bool producing FUELRAIL_GUARDED_BY(mutex) = false;
    bool paused FUELRAIL_GUARDED_BY(mutex) = false;  // by `before_first`
    bool ending FUELRAIL_GUARDED_BY(mutex) = false;  // by `destroy`
    size_t callers FUELRAIL_GUARDED_BY(mutex) = 0;   // consumers inside a call
    std::thread thread;

    bool answers() const FUELRAIL_REQUIRES(mutex) { return !paused && (!queue.empty() || ended); }
    bool may_produce() const FUELRAIL_REQUIRES(mutex) {
      return !paused && !ended && queue.size() < capacity;
    }
    void keep(std::unique_ptr<T> cell) FUELRAIL_REQUIRES(mutex) {
      if (cell != nullptr) free.push_back(std::move(cell));
    }
    void drop_queue() FUELRAIL_REQUIRES(mutex) {
      for (std::unique_ptr<T>& cell : queue) keep(std::move(cell));
      queue.clear();
    }
    void finish(bool more, std::exception_ptr failure) FUELRAIL_REQUIRES(mutex) {
      ended = !more;
      error = std::move(failure);
    }
  };

  // Counts a consumer's call while it is in progress; `destroy` waits until none is. Requires: the
  // mutex is held at construction and destruction.
  class Inside {
   public:
    explicit Inside(State& state) FUELRAIL_REQUIRES(state.mutex) : state_(state) {
      ++state_.callers;
    }
    ~Inside() {
      if (--state_.callers == 0 && state_.ending) state_.idle.notify_all();
    }
    Inside& operator=(Inside&&) = delete;

   private:
    State& state_;
  };

  static void run_producer(State& state) {
    const Lock lock(state.mutex);
    for (;;) {
      while (!state.ending && !state.may_produce()) state.room.wait(state.mutex);
      if (state.ending) return;
      produce_one(state);
      state.idle.notify_all();
      state.arrived.notify_all();
    }
  }

  static void produce_one(State& state) FUELRAIL_REQUIRES(state.mutex) {
    std::unique_ptr<T> cell;
    if (!state.free.empty()) {
      cell = std::move(state.free.back());
      state.free.pop_back();
    }
    state.producing = true;
    bool more = false;
    std::exception_ptr error;
    try {
      const Unlocked unlocked(state.mutex);
      more = state.produce(cell);
      if (more && cell == nullptr)
        throw StateError("the producer returned true but filled no cell",
                         {.remedy = "Fill the cell, or return false if no item is left"});
    } catch (...) {
      more = false;
      error = std::current_exception();
    }
    state.producing = false;
    try {
      if (more) {
        state.queue.push_back(std::move(cell));
      } else {
        state.keep(std::move(cell));
      }
    } catch (...) {  // no memory for the queue
      more = false;
      error = std::current_exception();
    }
    state.finish(more, std::move(error));
  }

  // Null before `init`. Takes no lock: in a forked child, the lock may be held by a thread that
  // exists only in the parent.
  State* mine() const {
    if (state_ == nullptr || !state_->process.is_parents()) return state_.get();
    throw StateError("the iterator's thread exists only in the parent process",
                     {.remedy = "Create a new iterator after the fork"});
  }

  const size_t capacity_;
  std::unique_ptr<State> state_;
  std::unique_ptr<T> current_;
};

}  // namespace fuelrail
