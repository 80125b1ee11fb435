#include "fuelrail/container/made/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/guarded.h"
#include "fuelrail/container/made/shared_memory.h"
#include "fuelrail/container/made/worker_messages.h"

namespace fuelrail::made {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll(50);
constexpr std::chrono::milliseconds kTimeToFinish(300);  // a record that is no longer wanted

constexpr size_t kCopiedBytes = size_t{64} << 10;        // copying costs less than a slot
constexpr uint64_t kFirstSlotBytes = uint64_t{4} << 20;  // of address space, not of memory
// Slots that no record uses keep at most this much memory, for each worker.
constexpr uint64_t kIdleSlotBytes = uint64_t{32} << 20;
// Of all workers. A slot takes a descriptor, of which a process often has 1,024.
constexpr size_t kMaxSlots = 256;

// --- Slots --------------------------------------------------------------------------------------

struct Slot {
  explicit Slot(uint64_t its_number) : number(its_number), memory(kFirstSlotBytes) {}

  const uint64_t number;
  SharedMemory memory;
  uint64_t used_bytes = 0;  // memory that it keeps while idle
  bool shared = false;      // the worker has it
};

// The idle slots of one worker. Threads: any. Lives as long as the worker's records.
class Shelf {
 public:
  explicit Shelf(size_t most) : most_(most) {}

  // Whether a slot is idle. If none is, makes one, but not more than `most`.
  bool has_idle() {
    const Lock lock(mutex_);
    if (!idle_.empty()) return true;
    if (made_ >= most_) return false;
    try {
      idle_.push_back(std::make_unique<Slot>(made_));
      ++made_;
      return true;
    } catch (const Error&) {  // too many open files
      return false;
    }
  }

  // Requires: no slot was taken, or `has_idle`.
  std::unique_ptr<Slot> take() {
    const Lock lock(mutex_);
    if (idle_.empty()) return std::make_unique<Slot>(made_++);
    std::unique_ptr<Slot> slot = std::move(idle_.back());
    idle_.pop_back();
    idle_bytes_ -= slot->used_bytes;
    return slot;
  }

  void give_back(std::unique_ptr<Slot> slot) {
    const Lock lock(mutex_);
    if (idle_bytes_ + slot->used_bytes > kIdleSlotBytes) {
      slot->memory.release_pages();
      slot->used_bytes = 0;
    }
    idle_bytes_ += slot->used_bytes;
    idle_.push_back(std::move(slot));
  }

 private:
  const size_t most_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Slot>> idle_ FUELRAIL_GUARDED_BY(mutex_);
  uint64_t idle_bytes_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  uint64_t made_ FUELRAIL_GUARDED_BY(mutex_) = 0;
};

class SlotRecord final : public RecordBytes {
 public:
  SlotRecord(std::shared_ptr<Shelf> shelf, std::unique_ptr<Slot> slot, uint64_t bytes)
      : RecordBytes(Bytes(slot->memory.bytes()).first(bytes)),
        shelf_(std::move(shelf)),
        slot_(std::move(slot)) {}
  ~SlotRecord() override { shelf_->give_back(std::move(slot_)); }

 private:
  const std::shared_ptr<Shelf> shelf_;
  std::unique_ptr<Slot> slot_;
};

// --- One worker ---------------------------------------------------------------------------------

// The worker's process has ended.
struct Ended {
  std::string how;
};

// The worker can make no record.
struct Refusal {
  std::string why;
};

[[noreturn]] void throw_failure(FailureKind kind, const std::string& packed) {
  std::array<std::string, 6> parts;  // as WorkerChannel::fail packs them
  size_t begin = 0;
  for (size_t k = 0; k + 1 < parts.size(); ++k) {
    const size_t end = std::min(packed.find('\0', begin), packed.size());
    parts[k] = packed.substr(std::min(begin, packed.size()), end - begin);
    begin = std::min(end + 1, packed.size());
  }
  parts.back() = packed.substr(begin);
  ErrorDetail detail{.path = parts[0],
                     .field = parts[1],
                     .expected = parts[2],
                     .found = parts[3],
                     .remedy = parts[4]};
  switch (kind) {
    case FailureKind::kNotFound:
      throw NotFoundError(parts[5], std::move(detail));
    case FailureKind::kIo:
      throw IoError(parts[5], std::move(detail));
    case FailureKind::kTruncated:
      throw TruncatedError(parts[5], std::move(detail));
    case FailureKind::kOutOfMemory:
      throw OutOfMemoryError(parts[5], std::move(detail));
    case FailureKind::kUnsupported:
      throw UnsupportedError(parts[5], std::move(detail));
    case FailureKind::kCorrupt:
      break;
  }
  throw CorruptError(parts[5], std::move(detail));
}

class PoolWorker {
 public:
  PoolWorker(const PoolOptions& options, int greeting)
      : process_(options.program, greeting),
        shelf_(std::make_shared<Shelf>(kMaxSlots / options.workers)) {}

