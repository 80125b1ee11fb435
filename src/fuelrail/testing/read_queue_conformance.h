// What every ReadQueue must do. An implementation's test names a maker and instantiates the suite:
//
//   struct FourThreads { std::unique_ptr<ReadQueue> make() { return make_read_queue({4}); } };
//   INSTANTIATE_TYPED_TEST_SUITE_P(FourThreads, ReadQueueConformance, FourThreads);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/testing/source_conformance.h"

namespace fuelrail {

// A source whose reads stand still until the gate is opened.
class GatedSource final : public Source {
 public:
  uint64_t size_bytes() const override { return 1'000; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t offset, MutableBytes into) const override {
    {
      std::unique_lock hold(mutex_);
      ++waiting_;
      arrived_.notify_all();
      opened_.wait(hold, [this] { return open_; });
    }
    std::fill(into.begin(), into.end(), static_cast<std::byte>(offset));
  }
  MappedBytes map() const override { return {}; }

  void open() {
    std::lock_guard hold(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  // Waits until `reads` reads have arrived at the gate.
  void await_reads(int reads) const {
    std::unique_lock hold(mutex_);
    arrived_.wait(hold, [&] { return waiting_ >= reads; });
  }

 private:
  std::string uri_ = "gated";
  mutable std::mutex mutex_;
  mutable std::condition_variable opened_;
  mutable std::condition_variable arrived_;
  mutable int waiting_ = 0;
  bool open_ = false;
};

inline std::string message_of(const std::exception_ptr& error) {
  if (error == nullptr) return "";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& caught) {
    return caught.what();
  }
}

// Requires of Maker: `std::unique_ptr<ReadQueue> make()`.
template <typename Maker>
class ReadQueueConformance : public testing::Test {
 protected:
  // Waits for everything that is in flight. Returns: error messages by tag.
  std::map<uint64_t, std::string> drain(size_t at_a_time = 8) {
    std::map<uint64_t, std::string> messages;
    std::vector<Completion> completions(at_a_time);
    while (queue_->in_flight() > 0) {
      const size_t count = queue_->wait(completions, 1);
      EXPECT_GE(count, 1u);
      for (size_t i = 0; i < count; ++i) {
        EXPECT_TRUE(messages.emplace(completions[i].tag, message_of(completions[i].error)).second)
            << "completed twice: " << completions[i].tag;
      }
    }
    return messages;
  }

  // Requests for `count` pieces of 100 bytes, tagged with their index.
  std::vector<ReadRequest> pieces(const Source& source, size_t count) {
    memory_.assign(count * 100, std::byte{0});
    std::vector<ReadRequest> requests;
    for (size_t i = 0; i < count; ++i) {
      requests.push_back({&source, (i * 37) % (source.size_bytes() - 99),
                          MutableBytes(memory_).subspan(i * 100, 100), i});
    }
    return requests;
  }

  static bool holds(const ReadRequest& request, const std::vector<std::byte>& bytes) {
    return std::equal(request.into.begin(), request.into.end(),
                      bytes.begin() + static_cast<ptrdiff_t>(request.offset));
  }

  ReadQueue& queue() { return *queue_; }
  void destroy_queue() { queue_.reset(); }

