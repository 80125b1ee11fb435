#include "fuelrail/storage/read_queue.h"

#include <signal.h>

#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/read_queue_conformance.h"

namespace fuelrail {
namespace {

template <int kThreads>
struct Threads {
  std::unique_ptr<ReadQueue> make() { return make_read_queue({.threads = kThreads}); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Inline, ReadQueueConformance, Threads<0>);
INSTANTIATE_TYPED_TEST_SUITE_P(OneThread, ReadQueueConformance, Threads<1>);
INSTANTIATE_TYPED_TEST_SUITE_P(FourThreads, ReadQueueConformance, Threads<4>);

TEST(ReadQueue, a_wrong_number_of_threads_is_refused) {
  EXPECT_THROW(make_read_queue({.threads = -1}), InvalidArgumentError);
  EXPECT_THROW(make_read_queue({.threads = kMaxReadThreads + 1}), InvalidArgumentError);
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
  source.await_reads(3);  // would hang, were they fewer
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
  MappedBytes map() const override { return {}; }

 private:
  std::string uri_ = "mask";
};

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
                queue.reset();  // would hang, were the parent's threads joined
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
