#include "fuelrail/batch/slot_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <thread>
#include <vector>

namespace fuelrail {
namespace {

constexpr size_t kSmall = 1000;
constexpr size_t kLarge = (size_t{5} << 20) + 3;  // mapped

class SlotPoolOfEverySize : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, SlotPoolOfEverySize,
                         ::testing::Values(0, 1, kSmall, (size_t{4} << 20) - 1, size_t{4} << 20,
                                           kLarge));

TEST_P(SlotPoolOfEverySize, slot_is_aligned_and_every_byte_can_be_written) {
  SlotPool pool(GetParam(), 2);
  const auto slot = pool.take();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(slot->data()) % 4096, 0u);
  ASSERT_EQ(slot->size_bytes(), GetParam());
  if (GetParam() > 0) std::memset(slot->data(), 1, GetParam());
}

TEST_P(SlotPoolOfEverySize, slot_let_go_is_used_again) {
  SlotPool pool(GetParam(), 1);
  const Slot* first = pool.take().get();
  EXPECT_EQ(pool.idle(), 1u);
  EXPECT_EQ(pool.take().get(), first);
}

TEST_P(SlotPoolOfEverySize, slots_that_are_kept_are_all_made_at_first) {
  SlotPool pool(GetParam(), 3);
  std::set<const Slot*> made;
  for (int i = 0; i < 3; ++i) made.insert(pool.take().get());
  EXPECT_EQ(pool.idle(), 3u);
  EXPECT_EQ(made.size(), 3u);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(made.contains(pool.take().get()));
}

TEST(SlotPool, slot_held_is_never_given_to_another) {
  SlotPool pool(kSmall, 1);
  std::vector<std::shared_ptr<Slot>> held;
  for (int i = 0; i < 20; ++i) held.push_back(pool.take());
  for (size_t i = 0; i < held.size(); ++i) std::memset(held[i]->data(), static_cast<int>(i), 8);
  for (size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i]->data()[7], std::byte(i));
  EXPECT_EQ(pool.lent(), 20u);
}

TEST(SlotPool, no_more_than_keep_slots_wait) {
  SlotPool pool(kSmall, 3);
  std::vector<std::shared_ptr<Slot>> held;
  for (int i = 0; i < 10; ++i) held.push_back(pool.take());
  EXPECT_EQ(pool.idle(), 0u);
  held.clear();
  EXPECT_EQ(pool.idle(), 3u);
  EXPECT_EQ(pool.lent(), 0u);
}

TEST(SlotPool, pool_that_keeps_none_frees_every_slot) {
  SlotPool pool(kSmall, 0);
  pool.take();
  EXPECT_EQ(pool.idle(), 0u);
}

TEST_P(SlotPoolOfEverySize, slot_outlives_the_pool) {
  std::optional<SlotPool> pool(std::in_place, GetParam(), 2);
  const auto slot = pool->take();
  pool.reset();
  if (GetParam() > 0) std::memset(slot->data(), 1, GetParam());
}

TEST(SlotPool, impossible_size_is_bad_alloc_and_lends_nothing) {
  SlotPool pool(std::numeric_limits<size_t>::max() - 100, 2);
  EXPECT_THROW(pool.take(), std::bad_alloc);
  SlotPool wide(std::numeric_limits<size_t>::max() / 4, 2);
  EXPECT_THROW(wide.take(), std::bad_alloc);
  EXPECT_EQ(wide.lent(), 0u);
}

TEST(SlotPool, slots_are_taken_and_let_go_on_many_threads) {
  auto pool = std::make_unique<SlotPool>(kSmall, 2);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 500; ++i) {
        const auto slot = pool->take();
        std::memset(slot->data(), t, kSmall);
        EXPECT_EQ(slot->data()[kSmall - 1], std::byte(t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool->lent(), 0u);
  EXPECT_LE(pool->idle(), 2u);
}

TEST(SlotPool, slots_are_let_go_on_other_threads_while_the_pool_goes) {
  for (int round = 0; round < 50; ++round) {
    auto pool = std::make_unique<SlotPool>(kSmall, 2);
    auto slot = pool->take();
    std::thread other([held = std::move(slot)]() mutable { held.reset(); });
    pool.reset();
    other.join();
  }
}

TEST(SlotPool, forked_child_frees_slots_without_the_pool) {
  SlotPool pool(kSmall, 2);
  auto slot = pool.take();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    slot.reset();
    ::_exit(pool.idle() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fuelrail
