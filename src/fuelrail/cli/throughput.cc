#include "fuelrail/cli/throughput.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/native_thread.h"
#include "fuelrail/cli/opening.h"
#include "fuelrail/container/forwarding_container.h"
#include "fuelrail/container/hint_workers.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/loader/sample_worker.h"

namespace fuelrail::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWatchInterval{100};
constexpr uint64_t kMostHeldRecords = 256;
constexpr uint64_t kRecordsPerWatch = 16;  // while records are gathered
constexpr uint64_t kMostHeldBytes = uint64_t{256} << 20;
constexpr double kLongestGathering = 5;  // seconds
constexpr size_t kRowsPerThread = 4;     // few enough to stay in the processor's cache

double since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

StageStats difference(const StageStats& now, const StageStats& before) {
  StageStats stage = now;
  stage.busy_seconds -= before.busy_seconds;
  stage.waiting_seconds -= before.waiting_seconds;
  stage.items -= before.items;
  stage.bytes -= before.bytes;
  return stage;
}

Stats difference(const Stats& now, const Stats& before) {
  Stats stats = now;
  stats.seconds -= before.seconds;
  stats.fetch = difference(now.fetch, before.fetch);
  stats.process = difference(now.process, before.process);
  stats.consumer = difference(now.consumer, before.consumer);
  stats.counts -= before.counts;
  stats.limit = limiting_stage(stats.fetch, stats.process, stats.consumer);
  return stats;
}

// The next batch, from the next epoch if the current one has ended. Errors: those of `watch` and of
// the loader.
Batch next_batch(Loader& loader, const std::function<void()>& watch) {
  for (;;) {
    Engine::Next next = loader.next_for(kWatchInterval);
    if (next.status == Engine::Status::kBatch) return std::move(*next.batch);
    watch();
  }
}

// One record in memory, with its framing.
struct HeldRecord {
  uint64_t record = 0;
  std::vector<std::byte> framed;
};

// A container for Decoding alone: that of the held records, with entry points that are in memory.
class WithEntryPoints final : public ForwardingContainer {
 public:
  // Requires: a container whose records have one image. Calls `watch` between records.
  WithEntryPoints(std::shared_ptr<const Container> container,
                  const std::vector<HeldRecord>& records, const Watch& watch)
      : ForwardingContainer(std::move(container)), field_(*only_image(schema())) {
    const MakeHints make = hint_maker();
    Sample sample;
    for (const HeldRecord& held : records) {
      if (hints_.size() % kRecordsPerWatch == 0) watch(0, 0);
      inner().parse(held.record, held.framed, sample);
      hints_[held.record] = make(sample.fields[field_].bytes);
    }
  }

  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    inner().parse(i, framed, out);
    if (const auto found = hints_.find(i); found != hints_.end()) {
      out.fields[field_].hints = found->second;
    }
  }

 private:
  size_t field_;
  std::unordered_map<uint64_t, std::vector<std::byte>> hints_;
};

// Decodes held records with its own worker into its own few rows.
class Decoding {
 public:
  Decoding(const std::shared_ptr<const Container>& container, const LoaderJob& job)
      : Decoding(sample_work(container, job.images, job.loading)) {}
  explicit Decoding(const LoaderWork& work)
      : layout_(std::make_shared<BatchLayout>(work.columns, kRowsPerThread)),
        pool_(layout_->total_bytes(), 1),
        slot_(pool_.take()),
        batch_(layout_, slot_, kRowsPerThread),
        worker_(work.make_worker()) {}

  // Returns: the error, or null.
  std::exception_ptr decode(const HeldRecord& held, uint64_t position) {
    slot_->arena().clear();  // drops values of variable length, which are not read
    Task task{.entry = {.record = held.record, .position = position},
              .framed = held.framed,
              .batch = &batch_,
              .row = position % kRowsPerThread};
    worker_->process({&task, 1});
    return task.error;
  }

 private:
  std::shared_ptr<const BatchLayout> layout_;
  SlotPool pool_;
  std::shared_ptr<Slot> slot_;
  Batch batch_;
  std::unique_ptr<Worker> worker_;
};

// Records that can be read and decoded, spread evenly over the dataset.
class HeldSample {
 public:
  HeldSample(const std::shared_ptr<const Container>& container, const LoaderJob& job,
             const Watch& watch)
      : container_(*container), decoding_(container, job) {
    const uint64_t most = std::min(container_.size(), kMostHeldRecords);
    const Clock::time_point begin = Clock::now();
    for (uint64_t k = 0; k < most; ++k) {
      add(k * (container_.size() / most) + k * (container_.size() % most) / most);
      if (k % kRecordsPerWatch == 0) watch(0, 0);
      if (bytes_ > kMostHeldBytes) break;
      if (!records_.empty() && since(begin) > kLongestGathering) break;
    }
    if (records_.empty()) std::rethrow_exception(error_);
  }

  const std::vector<HeldRecord>& records() const { return records_; }
  uint64_t unusable() const { return unusable_; }

  double mean_bytes() const {
    return static_cast<double>(bytes_) / static_cast<double>(records_.size());
  }
  double shorter_side() {
    if (shorter_sides_.empty()) return 0;
    const auto middle =
        shorter_sides_.begin() + static_cast<std::ptrdiff_t>(shorter_sides_.size() / 2);
    std::nth_element(shorter_sides_.begin(), middle, shorter_sides_.end());
    return static_cast<double>(*middle);
  }

