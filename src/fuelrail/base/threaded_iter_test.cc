#include "fuelrail/base/threaded_iter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/turnstile.h"

namespace fuelrail {
namespace {

using Cells = ThreadedIter<int>;

// Produces the numbers from 0 on. May throw in place of one number; counts its calls.
class CountingProducer {
 public:
  explicit CountingProducer(int end, int thrown_at = -1) : end_(end), thrown_at_(thrown_at) {}
  bool produce(std::unique_ptr<int>& cell) {
    if (next_ == end_) return false;
    if (next_ == thrown_at_) throw std::runtime_error("broken at " + std::to_string(next_));
    if (!cell) {
      cell = std::make_unique<int>();
      ++made;
    }
    *cell = next_++;
    ++produced;
    return true;
  }
  void rewind() { next_ = 0; }
  void repair() { thrown_at_ = -1; }
  void start(Cells& iter) {
    iter.init([this](std::unique_ptr<int>& cell) { return produce(cell); }, [this] { rewind(); });
  }

  std::atomic<int> made = 0;
  std::atomic<int> produced = 0;

 private:
  int next_ = 0;
  const int end_;
  int thrown_at_;
};

std::vector<int> rest_of(Cells& iter) {
  std::vector<int> numbers;
  while (auto cell = iter.next()) {
    numbers.push_back(*cell);
    iter.recycle(std::move(cell));
  }
  return numbers;
}

std::vector<int> numbers_to(int end) {
  std::vector<int> numbers;
  for (int i = 0; i < end; ++i) numbers.push_back(i);
  return numbers;
}

// As dmlc-core's unittest_threaditer does.
TEST(ThreadedIter, capacity_of_one_gives_ten_items_in_order_and_stays_at_the_end) {
  CountingProducer producer(10);
  Cells iter(1);
  producer.start(iter);
  EXPECT_EQ(rest_of(iter), numbers_to(10));
  EXPECT_EQ(iter.next(), nullptr);
  EXPECT_EQ(iter.next(), nullptr);
}

TEST(ThreadedIter, before_first_several_times_in_a_row_and_in_the_middle_begins_anew) {
  CountingProducer producer(10);
  Cells iter(1);
  producer.start(iter);
  iter.before_first();
  iter.before_first();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(*iter.next(), i);
  iter.before_first();
  EXPECT_EQ(rest_of(iter), numbers_to(10));
  iter.before_first();
  iter.before_first();
  EXPECT_EQ(rest_of(iter), numbers_to(10));
}

TEST(ThreadedIter, advance_and_value_are_the_form_for_one_consumer) {
  CountingProducer producer(10);
  Cells iter(2);
  producer.start(iter);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(iter.advance());
      EXPECT_EQ(iter.value(), i);
    }
    EXPECT_FALSE(iter.advance());
    iter.before_first();
  }
}

TEST(ThreadedIter, recycled_cells_are_filled_again) {
  CountingProducer producer(1000);
  Cells iter(3);
  producer.start(iter);
  EXPECT_EQ(rest_of(iter).size(), 1000u);
  EXPECT_LE(producer.made, 4);  // three queued or being filled, one held
}

