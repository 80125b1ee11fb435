// Records that the container makes: in which order, how many at once, and how much memory they use.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/engine_rig.h"
#include "fuelrail/testing/turnstile.h"

namespace fuelrail {
namespace {

constexpr uint64_t kRecordBytes = 100'000;

// What the records that exist have in common. Threads: any.
struct Making {
  std::function<void(uint64_t record, const KeepGoing&)> before{};
  std::atomic<uint64_t> living_bytes = 0;
  std::atomic<uint64_t> most_bytes = 0;
  std::atomic<size_t> running = 0;
  std::atomic<size_t> most_running = 0;

  static void raise(auto& most, auto value) {
    auto now = most.load();
    while (now < value && !most.compare_exchange_weak(now, value)) {
    }
  }
};

// Counts as kRecordBytes, whatever the size of its record.
class MadeRecord final : public Source {
 public:
  MadeRecord(const Extent& extent, Making& making) : bytes_(extent.length), making_(making) {
    extent.source->read(extent.offset, bytes_);
    bytes_.resize(kRecordBytes);
    Making::raise(making_.most_bytes, making_.living_bytes += kRecordBytes);
  }
  ~MadeRecord() override { making_.living_bytes -= kRecordBytes; }
  uint64_t size_bytes() const override { return bytes_.size(); }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t, MutableBytes) const override { ADD_FAILURE() << "it is in memory"; }
  Bytes memory() const override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
  Making& making_;
  const std::string uri_;
};

class MadeRecords final : public ForwardingContainer {
 public:
  MadeRecords(std::shared_ptr<const Container> inner, size_t at_once, Making& making)
      : ForwardingContainer(std::move(inner)), at_once_(at_once), making_(making) {}

  bool knows_extent(uint64_t) const override { return false; }
  size_t makes_at_once() const override { return at_once_; }
  Extent extent(uint64_t i) const override { return extent_while(i, {}); }
  Extent extent_while(uint64_t i, const KeepGoing& keep_going) const override {
    Making::raise(making_.most_running, ++making_.running);
    try {
      if (making_.before) making_.before(i, keep_going);
    } catch (...) {
      --making_.running;
      throw;
    }
    const Extent found = inner().extent(i);
    auto source = std::make_shared<const MadeRecord>(found, making_);
    --making_.running;
    return {.source = source, .offset = 0, .length = kRecordBytes};
  }
  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    inner().parse(i, framed.first(inner().extent(i).length), out);
  }
  bool verifies_checksums() const override { return false; }

 private:
  const size_t at_once_;
  Making& making_;
};

struct MadeRig : Rig {
  explicit MadeRig(uint64_t records, size_t at_once = 2) {
    container = std::make_shared<MadeRecords>(made_records(records), at_once, making);
    sampling.records = records;
  }
  Making making;
};

TEST(EngineMadeRecords, give_the_batches_of_a_file) {
  MadeRig made(50);
  Rig file;
  const auto engine = made.make();
  EXPECT_EQ(all_said(*engine, 20), expected(file, 20));
}

TEST(EngineMadeRecords, stay_within_the_limit_of_read_ahead) {
  MadeRig rig(200);
  rig.engine.read_ahead_bytes = 10 * kRecordBytes;
  rig.sampling.order.batch_size = 40;
  const auto engine = rig.make();
  for (int batch = 0; batch < 10; ++batch) said_by(*engine);
  // One record more may have been begun before the size of the others was known.
  EXPECT_LE(rig.making.most_bytes, 12 * kRecordBytes);
}

TEST(EngineMadeRecords, larger_than_the_limit_come_one_by_one) {
  MadeRig rig(20);
  rig.engine.read_ahead_bytes = kRecordBytes / 2;
  const auto engine = rig.make();
  Rig file;
  file.container = made_records(20);
  file.sampling.records = 20;
  EXPECT_EQ(all_said(*engine, 8), expected(file, 8));
}

TEST(EngineMadeRecords, as_many_are_made_at_once_as_workers_can_follow) {
  MadeRig rig(100, 3);
  rig.sampling.order.batch_size = 30;
  Turnstile turns;
  rig.making.before = [&](uint64_t record, const KeepGoing&) { turns.pass(record); };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(turns.await(6));
  turns.open();
  for (int batch = 0; batch < 8; ++batch) said_by(*engine);
  EXPECT_EQ(rig.making.most_running, 6u);
}

TEST(EngineMadeRecords, of_the_next_batch_begin_before_this_batch_is_complete) {
  MadeRig rig(40, 1);
  rig.sampling.order = {.batch_size = 4};
  Turnstile turns;
  rig.making.before = [&](uint64_t record, const KeepGoing&) { turns.pass(record); };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  turns.release(3);
  EXPECT_TRUE(turns.await(2)) << "records 3 and 4";
  turns.open();
}

TEST(EngineMadeRecords, in_the_making_end_when_the_engine_stops) {
  MadeRig rig(50);
  std::atomic<size_t> hanging = 0;
  rig.making.before = [&](uint64_t, const KeepGoing& keep_going) {
    ++hanging;
    while (keep_going()) std::this_thread::yield();
    throw_interrupted();
  };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  EXPECT_TRUE(within_patience([&] { return hanging > 0; }));
  engine->stop();
  EXPECT_EQ(rig.making.running, 0u);
}

TEST(EngineMadeRecords, bad_ones_get_substitutes_within_a_small_limit) {
  for (const uint64_t limit : {uint64_t{1}, 3 * kRecordBytes}) {
    MadeRig rig(50);
    rig.engine.read_ahead_bytes = limit;
    rig.policy = {.on_error = OnError::kSkip, .max_bad = Allowance{.count = 50}};
    rig.worker.bad = {1, 7, 8, 30, 49};
    Rig file;
    file.policy = rig.policy;
    file.worker.bad = rig.worker.bad;
    const auto engine = rig.make();
    EXPECT_EQ(all_said(*engine, 16), expected(file, 16)) << limit;
  }
}

TEST(EngineMadeRecords, that_cannot_be_made_are_bad_records) {
  MadeRig rig(50);
  rig.policy = {.on_error = OnError::kSkip, .max_bad = Allowance{.count = 50}};
  rig.making.before = [](uint64_t record, const KeepGoing&) {
    if (record % 10 == 3) throw CorruptError("this record is bad");
  };
  Rig file;
  file.policy = rig.policy;
  file.worker.bad = {3, 13, 23, 33, 43};
  const auto engine = rig.make();
  EXPECT_EQ(all_said(*engine, 16), expected(file, 16));
}

TEST(EngineMadeRecords, a_stall_names_the_record_in_the_making) {
  MadeRig rig(50);
  rig.sampling.order = {.batch_size = 8};
  Gate gate;
  rig.making.before = [&](uint64_t, const KeepGoing&) { gate.pass(); };
  const auto engine = rig.make();
  EXPECT_EQ(engine->next(std::chrono::milliseconds(0)).status, Engine::Status::kTimeout);
  try {
    within_patience([&] { return rig.making.running > 0; });
    engine->throw_stalled(1);
  } catch (const StallError& error) {
    EXPECT_NE(error.failure().find("sample 0 is being made by the dataset"), std::string::npos)
        << error.what();
  }
  gate.open();
}

TEST(EngineMadeRecords, are_discarded_by_a_restart) {
  MadeRig rig(50);
  Rig file;
  const auto engine = rig.make();
  said_by(*engine);
  engine->restart(rig.sampler({.epoch = 3}));
  EXPECT_EQ(all_said(*engine, 5), expected(file, 5, {.epoch = 3}));
}

}  // namespace
}  // namespace fuelrail
