#include "fuelrail/engine/read_buffers.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <limits>
#include <new>
#include <random>
#include <utility>

namespace fuelrail {
namespace {

constexpr size_t kLimit = size_t{1} << 20;

TEST(ReadBuffers, buffer_holds_what_was_asked_for_and_little_more) {
  ReadBuffers buffers(kLimit, 100, 1);
  for (size_t bytes = 1; bytes < 3000000; bytes = bytes * 9 / 8 + 1) {
    ReadBuffer buffer = buffers.take(bytes);
    EXPECT_GE(buffer.capacity, bytes);
    if (bytes >= 1024) {
      EXPECT_LE(buffer.capacity, bytes + bytes / 4 + 1);
    }
    std::memset(buffer.data.get(), 1, buffer.capacity);
  }
}

TEST(ReadBuffers, buffer_given_back_is_taken_again) {
  ReadBuffers buffers(kLimit, 100, 1);
  ReadBuffer first = buffers.take(100000);
  const std::byte* data = first.data.get();
  buffers.give_back(std::move(first));
  EXPECT_EQ(buffers.in_use(), 0u);
  EXPECT_GT(buffers.idle_bytes(), 0u);
  EXPECT_EQ(buffers.take(99000).data.get(), data);
  EXPECT_EQ(buffers.allocations(), 1u);
}

TEST(ReadBuffers, bytes_are_bounded) {
  ReadBuffers buffers(kLimit, 1000, 1);
  std::deque<ReadBuffer> held;
  while (buffers.admits(65536)) held.push_back(buffers.take(65536));
  EXPECT_EQ(held.size(), 16u);
  EXPECT_FALSE(buffers.has_room());
}

TEST(ReadBuffers, number_is_bounded) {
  ReadBuffers buffers(kLimit, 20, 1);
  std::deque<ReadBuffer> held;
  while (buffers.admits(1)) held.push_back(buffers.take(1));
  EXPECT_EQ(held.size(), 20u);
}

TEST(ReadBuffers, room_comes_back_when_a_quarter_is_free) {
  ReadBuffers buffers(kLimit, 1000, 1);
  std::deque<ReadBuffer> held;
  while (buffers.admits(65536)) held.push_back(buffers.take(65536));
  for (int i = 0; i < 3; ++i) {
    buffers.give_back(std::move(held.front()));
    held.pop_front();
    EXPECT_FALSE(buffers.has_room());
  }
  buffers.give_back(std::move(held.front()));
  EXPECT_TRUE(buffers.has_room());
}

TEST(ReadBuffers, records_above_the_bound_are_read_for_every_worker) {
  ReadBuffers buffers(1000, 1000, 4);
  std::deque<ReadBuffer> held;
  while (buffers.admits(100000)) held.push_back(buffers.take(100000));
  EXPECT_EQ(held.size(), 4u);
  for (ReadBuffer& buffer : held) buffers.give_back(std::move(buffer));
  EXPECT_EQ(buffers.idle_bytes(), 0u);  // idle buffers beyond the limit are freed
}

TEST(ReadBuffers, idle_memory_stays_within_the_bound) {
  ReadBuffers buffers(kLimit, 1000, 1);
  std::mt19937 random(5);
  std::deque<ReadBuffer> held;
  for (int i = 0; i < 20000; ++i) {
    const size_t bytes = 1 + random() % 200000;
    if (buffers.admits(bytes)) {
      held.push_back(buffers.take(bytes));
    } else {
      buffers.give_back(std::move(held.front()));
      held.pop_front();
    }
    EXPECT_LE(buffers.in_use_bytes() + buffers.idle_bytes(), kLimit + kLimit / 4 + 262144);
  }
}

TEST(ReadBuffers, steady_state_allocates_almost_nothing) {
  ReadBuffers buffers(size_t{32} << 20, 1024, 4);
  std::mt19937 random(6);
  std::deque<ReadBuffer> held;
  const auto round = [&](int records) {
    for (int i = 0; i < records; ++i) {
      const size_t bytes = 50000 + random() % 120000;  // photographs of about 110 KB
      while (!buffers.admits(bytes)) {
        buffers.give_back(std::move(held.front()));
        held.pop_front();
      }
      held.push_back(buffers.take(bytes));
    }
  };
  round(5000);
  const size_t before = buffers.allocations();
  round(100000);
  EXPECT_LT(buffers.allocations() - before, 1000u);  // one record in a hundred
}

TEST(ReadBuffers, impossible_size_is_bad_alloc_and_takes_nothing) {
  ReadBuffers buffers(kLimit, 100, 1);
  EXPECT_THROW(buffers.take(std::numeric_limits<size_t>::max()), std::bad_alloc);
  EXPECT_THROW(buffers.take(size_t{1} << 63), std::bad_alloc);
  EXPECT_EQ(buffers.in_use(), 0u);
}

TEST(ReadBuffers, empty_buffer_is_given_back_without_effect) {
  ReadBuffers buffers(kLimit, 100, 1);
  buffers.give_back({});
  EXPECT_EQ(buffers.in_use(), 0u);
}

}  // namespace
}  // namespace fuelrail
