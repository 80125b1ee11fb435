// Every single fault of a read by descriptor, in a small epoch, with a ring and without: the right
// batch, or one clear error or substitute; never a hang, a crash or a silent difference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/uring/uring_reads.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/faulty_calls.h"
#include "fuelrail/testing/file_records.h"
#include "fuelrail/testing/forwarding_read_queue.h"
#include "fuelrail/testing/watchdog.h"

namespace fuelrail {
namespace {

// io_uring's reads, with a say in what the kernel's results are.
std::unique_ptr<ReadQueue> altered_ring(const ReadOptions& options, const ReadQueueCalls& calls,
                                        uring::UringReads::AlterResult alter) {
  std::string refusal;
  auto reads = uring::UringReads::make(options, calls, refusal, std::move(alter));
  if (!reads) throw UnsupportedError(refusal);
  return std::make_unique<ForwardingReadQueue<uring::UringReads>>(std::move(reads));
}

// One epoch, and no reads of the next.
class OneEpoch final : public Sampler {
 public:
  explicit OneEpoch(const EpochSamplerOptions& options) : epochs_(options) {}
  std::optional<BatchPlan> next() override {
    if (ended_) return std::nullopt;
    std::optional<BatchPlan> plan = epochs_.next();
    ended_ = plan->ends_epoch;
    return plan;
  }
  Progress progress() const override { return epochs_.progress(); }
  std::optional<uint64_t> substitute(const BatchPlan& plan, size_t row,
                                     uint32_t attempt) const override {
    return epochs_.substitute(plan, row, attempt);
  }

 private:
  EpochSampler epochs_;
  bool ended_ = false;
};

constexpr uint64_t kNeverCalled = uint64_t{1} << 40;

// A small epoch of a file's records: in order, where a batch's are neighbours and one read, or
// shuffled; direct or not; under either policy.
class FaultyReads : public testing::TestWithParam<std::tuple<Shuffle, bool, OnError>> {
 protected:
  FaultyReads() {
    const auto [shuffle, direct, on_error] = GetParam();
    rig_.container = std::make_shared<FileRecords>(24);
    rig_.sampling = {.records = 24, .order = {.seed = 5, .shuffle = shuffle, .batch_size = 4}};
    rig_.engine = {.threads = 2, .read = {.threads = 2, .direct = direct}, .max_read_threads = 0};
    rig_.policy = {.on_error = on_error};
    if (on_error == OnError::kSkip) rig_.policy.max_bad = Allowance{.count = 24};
    right_ = expected(rig_, 7);  // with the end of the epoch
  }

  std::unique_ptr<Engine> make() const {
    return std::make_unique<Engine>(rig_.container, std::make_unique<OneEpoch>(rig_.sampling),
                                    rig_.layout(), record_worker_factory(rig_.container),
                                    rig_.engine, rig_.policy);
  }

  // Goes through an epoch in which at most `most` records may turn out bad. Returns: how many
  // batches were not the right ones; those have one clear error, or a substitute.
  size_t go_through(Engine& engine, size_t most, const std::string& what) {
    size_t wrong = 0;
    const auto order = rig_.sampler();
    for (const Said& right : right_) {
      const Said said = said_by(engine);
      const BatchPlan plan = right.end ? BatchPlan{} : *order->next();
      watchdog_.feed();
      if (said == right) continue;
      ++wrong;
      if (rig_.policy.on_error == OnError::kSkip) {
        EXPECT_TRUE(said.rows) << what << ": " << said.error;
        continue;
      }
      EXPECT_THAT(said.error, testing::HasSubstr("cannot read the file")) << what;
      EXPECT_TRUE(std::any_of(plan.entries.begin(), plan.entries.end(),
                              [&](const Entry& entry) {
                                return said.error.find("record " + std::to_string(entry.record) +
                                                       ",") != said.error.npos;
                              }))
          << what << ": this is not a record of its batch: " << said.error;
    }
    EXPECT_LE(wrong, most) << what;
    if (rig_.policy.on_error == OnError::kSkip) {
      EXPECT_LE(engine.bad_records().size(), most) << what;
      EXPECT_GE(engine.bad_records().size(), wrong) << what;
    }
    return wrong;
  }

  Watchdog watchdog_;
  Rig rig_;
  std::vector<Said> right_;
};

// One read in the ring fails or is short, and `again` of the calls that then read its records.
// How many reads there are depends on how many neighbours wait together.
TEST_P(FaultyReads, every_batch_is_right_or_one_clear_error_whichever_read_of_the_ring_fails) {
  if (const std::string refusal = io_uring_refusal(); !refusal.empty()) GTEST_SKIP() << refusal;
  for (const bool is_short : {false, true}) {
    for (const uint64_t again : {0u, 1u, 2u}) {
      size_t wrong = 0;
      uint64_t reads = 0;  // of the last run
      for (uint64_t n = 0; n == 0 || n < reads; ++n) {
        uint64_t at = 0;  // counted by the engine's fetch thread
        rig_.engine.make_queue = [&](const ReadOptions& options, const ReadQueueCalls& calls) {
          return altered_ring(options, calls, [&](int32_t value) {
            if (at++ != n) return value;
            FaultyCalls::arm(EIO, again == 0 ? kNeverCalled : 0, again == 0 ? 0 : again - 1);
            return is_short ? 1 : -EIO;
          });
        };
        const auto engine = make();
        const std::string what = "read " + std::to_string(n) + (is_short ? ", short" : "") +
                                 ", and " + std::to_string(again) + " calls";
        wrong += go_through(*engine, again == 0 ? 0 : 1, what);
        engine->stop();
        EXPECT_GE(FaultyCalls::calls(), 1u) << what << ": its records were not read again";
        FaultyCalls::disarm();
        reads = at;
      }
      EXPECT_GE(reads, 1u);
      if (again == 2) {
        EXPECT_GT(wrong, 0u);
      }
    }
  }
}

// Without a ring: threads, which read neighbours in one call.
TEST_P(FaultyReads, every_batch_is_right_or_one_clear_error_whichever_call_fails) {
  rig_.engine.read.backend = ReadBackend::kPread;
  for (const int error : {EIO, EINTR, int{FaultyCalls::kShort}}) {
    for (const uint64_t more : {0u, 1u, 2u}) {
      size_t wrong = 0;
      uint64_t calls = 0;  // of the last run
      for (uint64_t n = 0; n == 0 || n < calls; ++n) {
        FaultyCalls::arm(error, n, more);
        const auto engine = make();
        wrong += go_through(*engine, error == EIO ? 1 + more : 0,
                            "call " + std::to_string(n) + " and " + std::to_string(more) + " more");
        engine->stop();
        calls = FaultyCalls::calls();
        FaultyCalls::disarm();
      }
      EXPECT_GE(calls, 1u);
      if (error == EIO && more == 2) {
        EXPECT_GT(wrong, 0u);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, FaultyReads,
                         testing::Combine(testing::Values(Shuffle::kNone, Shuffle::kFull),
                                          testing::Bool(),
                                          testing::Values(OnError::kRaise, OnError::kSkip)));

}  // namespace
}  // namespace fuelrail
