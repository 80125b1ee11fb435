#include "fuelrail/batch/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace fuelrail {
namespace {

TEST(Arena, pieces_are_aligned_and_never_overlap) {
  std::mt19937 random(3);
  Arena arena;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::byte*, size_t>> pieces;
    for (int i = 0; i < 200; ++i) {
      const size_t bytes = random() % 300'000;
      std::byte* const piece = arena.allocate(bytes);
      ASSERT_NE(piece, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % 64, 0u);
      std::memset(piece, i, bytes);
      pieces.push_back({piece, bytes});
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto [piece, bytes] = pieces[i];
      if (bytes == 0) continue;
      EXPECT_EQ(piece[0], std::byte(i));
      EXPECT_EQ(piece[bytes - 1], std::byte(i));
    }
    arena.clear();
  }
}

TEST(Arena, memory_is_used_again_after_clear) {
  Arena arena;
  for (int i = 0; i < 100; ++i) arena.allocate(1'000'000);
  const size_t capacity = arena.capacity_bytes();
  EXPECT_GE(capacity, 100'000'000u);
  for (int round = 0; round < 10; ++round) {
    arena.clear();
    for (int i = 0; i < 100; ++i) arena.allocate(1'000'000);
  }
  EXPECT_EQ(arena.capacity_bytes(), capacity);
}

TEST(Arena, piece_larger_than_a_block_is_one_piece) {
  Arena arena;
  const size_t bytes = size_t{40} << 20;
  std::byte* const piece = arena.allocate(bytes);
  piece[0] = piece[bytes - 1] = std::byte{1};
}

TEST(Arena, impossible_size_is_bad_alloc_and_changes_nothing) {
  Arena arena;
  EXPECT_THROW(arena.allocate(std::numeric_limits<size_t>::max()), std::bad_alloc);
  EXPECT_THROW(arena.allocate(std::numeric_limits<size_t>::max() / 2), std::bad_alloc);
  EXPECT_EQ(arena.capacity_bytes(), 0u);
}

TEST(Arena, threads_get_pieces_of_their_own) {
  Arena arena;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&arena, t] {
      std::vector<std::byte*> pieces;
      for (int i = 0; i < 200; ++i) {
        pieces.push_back(arena.allocate(1000));
        std::memset(pieces.back(), t, 1000);
      }
      for (const std::byte* piece : pieces) EXPECT_EQ(piece[999], std::byte(t));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace fuelrail