 private:
  Maker maker_;
  std::vector<std::byte> memory_;  // outlives the queue
  std::unique_ptr<ReadQueue> queue_ = maker_.make();
};

TYPED_TEST_SUITE_P(ReadQueueConformance);

TYPED_TEST_P(ReadQueueConformance, every_request_completes_once_with_its_bytes) {
  const auto bytes = numbered_bytes(10'000);
  const auto source = memory_source("memory", bytes);
  const auto requests = this->pieces(*source, 500);
  for (size_t at = 0; at < requests.size();) {  // in groups of 1 to 7, drained now and then
    const size_t count = std::min(requests.size() - at, 1 + at % 7);
    this->queue().submit(std::span(requests).subspan(at, count));
    at += count;
  }
  EXPECT_EQ(this->queue().in_flight(), requests.size());
  const auto messages = this->drain();
  ASSERT_EQ(messages.size(), requests.size());
  for (const ReadRequest& request : requests) {
    EXPECT_EQ(messages.at(request.tag), "");
    EXPECT_TRUE(this->holds(request, bytes)) << request.tag;
  }
}

TYPED_TEST_P(ReadQueueConformance, a_failed_read_is_its_own_completion) {
  const auto bytes = numbered_bytes(10'000);
  const auto source = memory_source("memory", bytes);
  auto requests = this->pieces(*source, 20);
  requests[7].offset = 9'950;
  this->queue().submit(requests);
  const auto messages = this->drain();
  for (const ReadRequest& request : requests) {
    if (request.tag == 7) {
      EXPECT_NE(messages.at(7).find("offset 9950"), std::string::npos) << messages.at(7);
    } else {
      EXPECT_EQ(messages.at(request.tag), "");
    }
  }
}

TYPED_TEST_P(ReadQueueConformance, waiting_with_nothing_in_flight_returns_at_once) {
  std::vector<Completion> completions(4);
  EXPECT_EQ(this->queue().wait(completions, 4), 0u);
  EXPECT_EQ(this->queue().wait({}, 0), 0u);
  this->queue().submit({});
  EXPECT_EQ(this->queue().in_flight(), 0u);
  this->queue().cancel();
  EXPECT_EQ(this->queue().wait(completions, 1), 0u);
}

TYPED_TEST_P(ReadQueueConformance, wait_returns_at_least_what_was_asked_and_no_more_than_fits) {
  const auto source = memory_source("memory", numbered_bytes(1'000));
  const auto requests = this->pieces(*source, 10);
  this->queue().submit(requests);
  std::vector<Completion> completions(4);
  EXPECT_EQ(this->queue().wait(completions, 4), 4u);
  EXPECT_EQ(this->queue().in_flight(), 6u);
  std::vector<Completion> rest(20);
  EXPECT_EQ(this->queue().wait(rest, 20), 6u);  // fewer are in flight
  EXPECT_EQ(this->queue().in_flight(), 0u);
}

TYPED_TEST_P(ReadQueueConformance, submit_does_not_wait_for_reads) {
  GatedSource source;
  const auto requests = this->pieces(source, 50);
  this->queue().submit(requests);  // would hang here
  EXPECT_EQ(this->queue().in_flight(), 50u);
  source.open();
  EXPECT_EQ(this->drain().size(), 50u);
}

TYPED_TEST_P(ReadQueueConformance, cancelled_requests_complete_with_an_error_and_the_queue_lives) {
  GatedSource source;
  auto requests = this->pieces(source, 50);
  this->queue().submit(requests);
  this->queue().cancel();
  source.open();
  const auto messages = this->drain();
  ASSERT_EQ(messages.size(), 50u);
  size_t cancelled = 0;
  for (const auto& [tag, message] : messages) {
    EXPECT_TRUE(message.empty() || message == "cancelled") << message;
    cancelled += !message.empty();
  }
  EXPECT_GE(cancelled, 40u);  // those that no thread had taken
  this->queue().submit(requests);
  for (const auto& [tag, message] : this->drain()) EXPECT_EQ(message, "") << tag;
}

TYPED_TEST_P(ReadQueueConformance, cancel_wakes_who_waits) {
  GatedSource source;
  const auto requests = this->pieces(source, 30);
  this->queue().submit(requests);
  std::latch about_to_cancel(1);
  std::thread canceller([&] {
    about_to_cancel.wait();
    this->queue().cancel();
    source.open();
  });
  about_to_cancel.count_down();
  std::vector<Completion> completions(30);
  EXPECT_EQ(this->queue().wait(completions, 30), 30u);
  canceller.join();
}

TYPED_TEST_P(ReadQueueConformance, the_destructor_waits_for_reads_and_drops_the_rest) {
  GatedSource source;
  const auto requests = this->pieces(source, 50);
  this->queue().submit(requests);
  std::thread opener([&] { source.open(); });
  this->destroy_queue();  // ASan and TSan see a read that goes on after this
  opener.join();
}

TYPED_TEST_P(ReadQueueConformance, one_thread_submits_while_another_waits) {
  const auto bytes = numbered_bytes(10'000);
  const auto source = memory_source("memory", bytes);
  const auto requests = this->pieces(*source, 2'000);
  std::thread submitter([&] {
    for (size_t at = 0; at < requests.size(); at += 5) {
      this->queue().submit(std::span(requests).subspan(at, 5));
    }
  });
  std::set<uint64_t> seen;
  std::vector<Completion> completions(16);
  while (seen.size() < requests.size()) {
    const size_t count = this->queue().wait(completions, 3);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(completions[i].error, nullptr);
      EXPECT_TRUE(seen.insert(completions[i].tag).second);
    }
    if (count == 0) std::this_thread::yield();  // nothing submitted yet
  }
  submitter.join();
  EXPECT_EQ(this->queue().in_flight(), 0u);
  for (const ReadRequest& request : requests) EXPECT_TRUE(this->holds(request, bytes));
}

TYPED_TEST_P(ReadQueueConformance, empty_reads_complete) {
  const auto source = memory_source("memory", numbered_bytes(10));
  const ReadRequest request{source.get(), 10, {}, 3};
  this->queue().submit({&request, 1});
  EXPECT_EQ(this->drain(), (std::map<uint64_t, std::string>{{3, ""}}));
}

REGISTER_TYPED_TEST_SUITE_P(ReadQueueConformance, every_request_completes_once_with_its_bytes,
                            a_failed_read_is_its_own_completion,
                            waiting_with_nothing_in_flight_returns_at_once,
                            wait_returns_at_least_what_was_asked_and_no_more_than_fits,
                            submit_does_not_wait_for_reads,
                            cancelled_requests_complete_with_an_error_and_the_queue_lives,
                            cancel_wakes_who_waits,
                            the_destructor_waits_for_reads_and_drops_the_rest,
                            one_thread_submits_while_another_waits, empty_reads_complete);

}  // namespace fuelrail
