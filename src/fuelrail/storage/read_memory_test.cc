#include "fuelrail/storage/read_memory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/storage/read_queue.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/idle_reads.h"

namespace fuelrail {
namespace {

class ReadMemory : public ::testing::Test {
 protected:
  ReadMemory() { free_idle_read_memory(); }
  ~ReadMemory() override { free_idle_read_memory(); }
};

TEST_F(ReadMemory, what_the_last_owner_lets_go_is_used_again) {
  auto first = read_memory(100'000);
  const std::byte* const at = first.get();
  auto second_owner = first;
  first.reset();
  EXPECT_EQ(idle_read_memory_bytes(), 0u);
  second_owner.reset();
  EXPECT_GE(idle_read_memory_bytes(), 100'000u);
  EXPECT_EQ(read_memory(99'000).get(), at);
}

TEST_F(ReadMemory, two_owners_never_share) {
  std::vector<std::shared_ptr<std::byte>> held;
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    const size_t bytes = 1 + random() % 200'000;
    held.push_back(read_memory(bytes, round % 3 == 0));
    std::memset(held.back().get(), static_cast<int>(held.size() % 251), bytes);
    if (held.size() > 20) held.erase(held.begin() + static_cast<ptrdiff_t>(random() % 20));
  }
  SUCCEED();  // ASan and valgrind see an overlap, or a byte beyond the end
}

TEST_F(ReadMemory, little_is_mallocs_business) {
  read_memory(1'000);
  read_memory(0);
  EXPECT_EQ(idle_read_memory_bytes(), 0u);
  EXPECT_NE(read_memory(0), nullptr);
}

TEST_F(ReadMemory, aligned_memory_is_whatever_its_size) {
  for (const size_t bytes : {size_t{1}, size_t{5'000}, size_t{1} << 20}) {
    const auto memory = read_memory(bytes, true);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % kDirectAlignment, 0u);
  }
}

TEST_F(ReadMemory, idle_memory_is_bounded_and_the_sizes_of_long_ago_go_first) {
  { const auto once = read_memory(60'000'000); }
  EXPECT_GE(idle_read_memory_bytes(), 60'000'000u);
  for (int i = 0; i < 3; ++i) {
    std::vector<std::shared_ptr<std::byte>> batch;
    for (int k = 0; k < 9; ++k) batch.push_back(read_memory(6'000'000));
  }
  EXPECT_GE(idle_read_memory_bytes(), 54'000'000u);
  EXPECT_LE(idle_read_memory_bytes(), kMostIdleBytes);
  const size_t before = idle_read_memory_bytes();
  { const auto huge = read_memory(300'000'000); }  // too large to be kept
  EXPECT_EQ(idle_read_memory_bytes(), before);
  free_idle_read_memory();
  EXPECT_EQ(idle_read_memory_bytes(), 0u);
}

TEST_F(ReadMemory, more_than_there_can_be_is_refused) {
  EXPECT_THROW(read_memory(SIZE_MAX), std::bad_alloc);
#ifndef FUELRAIL_SANITIZED
  EXPECT_THROW(read_memory(size_t{1} << 62), std::bad_alloc);
#endif
}

TEST_F(ReadMemory, a_child_that_is_forked_under_others_takes_and_gives) {
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop.load(std::memory_order_relaxed)) read_memory(50'000);
  });
  auto mine = read_memory(60'000);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(in_forked_child([&]() -> std::string {
                mine.reset();
                return read_memory(60'000) ? "taken" : "";
              }),
              "taken");
  }
  stop.store(true, std::memory_order_relaxed);
  other.join();
}

}  // namespace
}  // namespace fuelrail
