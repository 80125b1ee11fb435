#include "fuelrail/storage/read_queue.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <optional>
#include <string>

#include "fuelrail/storage/local/posix.h"
#include "fuelrail/testing/forbidden_call.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/read_queue_conformance.h"

namespace fuelrail {
namespace {

template <int kThreads, ReadBackend kBackend = ReadBackend::kPread>
struct Threads {
  std::unique_ptr<ReadQueue> make() {
    return make_read_queue({.threads = kThreads, .backend = kBackend});
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Inline, ReadQueueConformance, Threads<0>);
INSTANTIATE_TYPED_TEST_SUITE_P(OneThread, ReadQueueConformance, Threads<1>);
INSTANTIATE_TYPED_TEST_SUITE_P(FourThreads, ReadQueueConformance, Threads<4>);

// If the kernel refuses io_uring, these tests run on the pool again.
using Auto = Threads<4, ReadBackend::kAuto>;
using AutoOneThread = Threads<1, ReadBackend::kAuto>;
INSTANTIATE_TYPED_TEST_SUITE_P(Auto, ReadQueueConformance, Auto);
INSTANTIATE_TYPED_TEST_SUITE_P(AutoOneThread, ReadQueueConformance, AutoOneThread);

TEST(ReadQueue, a_wrong_number_of_threads_is_refused) {
  EXPECT_THROW(make_read_queue({.threads = -1}), InvalidArgumentError);
  EXPECT_THROW(make_read_queue({.threads = kMaxReadThreads + 1}), InvalidArgumentError);
  EXPECT_THROW(make_read_queue({.threads = 0, .backend = ReadBackend::kIoUring}),
               InvalidArgumentError);
}

TEST(ReadQueue, the_backend_can_be_chosen_and_has_a_name) {
  EXPECT_STREQ(make_read_queue({.threads = 0})->backend_name(), "inline");
  EXPECT_STREQ(make_read_queue({.backend = ReadBackend::kPread})->backend_name(), "pread");
  const std::string refusal = io_uring_refusal();
  EXPECT_STREQ(make_read_queue({})->backend_name(), refusal.empty() ? "io_uring" : "pread");
  if (refusal.empty()) {
    EXPECT_STREQ(make_read_queue({.backend = ReadBackend::kIoUring})->backend_name(), "io_uring");
  } else {
    EXPECT_THROW(make_read_queue({.backend = ReadBackend::kIoUring}), UnsupportedError);
  }
}

TEST(ReadQueue, what_threads_read_is_not_said_to_be_read_by_io_uring) {
  const auto source = memory_source("memory", numbered_bytes(10));
  std::byte byte{};
  const ReadRequest request{source.get(), 0, {&byte, 1}, 0};
  const auto queue = make_read_queue({});
  queue->submit({&request, 1});
  std::vector<Completion> completions(1);
  EXPECT_EQ(queue->wait(completions, 1), 1u);
  EXPECT_STREQ(queue->backend_name(), "pread");
}

// As Docker's seccomp profile does by default: io_uring_setup is not permitted.
std::optional<std::string> in_child_without_io_uring(const std::function<std::string()>& body) {
  return in_child_without(SYS_io_uring_setup, EPERM, body);
}

TEST(ReadQueue, where_the_kernel_refuses_io_uring_threads_read) {
  const ReadFile file(1'000);
  const auto said = in_child_without_io_uring([&] {
    const auto queue = make_read_queue({});
    std::byte into{0};
    const ReadRequest request{&file.source(), 700, {&into, 1}, 0};
    queue->submit({&request, 1});
    Completion done;
    queue->wait({&done, 1}, 1);
    return std::string(queue->backend_name()) + (into == file.bytes()[700] ? " right" : "");
  });
  if (!said) GTEST_SKIP() << kNoFilters;
  EXPECT_EQ(*said, "pread right");
}

TEST(ReadQueue, io_uring_that_is_asked_for_and_refused_is_unsupported) {
  const auto said = in_child_without_io_uring([]() -> std::string {
    try {
      make_read_queue({.backend = ReadBackend::kIoUring});
    } catch (const UnsupportedError& error) {
      return error.detail().found;
    }
    return "made";
  });
  if (!said) GTEST_SKIP() << kNoFilters;
  EXPECT_EQ(*said, "the kernel's settings or a container's seccomp profile forbid io_uring");
}

TEST(ReadQueue, the_inline_queue_reads_in_order_and_only_what_is_asked_for) {
  const auto source = memory_source("memory", numbered_bytes(100));
  std::vector<std::byte> memory(30);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < 3; ++i) {
    requests.push_back({source.get(), i * 10, MutableBytes(memory).subspan(i * 10, 10), i});
  }
  const auto queue = make_read_queue({.threads = 0});
  queue->submit(requests);
  std::vector<Completion> completions(3);
  EXPECT_EQ(queue->wait(completions, 0), 0u);
  EXPECT_EQ(queue->wait(completions, 2), 2u);
  EXPECT_EQ(completions[0].tag, 0u);
  EXPECT_EQ(completions[1].tag, 1u);
  EXPECT_TRUE(std::all_of(memory.begin() + 20, memory.end(),
                          [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_EQ(queue->wait(completions, 3), 1u);
  EXPECT_EQ(completions[0].tag, 2u);
}

TEST(ReadQueue, the_pool_reads_as_many_at_once_as_it_has_threads) {
  GatedSource source;
  std::vector<std::byte> memory(8);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < 8; ++i) {
    requests.push_back({&source, i, MutableBytes(memory).subspan(i, 1), i});
  }
  const auto queue = make_read_queue({.threads = 3});
  for (const ReadRequest& request : requests) queue->submit({&request, 1});
  source.await_reads(3);  // hangs if there are fewer
  source.open();
  std::vector<Completion> completions(8);
  EXPECT_EQ(queue->wait(completions, 8), 8u);
}

class SignalMaskSource final : public Source {
 public:
  uint64_t size_bytes() const override { return 1; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t, MutableBytes into) const override {
    sigset_t mask;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    into[0] = static_cast<std::byte>(::sigismember(&mask, SIGINT));
  }

 private:
  std::string uri_ = "mask";
};

TEST(ReadQueue, each_thread_tells_of_its_completions_once_they_are_there) {
  const auto source = memory_source("memory", numbered_bytes(10));
  std::byte byte{};
  std::vector<ReadRequest> requests(20, {source.get(), 0, {&byte, 1}, 0});
  std::atomic<size_t> told = 0;
  std::unique_ptr<ReadQueue> queue;
  queue = make_read_queue({.threads = 1, .backend = ReadBackend::kPread}, {.on_completion = [&] {
                            told += 1;
                            told.notify_all();
                          }});
  for (size_t i = 0; i < requests.size(); ++i) {
    queue->submit({&requests[i], 1});
    told.wait(i);
    Completion completion;
    EXPECT_EQ(queue->wait({&completion, 1}, 0), 1u);
  }
  EXPECT_EQ(told, requests.size());
  EXPECT_THROW(make_read_queue({}, {.on_completion = [] {}}), InvalidArgumentError);
}

TEST(ReadQueue, more_threads_read_more_at_once) {
  GatedSource source;
  std::vector<std::byte> memory(40);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < 40; ++i) {
    requests.push_back({&source, i, MutableBytes(memory).subspan(i, 1), i});
  }
  for (const ReadBackend backend : {ReadBackend::kPread, ReadBackend::kAuto}) {
    const auto queue = make_read_queue({.threads = 2, .backend = backend});
    queue->submit(std::span(requests).first(20));
    queue->set_threads(15);
    source.await_reads(15);  // hangs if there are fewer
    queue->set_threads(25);
    queue->submit(std::span(requests).last(20));
    source.await_reads(25);
    source.open();
    std::vector<Completion> completions(40);
    EXPECT_EQ(queue->wait(completions, 40), 40u);
    source.close();
  }
}

TEST(ReadQueue, threads_of_the_pool_leave_signals_to_the_program) {
  const SignalMaskSource source;
  std::byte blocked{0};
  const ReadRequest request{&source, 0, {&blocked, 1}, 0};
  const auto queue = make_read_queue({.threads = 1});
  queue->submit({&request, 1});
  std::vector<Completion> completions(1);
  queue->wait(completions, 1);
  EXPECT_EQ(blocked, std::byte{1});
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_FALSE(::sigismember(&mask, SIGINT));
}

TEST(ReadQueue, a_forked_child_is_refused_and_can_let_go) {
  GatedSource source;
  std::byte into{0};
  const ReadRequest request{&source, 1, {&into, 1}, 0};
  auto queue = make_read_queue({.threads = 2});
  queue->submit({&request, 1});
  source.await_reads(1);
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              try {
                queue->submit({&request, 1});
              } catch (const StateError&) {
                queue->interrupt();
                queue->cancel();
                queue.reset();  // hangs if it joins the parent's threads
                return "refused";
              }
              return "accepted";
            }),
            "refused");
  source.open();
  std::vector<Completion> completions(1);
  EXPECT_EQ(queue->wait(completions, 1), 1u);
}

TEST(ReadQueue, a_forked_child_is_refused_by_a_queue_without_threads_too) {
  const auto queue = make_read_queue({.threads = 0});
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              try {
                queue->in_flight();
              } catch (const StateError&) {
                return "refused";
              }
              return "accepted";
            }),
            "refused");
}

}  // namespace
}  // namespace fuelrail
