#include "fuelrail/base/errand.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace fuelrail {
namespace {

bool always() { return true; }

TEST(Errand, runs_on_another_thread_and_throws_what_the_work_throws) {
  std::thread::id where;
  EXPECT_TRUE(Errand().run([&] { where = std::this_thread::get_id(); }, always));
  EXPECT_NE(where, std::this_thread::get_id());
  EXPECT_THROW(Errand().run([] { throw std::runtime_error("mine"); }, always), std::runtime_error);
}

TEST(Errand, what_the_work_owns_is_gone_when_it_has_ended) {
  auto owned = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = owned;
  Errand().run([owned = std::move(owned)] {}, always);
  EXPECT_TRUE(seen.expired());
}

TEST(Errand, work_that_is_not_wanted_does_not_begin) {
  bool begun = false;
  EXPECT_FALSE(Errand().run([&] { begun = true; }, [] { return false; }));
  EXPECT_FALSE(begun);
}

TEST(Errand, work_that_hangs_is_left_behind_and_frees_what_it_owns_when_it_ends) {
  std::promise<void> gate;
  std::atomic<bool> freed = false;
  struct Owned {
    std::atomic<bool>& freed;
    ~Owned() { freed = true; }
  };
  const Errand errand;
  auto owned = std::shared_ptr<Owned>(new Owned{freed});
  int asked = 0;
  EXPECT_FALSE(Errand(errand).run(
      [errand, owned = std::move(owned), open = gate.get_future().share()] {
        open.wait();
        EXPECT_FALSE(errand.is_wanted());
        EXPECT_FALSE(errand.ask(always));  // the caller has left
        throw std::runtime_error("dropped");
      },
      [&] { return asked++ == 0; }));
  gate.set_value();
  while (!freed) std::this_thread::yield();
}

TEST(Errand, work_that_hears_that_it_is_not_wanted_ends_and_is_waited_for) {
  const Errand errand;
  int asked = 0;
  bool cleaned_up = false;
  EXPECT_TRUE(Errand(errand).run(
      [errand, &cleaned_up] {
        while (errand.is_wanted()) std::this_thread::yield();
        cleaned_up = true;
      },
      [&] { return asked++ == 0; }));
  EXPECT_TRUE(cleaned_up);
}

TEST(Errand, steps_run_on_the_callers_thread_one_at_a_time) {
  const Errand errand;
  const std::thread::id caller = std::this_thread::get_id();
  int steps = 0;
  const auto ask_often = [&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(errand.ask([&] {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        return ++steps > 0;
      }));
    }
  };
  Errand(errand).run(
      [&] {
        std::thread other(ask_often);
        ask_often();
        other.join();
      },
      always);
  EXPECT_EQ(steps, 200);
}

TEST(Errand, an_end_that_hangs_is_waited_for_no_longer_than_the_patience) {
  std::promise<void> gate;
  std::atomic<bool> ended = false;
  end_in_time([&, open = gate.get_future().share()] {
    open.wait();
    ended = true;
  });
  gate.set_value();
  while (!ended) std::this_thread::yield();
}

}  // namespace
}  // namespace fuelrail