TEST(ThreadedIter, producer_runs_ahead_by_the_capacity_and_no_further) {
  CountingProducer producer(100);
  Cells iter(5);
  producer.start(iter);
  ASSERT_TRUE(within_patience([&] { return producer.produced == 5; }));
  const auto held = iter.next();
  ASSERT_TRUE(within_patience([&] { return producer.produced == 6; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(producer.produced, 6);
}

TEST(ThreadedIter, default_capacity_is_eight) {
  CountingProducer producer(100);
  Cells iter;
  producer.start(iter);
  ASSERT_TRUE(within_patience([&] { return producer.produced == 8; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(producer.produced, 8);
}

TEST(ThreadedIter, items_before_an_error_come_before_it_and_it_is_the_original) {
  CountingProducer producer(10, 3);
  Cells iter(8);
  producer.start(iter);
  ASSERT_TRUE(within_patience([&] { return producer.produced == 3; }));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(*iter.next(), i);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(testing::refusal_of<std::runtime_error>([&] { iter.next(); }), "broken at 3");
  }
}

// As dmlc-core's unittest_threaditer_exc_handling does: an error at the last item.
TEST(ThreadedIter, error_is_forgotten_by_before_first_and_by_init) {
  CountingProducer producer(5, 4);
  Cells iter(1);
  producer.start(iter);
  EXPECT_THROW(rest_of(iter), std::runtime_error);
  iter.before_first();
  EXPECT_THROW(rest_of(iter), std::runtime_error);
  producer.rewind();
  producer.start(iter);
  EXPECT_THROW(rest_of(iter), std::runtime_error);
  producer.repair();
  iter.before_first();
  EXPECT_EQ(rest_of(iter), numbers_to(5));
}

TEST(ThreadedIter, the_librarys_own_errors_keep_their_type_and_detail) {
  Cells iter(1);
  iter.init([](std::unique_ptr<int>&) -> bool {
    throw CorruptError("the record is damaged", {.path = "a.rec", .offset = 12});
  });
  EXPECT_EQ(testing::refusal_of<CorruptError>([&] { iter.next(); }),
            "a.rec: offset 12: the record is damaged");
}

TEST(ThreadedIter, what_is_no_exception_class_comes_out_too) {
  Cells iter(1);
  iter.init([](std::unique_ptr<int>&) -> bool { throw 7; });
  EXPECT_THROW(iter.next(), int);
}

TEST(ThreadedIter, rewind_that_throws_throws_out_of_before_first_and_next) {
  bool broken = true;
  CountingProducer producer(3);
  Cells iter(1);
  iter.init([&](std::unique_ptr<int>& cell) { return producer.produce(cell); },
            [&] {
              if (broken) throw std::runtime_error("no way back");
              producer.rewind();
            });
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(testing::refusal_of<std::runtime_error>([&] { iter.before_first(); }), "no way back");
    EXPECT_EQ(testing::refusal_of<std::runtime_error>([&] { iter.next(); }), "no way back");
  }
  broken = false;
  iter.before_first();
  EXPECT_EQ(rest_of(iter), numbers_to(3));
}

TEST(ThreadedIter, without_a_rewind_function_there_is_no_way_back) {
  CountingProducer producer(3);
  Cells iter(1);
  iter.init([&](std::unique_ptr<int>& cell) { return producer.produce(cell); });
  EXPECT_THROW(iter.before_first(), UnsupportedError);
  EXPECT_EQ(rest_of(iter), numbers_to(3));
}

TEST(ThreadedIter, before_first_may_move_the_producer_elsewhere) {
  int from = 0;
  Cells iter(4);
  iter.init([&](std::unique_ptr<int>& cell) {
    cell = std::make_unique<int>(from++);
    return true;
  });
  EXPECT_EQ(*iter.next(), 0);
  iter.before_first([&] { from = 100; });
  EXPECT_EQ(*iter.next(), 100);
  EXPECT_EQ(*iter.next(), 101);
}

TEST(ThreadedIter, a_producer_that_makes_no_cell_is_an_error) {
  Cells iter(1);
  iter.init([](std::unique_ptr<int>&) { return true; });
  EXPECT_THROW(iter.next(), StateError);
}

TEST(ThreadedIter, destroy_at_any_time_ends_it_for_good) {
  for (int taken = 0; taken <= 10; ++taken) {
    CountingProducer producer(10);
    Cells iter(2);
    producer.start(iter);
    for (int i = 0; i < taken; ++i) iter.next();
    iter.destroy();
    iter.destroy();
    EXPECT_EQ(iter.next(), nullptr);
    iter.before_first();
    EXPECT_EQ(iter.next(), nullptr);
    producer.rewind();
    producer.start(iter);
    EXPECT_EQ(rest_of(iter), numbers_to(10));
  }
}

TEST(ThreadedIter, before_init_there_is_nothing) {
  Cells iter;
  EXPECT_EQ(iter.next(), nullptr);
  iter.before_first();
  iter.destroy();
}

TEST(ThreadedIter, destroy_lets_out_a_consumer_that_waits) {
  Turnstile gate;
  Cells iter(2);
  iter.init([&](std::unique_ptr<int>& cell) {
    gate.pass(0);
    cell = std::make_unique<int>(1);
    return true;
  });
  ASSERT_TRUE(gate.await(1));
  std::unique_ptr<int> got = std::make_unique<int>(5);
  std::thread consumer([&] { got = iter.next(); });
  std::thread destroyer([&] { iter.destroy(); });
  consumer.join();
  EXPECT_EQ(got, nullptr);
  gate.open();
  destroyer.join();
}

TEST(ThreadedIter, many_consumers_share_every_item_once) {
  CountingProducer producer(5000);
  Cells iter(4);
  producer.start(iter);
  std::mutex mutex;
  std::multiset<int> all;
  {
    std::vector<std::jthread> consumers;
    for (int c = 0; c < 4; ++c) {
      consumers.emplace_back([&] {
        const std::vector<int> mine = rest_of(iter);
        const std::lock_guard lock(mutex);
        all.insert(mine.begin(), mine.end());
      });
    }
  }
  EXPECT_EQ(all.size(), 5000u);
  EXPECT_EQ(std::set<int>(all.begin(), all.end()).size(), 5000u);
}

TEST(ThreadedIter, before_first_beside_consumers_loses_nothing_of_the_last_pass) {
  CountingProducer producer(200);
  Cells iter(2);
  producer.start(iter);
  std::atomic<bool> stop = false;
  std::jthread rewinder([&] {
    for (int i = 0; i < 50; ++i) iter.before_first();
    stop = true;
  });
  while (!stop) iter.recycle(iter.next());
  rewinder.join();
  iter.before_first();
  EXPECT_EQ(rest_of(iter), numbers_to(200));
}

TEST(ThreadedIter, forked_child_is_told_and_may_let_go) {
  CountingProducer producer(10);
  Cells iter(2);
  producer.start(iter);
  EXPECT_EQ(*iter.next(), 0);
  const std::string said = in_forked_child([&]() -> std::string {
    const std::string next = testing::refusal_of<StateError>([&] { iter.next(); });
    testing::refusal_of<StateError>([&] { iter.before_first(); });
    testing::refusal_of<StateError>([&] { iter.recycle(std::make_unique<int>(1)); });
    iter.destroy();
    producer.rewind();
    producer.start(iter);
    return next + "; " + std::to_string(rest_of(iter).size());
  });
  EXPECT_EQ(said,
            "the iterator's thread exists only in the parent process. Create a new iterator after "
            "the fork.; 10");
  EXPECT_EQ(rest_of(iter).size(), 9u);
}

TEST(ThreadedIter, capacity_of_none_is_refused) { EXPECT_THROW(Cells(0), InvalidArgumentError); }

}  // namespace
}  // namespace fuelrail