 private:
  void add(uint64_t i) {
    try {
      const Extent extent = container_.extent(i);
      check_length(extent);
      HeldRecord held{.record = i, .framed = std::vector<std::byte>(extent.length)};
      extent.source->read(extent.offset, held.framed);
      if (const std::exception_ptr error = decoding_.decode(held, i)) std::rethrow_exception(error);
      if (has_images(container_)) note_size(i, held.framed);
      bytes_ += held.framed.size();
      records_.push_back(std::move(held));
    } catch (const Error&) {
      if (!error_) error_ = std::current_exception();
      ++unusable_;
    }
  }

  void note_size(uint64_t i, Bytes framed) {
    container_.parse(i, framed, sample_);
    const size_t field = content_field(container_.schema());
    const FieldValue& value = sample_.fields[field];
    const auto note = [this](const EncodedImage& image) {
      const Size size = probe(image).stored;
      shorter_sides_.push_back(std::min(size.height, size.width));
    };
    if (!container_.schema().fields[field].has(kListField)) note(value);
    for (const Bytes item : value.items) note(item);
  }

  const Container& container_;
  Decoding decoding_;
  Sample sample_;
  std::vector<HeldRecord> records_;
  std::vector<int64_t> shorter_sides_;
  uint64_t bytes_ = 0;
  std::exception_ptr error_;  // of the first unusable record
  uint64_t unusable_ = 0;
};

// Threads that decode held records until `stop`.
class LimitRun {
 public:
  LimitRun(const std::shared_ptr<const Container>& container, const LoaderJob& job,
           const std::vector<HeldRecord>& records) {
    for (int i = 0; i < *job.loading.engine.threads; ++i) {
      decodings_.push_back(std::make_unique<Decoding>(container, job));
    }
    try {
      for (auto& mine : decodings_) {
        threads_.push_back(start_native_thread(
            "fuelrail-limit", [this, &records, &decoding = *mine] { run(records, decoding); }));
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  ~LimitRun() { stop(); }
  LimitRun& operator=(LimitRun&&) = delete;

  uint64_t done() const { return done_.load(std::memory_order_relaxed); }

  void stop() {
    stopped_.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  void run(const std::vector<HeldRecord>& records, Decoding& decoding) {
    while (!stopped_.load(std::memory_order_relaxed)) {
      const uint64_t k = next_.fetch_add(1, std::memory_order_relaxed);
      if (decoding.decode(records[k % records.size()], k)) continue;
      done_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  std::vector<std::unique_ptr<Decoding>> decodings_;
  std::atomic<bool> stopped_ = false;
  std::atomic<uint64_t> next_ = 0;
  std::atomic<uint64_t> done_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

LoaderSpeed measure_loader(std::shared_ptr<const Container> container, const LoaderJob& job,
                           const Duration& duration, const Watch& watch) {
  LoaderSpeed speed;
  const Clock::time_point made = Clock::now();
  Loader loader(std::move(container), job.loading, job.images);
  next_batch(loader, [&] { watch(0, 0); });
  speed.first_batch_seconds = since(made);

  const uint64_t last_batch = duration.epochs ? *duration.epochs * loader.size() : UINT64_MAX;
  const Stats before = loader.stats();
  const double cpu = cpu_seconds();
  const Clock::time_point begin = Clock::now();
  Clock::time_point watched = begin;
  do {
    speed.records += next_batch(loader, [&] { watch(speed.records, since(begin)); }).rows();
    ++speed.batches;
    if (Clock::now() - watched >= kWatchInterval) {
      watch(speed.records, since(begin));
      watched = Clock::now();
    }
  } while (duration.epochs ? speed.batches < last_batch : since(begin) < duration.seconds);
  speed.seconds = since(begin);
  speed.cpu_seconds = cpu_seconds() - cpu;
  speed.stats = difference(loader.stats(), before);
  speed.bad_records = loader.bad_records().size();
  return speed;
}

namespace {

// Returns: the number of records that were decoded, and the seconds that it took.
std::pair<uint64_t, double> decode_repeatedly(const std::shared_ptr<const Container>& container,
                                              const LoaderJob& job,
                                              const std::vector<HeldRecord>& records,
                                              double seconds, const Watch& watch) {
  const Clock::time_point begin = Clock::now();
  LimitRun run(container, job, records);
  while (since(begin) < seconds) {
    const double left = seconds - since(begin);
    std::this_thread::sleep_for(std::min<Clock::duration>(
        kWatchInterval,
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(left))));
    watch(run.done(), since(begin));
  }
  run.stop();
  return {run.done(), since(begin)};
}

}  // namespace

LimitSpeed measure_limit(const std::shared_ptr<const Container>& container, const LoaderJob& job,
                         double seconds, bool may_index, const Watch& watch) {
  HeldSample sample(container, job, watch);
  LimitSpeed speed{.held = sample.records().size(),
                   .unusable = sample.unusable(),
                   .mean_bytes = sample.mean_bytes(),
                   .shorter_side = sample.shorter_side()};
  std::tie(speed.records, speed.seconds) =
      decode_repeatedly(container, job, sample.records(), seconds, watch);
  if (may_index) {
    const auto with = std::make_shared<WithEntryPoints>(container, sample.records(), watch);
    const auto [records, took] = decode_repeatedly(with, job, sample.records(), seconds, watch);
    speed.with_entry_points = static_cast<double>(records) / took;
  }
  return speed;
}

}  // namespace fuelrail::cli