  // Whether it may be given another record.
  bool usable() const { return usable_; }
  // Whether it waits for a request. Requires: it has none.
  bool waits() { return !has_packet(std::chrono::milliseconds(0)) && !process_.has_ended(); }
  std::string wait_for_end() { return process_.wait_for_end(); }
  void hang_up() { process_.hang_up(); }

  // Waits until the worker has started. Errors: Ended; Refusal; StateError.
  void start(const KeepGoing& keep_going) {
    usable_ = false;
    std::string why;
    if (await(keep_going, why).kind != ReplyKind::kReady) throw Refusal{std::move(why)};
    usable_ = true;
  }

  // Errors: Ended; those of the record; those of SharedMemory.
  std::shared_ptr<const Source> make(uint64_t i, const KeepGoing& keep_going) {
    std::unique_ptr<Slot> slot = shelf_->take();
    const Request request{.record = i, .slot = slot->number};
    const int descriptor = slot->shared ? -1 : slot->memory.descriptor();
    usable_ = false;  // until the answer is here
    if (!send_packet(process_.socket(), packet_of(request), descriptor)) throw_ended();
    std::string text;
    const Reply reply = await(keep_going, text);
    if (reply.kind == ReplyKind::kRecord) {
      slot->shared = true;
      std::shared_ptr<const Source> record = take(reply.bytes, std::move(slot));
      usable_ = true;
      return record;
    }
    shelf_->give_back(std::move(slot));
    if (reply.kind != ReplyKind::kFailure) throw_ended();  // it is not a worker
    usable_ = true;
    throw_failure(reply.failure, text);
  }

 private:
  std::shared_ptr<const Source> take(uint64_t bytes, std::unique_ptr<Slot> slot) {
    slot->memory.follow();
    if (bytes > slot->memory.bytes().size()) throw_ended();
    slot->used_bytes = std::max(slot->used_bytes, bytes);
    if (bytes > kCopiedBytes && shelf_->has_idle()) {
      return std::make_shared<SlotRecord>(shelf_, std::move(slot), bytes);
    }
    const Bytes made = Bytes(slot->memory.bytes()).first(bytes);
    auto record = owned_record({made.begin(), made.end()});
    shelf_->give_back(std::move(slot));
    return record;
  }

  Reply await(const KeepGoing& keep_going, std::string& text) {
    std::optional<Clock::time_point> until;
    while (!has_packet(kPoll)) {
      // A process that the worker has forked may keep the connection open.
      if (process_.has_ended() && !has_packet(std::chrono::milliseconds(0))) throw_ended();
      if (!until && keep_going && !keep_going()) until = Clock::now() + kTimeToFinish;
      if (until && Clock::now() >= *until) {
        process_.kill();
        throw_interrupted();
      }
    }
    const Packet packet = receive_packet(process_.socket());
    Reply reply;
    if (!read_message(packet, reply, &text)) throw_ended();
    return reply;
  }

  // Whether the worker has sent a packet, or closed the connection.
  bool has_packet(std::chrono::milliseconds time) {
    pollfd end{.fd = process_.socket(), .events = POLLIN, .revents = 0};
    return ::poll(&end, 1, static_cast<int>(time.count())) > 0;
  }

  [[noreturn]] void throw_ended() { throw Ended{process_.wait_for_end()}; }

  WorkerProcess process_;
  const std::shared_ptr<Shelf> shelf_;
  bool usable_ = true;
};

}  // namespace

// --- All workers of a process -------------------------------------------------------------------

class WorkerPool::Workers {
 public:
  explicit Workers(std::shared_ptr<const PoolOptions> options) : options_(std::move(options)) {}
  ~Workers() {
    for (const auto& worker : idle_) worker->hang_up();  // so that all end at the same time
  }
  Workers& operator=(Workers&&) = delete;

  std::shared_ptr<const Source> make(uint64_t i, const KeepGoing& keep_going) {
    for (bool again = false;; again = true) {
      const Seat seat(*this, keep_going);
      std::unique_ptr<PoolWorker> worker = idle_worker();
      try {
        if (!worker) worker = started(keep_going);
        std::shared_ptr<const Source> record = worker->make(i, keep_going);
        put_away(std::move(worker));
        return record;
      } catch (const Ended& ended) {
        handle_end(i, ended, again);
      } catch (...) {
        if (worker && worker->usable()) put_away(std::move(worker));
        throw;
      }
    }
  }

