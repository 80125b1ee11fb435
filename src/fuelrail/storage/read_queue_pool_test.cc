#include "fuelrail/storage/read_queue_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/idle_reads.h"
#include "fuelrail/testing/read_queue_conformance.h"

namespace fuelrail {
namespace {

// Leaves no threads for the following tests, some of which fork.
class ReadQueuePool : public ::testing::Test {
 protected:
  ~ReadQueuePool() override { free_idle_read_queues(); }
};

const ReadOptions kOptions{.threads = 2, .backend = ReadBackend::kPread};

TEST_F(ReadQueuePool, a_queue_that_came_back_is_lent_again) {
  const ReadQueue* first = nullptr;
  {
    const QueueLease lease(kOptions);
    first = lease.queue();
    const QueueLease beside(kOptions);
    EXPECT_NE(beside.queue(), first);
  }
  const QueueLease one(kOptions);
  const QueueLease two(kOptions);
  EXPECT_TRUE(one.queue() == first || two.queue() == first);
  const QueueLease other({.threads = 3, .backend = ReadBackend::kPread});
  EXPECT_NE(other.queue(), nullptr);
}

TEST_F(ReadQueuePool, only_so_many_are_lent_and_fewer_kept) {
  {
    std::vector<std::unique_ptr<QueueLease>> leases;
    for (size_t i = 0; i < kMostLentQueues; ++i) {
      leases.push_back(std::make_unique<QueueLease>(kOptions));
      EXPECT_NE(leases.back()->queue(), nullptr);
    }
    EXPECT_EQ(QueueLease(kOptions).queue(), nullptr);
    leases.pop_back();
    EXPECT_NE(QueueLease(kOptions).queue(), nullptr);
  }
  EXPECT_EQ(idle_read_queues(), kMostIdleQueues);
}

TEST_F(ReadQueuePool, what_is_in_flight_ends_with_the_lease) {
  GatedSource source;
  std::vector<std::byte> memory(50);
  std::thread opener;
  {
    const QueueLease lease(kOptions);
    for (uint64_t i = 0; i < memory.size(); ++i) {
      const ReadRequest request{&source, i, MutableBytes(memory).subspan(i, 1), i};
      lease.queue()->submit({&request, 1});
    }
    opener = std::thread([&] { source.open(); });
  }
  memory.clear();  // ASan detects a read that continues
  opener.join();
  const QueueLease next(kOptions);
  EXPECT_EQ(next.queue()->in_flight(), 0u);
}

TEST_F(ReadQueuePool, a_refused_option_lends_nothing_for_good) {
  for (size_t i = 0; i < 2 * kMostLentQueues; ++i) {
    EXPECT_THROW(QueueLease({.threads = -1}), InvalidArgumentError);
  }
  EXPECT_NE(QueueLease(kOptions).queue(), nullptr);
}

TEST_F(ReadQueuePool, a_forked_child_has_queues_of_its_own) {
  const ReadFile file(10'000);
  { const QueueLease used(kOptions); }
  const QueueLease held(kOptions);  // a thread of the parent is reading
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              if (idle_read_queues() != 0) return "the parent's are there";
              const QueueLease lease(kOptions);
              std::byte into{0};
              const ReadRequest request{&file.source(), 700, {&into, 1}, 0};
              lease.queue()->submit({&request, 1});
              Completion done;
              lease.queue()->wait({&done, 1}, 1);
              return into == file.bytes()[700] ? "right" : "wrong";
            }),
            "right");
}

TEST_F(ReadQueuePool, a_lease_of_the_parents_is_nothing_to_the_child) {
  auto held = std::make_unique<QueueLease>(kOptions);
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              held.reset();
              if (idle_read_queues() != 0) return "the parent's queue would be lent again";
              std::vector<std::unique_ptr<QueueLease>> leases;
              for (size_t i = 0; i < kMostLentQueues; ++i) {
                leases.push_back(std::make_unique<QueueLease>(kOptions));
                if (leases.back()->queue() == nullptr) return "too few are lent";
              }
              return QueueLease(kOptions).queue() == nullptr ? "right" : "too many are lent";
            }),
            "right");
}

}  // namespace
}  // namespace fuelrail
