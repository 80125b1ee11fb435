#include "fuelrail/base/ordered_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace fuelrail {
namespace {

using namespace std::chrono_literals;

template <typename Result>
Result wait_for_next(OrderedWork<Result>& work) {
  for (;;) {
    if (auto result = work.take(100ms)) return *std::move(result);
  }
}

uint64_t weigh(const uint64_t&) { return 8; }

TEST(OrderedWork, results_come_in_order_for_any_number_of_threads) {
  for (int threads : {1, 2, 5, 20}) {
    OrderedWork<uint64_t> work(
        {.items = 500, .threads = threads, .capacity_bytes = 4096},
        [] { return [](uint64_t i) { return i * i; }; }, weigh);
    for (uint64_t i = 0; i < 500; ++i) ASSERT_EQ(wait_for_next(work), i * i) << threads;
  }
}

TEST(OrderedWork, each_thread_has_one_worker) {
  std::atomic<int> workers{0};
  OrderedWork<uint64_t> work(
      {.items = 100, .threads = 3},
      [&workers] {
        ++workers;
        return [](uint64_t i) { return i; };
      },
      weigh);
  for (uint64_t i = 0; i < 100; ++i) wait_for_next(work);
  EXPECT_LE(workers, 3);
  EXPECT_GE(workers, 1);
}

TEST(OrderedWork, an_items_error_comes_at_its_place) {
  OrderedWork<uint64_t> work(
      {.items = 10, .threads = 3},
      [] {
        return [](uint64_t i) {
          if (i == 4) throw std::runtime_error("four");
          return i;
        };
      },
      weigh);
  for (uint64_t i = 0; i < 10; ++i) {
    if (i == 4) {
      EXPECT_THROW(wait_for_next(work), std::runtime_error);
    } else {
      EXPECT_EQ(wait_for_next(work), i);
    }
  }
}

TEST(OrderedWork, a_worker_that_cannot_be_made_is_an_error_of_its_items) {
  OrderedWork<uint64_t> work(
      {.items = 3, .threads = 1},
      []() -> OrderedWork<uint64_t>::Worker { throw std::runtime_error("no worker"); }, weigh);
  EXPECT_THROW(wait_for_next(work), std::runtime_error);
}

TEST(OrderedWork, leaving_early_ends_the_threads) {
  OrderedWork<uint64_t> work(
      {.items = 1'000'000, .threads = 4, .capacity_bytes = 2048},
      [] { return [](uint64_t i) { return i; }; }, weigh);
  EXPECT_EQ(wait_for_next(work), 0u);
}

TEST(OrderedWork, the_last_result_ends_the_threads_before_the_last_item) {
  std::atomic<uint64_t> processed = 0;
  OrderedWork<uint64_t> work(
      {.items = UINT64_MAX, .threads = 4},
      [&] {
        return [&](uint64_t i) {
          ++processed;
          return i;
        };
      },
      weigh, [](uint64_t i) { return i >= 100; });
  for (uint64_t i = 0; i <= 100; ++i) EXPECT_EQ(wait_for_next(work), i);
  EXPECT_GE(processed, 101u);
  EXPECT_LE(processed, 104u);  // one more for each other thread
}

TEST(OrderedWork, nothing_to_do_is_fine) {
  OrderedWork<uint64_t> work(
      {.items = 0, .threads = 4}, [] { return [](uint64_t i) { return i; }; }, weigh);
}

}  // namespace
}  // namespace fuelrail