 private:
  // A caller's right to use a worker. Callers get it in the order of their calls.
  class Seat {
   public:
    Seat(Workers& workers, const KeepGoing& keep_going) : workers_(workers) {
      const Lock lock(workers_.mutex_);
      const uint64_t ticket = workers_.next_ticket_++;
      workers_.waiting_.insert(ticket);
      try {
        check_keep_going(keep_going);
        while (workers_.busy_ >= workers_.options_->workers ||
               *workers_.waiting_.begin() != ticket) {
          workers_.changed_.wait_until(workers_.mutex_, Clock::now() + kPoll);
          check_keep_going(keep_going);
        }
      } catch (...) {
        workers_.waiting_.erase(ticket);
        workers_.changed_.notify_all();
        throw;
      }
      workers_.waiting_.erase(ticket);
      ++workers_.busy_;
      workers_.changed_.notify_all();  // another worker may be free
    }
    ~Seat() {
      {
        const Lock lock(workers_.mutex_);
        --workers_.busy_;
      }
      workers_.changed_.notify_all();
    }
    Seat& operator=(Seat&&) = delete;

   private:
    Workers& workers_;
  };

  // Returns: null if none is idle.
  std::unique_ptr<PoolWorker> idle_worker() {
    for (;;) {
      std::unique_ptr<PoolWorker> worker = last_idle();
      if (!worker || worker->waits()) return worker;
      warn(fmt::format("A worker process ended with {} while it had nothing to do.",
                       worker->wait_for_end()));
    }
  }

  std::unique_ptr<PoolWorker> last_idle() {
    const Lock lock(mutex_);
    if (!refusal_.empty()) throw StateError(refusal_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<PoolWorker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }

  void put_away(std::unique_ptr<PoolWorker> worker) {
    const Lock lock(mutex_);
    idle_.push_back(std::move(worker));
  }

  std::unique_ptr<PoolWorker> started(const KeepGoing& keep_going) {
    auto worker = std::make_unique<PoolWorker>(*options_, greeting());
    try {
      worker->start(keep_going);
      return worker;
    } catch (const Refusal& refusal) {
      const Lock lock(mutex_);
      refusal_ = refusal.why;
      throw StateError(refusal_);
    }
  }

  // The descriptor of the greeting.
  int greeting() {
    const Lock lock(mutex_);
    if (!greeting_) {
      greeting_.emplace(options_->greeting.size());
      std::ranges::copy(options_->greeting, greeting_->bytes().begin());
    }
    return greeting_->descriptor();
  }

  void handle_end(uint64_t i, const Ended& ended, bool again) const {
    if (again) {
      throw StateError(
          fmt::format("a worker process ended with {}, twice while it made one sample", ended.how),
          {.remedy = "If the system has ended it (SIGKILL), use fewer workers; otherwise find the "
                     "cause with `workers=0`, which needs no processes"});
    }
    warn(fmt::format(
        "A worker process ended with {} while it made sample {}. A new process makes it again.",
        ended.how, i));
  }

  void warn(const std::string& text) const {
    if (options_->warn) options_->warn(text);
  }

  const std::shared_ptr<const PoolOptions> options_;
  Mutex mutex_;
  Condition changed_;  // `busy_` or `waiting_`
  uint64_t next_ticket_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  std::set<uint64_t> waiting_ FUELRAIL_GUARDED_BY(mutex_);  // tickets of callers
  std::optional<SharedMemory> greeting_ FUELRAIL_GUARDED_BY(mutex_);
  size_t busy_ FUELRAIL_GUARDED_BY(mutex_) = 0;
  std::string refusal_ FUELRAIL_GUARDED_BY(mutex_);  // why no worker can start
  std::vector<std::unique_ptr<PoolWorker>> idle_ FUELRAIL_GUARDED_BY(mutex_);
};

WorkerPool::WorkerPool(PoolOptions options)
    : options_(std::make_shared<const PoolOptions>(std::move(options))),
      workers_([options = options_] { return std::make_unique<Workers>(options); }) {}

WorkerPool::~WorkerPool() = default;

std::shared_ptr<const Source> WorkerPool::make(uint64_t i, const KeepGoing& keep_going) const {
  return workers_.mine().make(i, keep_going);
}

}  // namespace fuelrail::made
