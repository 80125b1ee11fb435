// The conformance suite for read queues. The test of an implementation defines a maker and
// instantiates the suite:
//
//   struct FourThreads { std::unique_ptr<ReadQueue> make() { return make_read_queue({4}); } };
//   INSTANTIATE_TYPED_TEST_SUITE_P(FourThreads, ReadQueueConformance, FourThreads);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <latch>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/testing/gated_source.h"
#include "fuelrail/testing/read_file.h"
#include "fuelrail/testing/source_conformance.h"

namespace fuelrail {

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
class ReadQueueConformance : public ::testing::Test {
 protected:
  // Waits for all reads in flight. Returns: error messages by tag.
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
  for (size_t at = 0; at < requests.size();) {  // in groups of 1 to 7, sometimes drained
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
    EXPECT_TRUE(message.empty() || message == "the read was cancelled") << message;
    cancelled += !message.empty();
  }
  EXPECT_GE(cancelled, 40u);  // the reads that no thread had taken
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

TYPED_TEST_P(ReadQueueConformance, interrupt_ends_one_wait_and_no_read) {
  GatedSource source;
  const auto requests = this->pieces(source, 3);
  std::vector<Completion> completions(3);
  this->queue().interrupt();
  EXPECT_EQ(this->queue().wait(completions, 1), 0u);  // nothing is in flight
  this->queue().submit(requests);
  this->queue().interrupt();
  this->queue().interrupt();
  EXPECT_EQ(this->queue().wait(completions, 0), 0u);  // does not count
  EXPECT_EQ(this->queue().wait(completions, 3), 0u);  // would hang here
  EXPECT_EQ(this->queue().in_flight(), 3u);
  source.open();
  EXPECT_EQ(this->queue().wait(completions, 3), 3u);
  EXPECT_EQ(this->queue().in_flight(), 0u);
}

TYPED_TEST_P(ReadQueueConformance, interrupt_wakes_who_waits) {
  GatedSource source;
  const auto requests = this->pieces(source, 3);
  this->queue().submit(requests);
  std::vector<Completion> completions(3);
  for (int i = 0; i < 20; ++i) {
    std::thread interrupter([&] { this->queue().interrupt(); });
    // If the waiter itself reads, it reads only before the interrupt.
    if (std::string_view(this->queue().backend_name()) == "inline") interrupter.join();
    EXPECT_EQ(this->queue().wait(completions, 3), 0u);  // would hang here
    if (interrupter.joinable()) interrupter.join();
  }
  source.open();
  EXPECT_EQ(this->drain().size(), 3u);
}

TYPED_TEST_P(ReadQueueConformance, the_destructor_waits_for_reads_and_drops_the_rest) {
  GatedSource source;
  const auto requests = this->pieces(source, 50);
  this->queue().submit(requests);
  std::thread opener([&] { source.open(); });
  this->destroy_queue();  // ASan and TSan detect a read that continues after this
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
    if (count == 0) std::this_thread::yield();  // nothing is submitted yet
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

TYPED_TEST_P(ReadQueueConformance, requests_of_a_file_complete_once_with_their_bytes) {
  const ReadFile file(2'000'000);
  const auto requests = this->pieces(file.source(), 3'000);
  for (size_t at = 0; at < requests.size(); at += 500) {
    this->queue().submit(std::span(requests).subspan(at, 500));
  }
  const auto messages = this->drain();
  ASSERT_EQ(messages.size(), requests.size());
  for (const ReadRequest& request : requests) {
    EXPECT_EQ(messages.at(request.tag), "");
    EXPECT_TRUE(this->holds(request, file.bytes())) << request.tag;
  }
}

// Requests that are adjacent, near, far apart, overlapping or equal, in random order.
TYPED_TEST_P(ReadQueueConformance, neighbours_of_any_distance_get_their_own_bytes) {
  const ReadFile file(3'000'000);
  std::mt19937_64 random(7);
  for (int round = 0; round < 20; ++round) {
    std::vector<ReadRequest> requests;
    uint64_t at = random() % 1000;
    while (at + 40'000 < file.bytes().size() && requests.size() < 150) {
      const size_t length = 1 + random() % 40'000;
      requests.push_back({&file.source(), at, {}, requests.size()});
      requests.back().into = MutableBytes(static_cast<std::byte*>(nullptr), length);
      constexpr uint64_t kGaps[] = {0, 0, 0, 1, 4'096, 8'191, 8'192, 8'193};
      at += length + kGaps[random() % 8];
      if (random() % 5 == 0) at -= std::min<uint64_t>(at, length / 2);
    }
    std::vector<std::vector<std::byte>> memory;
    for (ReadRequest& request : requests) {
      memory.emplace_back(request.into.size());
      request.into = memory.back();
    }
    std::shuffle(requests.begin(), requests.end(), random);
    this->queue().submit(requests);
    for (const auto& [tag, message] : this->drain()) EXPECT_EQ(message, "") << tag;
    for (const ReadRequest& request : requests) {
      EXPECT_TRUE(this->holds(request, file.bytes())) << request.offset;
    }
  }
}

TYPED_TEST_P(ReadQueueConformance, a_neighbour_beyond_the_end_spoils_nobody_else) {
  const ReadFile file(1'000);
  std::vector<std::byte> memory(1'200);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < 12; ++i) {
    requests.push_back({&file.source(), i * 100, MutableBytes(memory).subspan(i * 100, 100), i});
  }
  this->queue().submit(requests);
  for (const auto& [tag, message] : this->drain()) {
    EXPECT_EQ(message.empty(), tag < 10) << tag << ": " << message;
    if (tag < 10) {
      EXPECT_TRUE(this->holds(requests[tag], file.bytes()));
    }
  }
}

TYPED_TEST_P(ReadQueueConformance, a_file_that_has_shrunk_is_truncated_from_there_on) {
  const ReadFile file(10'000);
  std::filesystem::resize_file(file.path(), 5'050);
  std::vector<std::byte> memory(10'000);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < 100; ++i) {
    requests.push_back({&file.source(), i * 100, MutableBytes(memory).subspan(i * 100, 100), i});
  }
  this->queue().submit(requests);
  for (const auto& [tag, message] : this->drain()) {
    EXPECT_EQ(message.empty(), tag < 50) << tag << ": " << message;
    if (tag == 50) {
      EXPECT_NE(message.find("offset 5000"), std::string::npos) << message;
    }
  }
}

TYPED_TEST_P(ReadQueueConformance, a_file_and_a_source_without_descriptor_read_side_by_side) {
  const ReadFile file(100'000);
  const auto bytes = numbered_bytes(10'000);
  const auto source = memory_source("memory", bytes);
  auto requests = this->pieces(*source, 400);
  for (size_t i = 0; i < requests.size(); i += 2) requests[i].source = &file.source();
  for (size_t at = 0; at < requests.size(); at += 20) {
    this->queue().submit(std::span(requests).subspan(at, 20));
  }
  const auto messages = this->drain(16);
  ASSERT_EQ(messages.size(), requests.size());
  for (const ReadRequest& request : requests) {
    EXPECT_EQ(messages.at(request.tag), "");
    EXPECT_TRUE(this->holds(request, request.source == &file.source() ? file.bytes() : bytes));
  }
}

TYPED_TEST_P(ReadQueueConformance, the_thread_that_submitted_may_end_before_its_reads) {
  const ReadFile file(1'000'000);
  const auto requests = this->pieces(file.source(), 1'000);
  std::thread([&] { this->queue().submit(requests); }).join();
  for (const auto& [tag, message] : this->drain()) EXPECT_EQ(message, "") << tag;
  for (const ReadRequest& request : requests) EXPECT_TRUE(this->holds(request, file.bytes()));
}

TYPED_TEST_P(ReadQueueConformance, threads_may_change_at_any_time) {
  const auto bytes = numbered_bytes(10'000);
  const auto source = memory_source("memory", bytes);
  const auto requests = this->pieces(*source, 1'000);
  for (size_t at = 0; at < requests.size(); at += 10) {
    this->queue().set_threads(1 + static_cast<int>(at / 10 * 7 % 20));
    this->queue().submit(std::span(requests).subspan(at, 10));
  }
  for (const auto& [tag, message] : this->drain()) EXPECT_EQ(message, "") << tag;
  for (const ReadRequest& request : requests) EXPECT_TRUE(this->holds(request, bytes));
}

// Adjacent requests, which are read together; a source without a descriptor; an empty request.
TYPED_TEST_P(ReadQueueConformance, a_wrong_checksum_is_its_requests_error_alone) {
  const ReadFile file(100'000);
  const auto bytes = numbered_bytes(10'000);
  const auto source = memory_source("memory", bytes);
  std::vector<std::byte> memory(600 * 100);
  std::vector<ReadRequest> requests;
  for (uint64_t i = 0; i < 600; ++i) {
    const bool by_file = i % 3 != 0;
    const uint64_t offset = by_file ? i * 100 : i * 16;
    const size_t length = i == 9 ? 0 : 100;
    const Bytes right = Bytes(by_file ? file.bytes() : bytes).subspan(offset, length);
    requests.push_back({.source = by_file ? &file.source() : source.get(),
                        .offset = offset,
                        .into = MutableBytes(memory).subspan(i * 100, length),
                        .tag = i,
                        .crc = crc32(right) + (i % 5 == 2 ? 1 : 0)});
  }
  for (size_t at = 0; at < requests.size(); at += 50) {
    this->queue().submit(std::span(requests).subspan(at, 50));
  }
  const auto messages = this->drain(16);
  ASSERT_EQ(messages.size(), requests.size());
  for (const ReadRequest& request : requests) {
    const std::string& message = messages.at(request.tag);
    EXPECT_EQ(message.empty(), request.tag % 5 != 2) << request.tag << ": " << message;
    if (request.tag == 7) {
      EXPECT_NE(message.find("offset 700: the record's checksum is wrong"), std::string::npos)
          << message;
    }
  }
}

// A caller that only polls also gets all completions: checksums are not deferred to a wait.
TYPED_TEST_P(ReadQueueConformance, asking_again_and_again_brings_everything) {
  if (std::string_view(this->queue().backend_name()) == "inline") {
    GTEST_SKIP() << "without threads it reads what is waited for, and nothing else";
  }
  const ReadFile file(20'000);
  const auto source = memory_source("memory", file.bytes());
  auto requests = this->pieces(*source, 300);
  for (ReadRequest& request : requests) {
    if (request.tag % 3 != 0) request.source = &file.source();
    request.crc = crc32(Bytes(file.bytes()).subspan(request.offset, request.into.size()));
    if (request.tag % 10 == 0) *request.crc += 1;
  }
  this->queue().submit(requests);
  std::set<uint64_t> seen;
  std::vector<Completion> completions(16);
  EXPECT_EQ(this->queue().wait({}, 0), 0u);  // nothing fits
  while (this->queue().in_flight() > 0) {    // would not end
    const size_t count = this->queue().wait(completions, 0);
    if (count == 0) std::this_thread::yield();
    for (const Completion& completion : std::span(completions).first(count)) {
      EXPECT_TRUE(seen.insert(completion.tag).second) << "completed twice: " << completion.tag;
      EXPECT_EQ(completion.error != nullptr, completion.tag % 10 == 0) << completion.tag;
    }
  }
  EXPECT_EQ(seen.size(), requests.size());
}

TYPED_TEST_P(ReadQueueConformance, what_cannot_be_read_is_not_checked) {
  const ReadFile file(1'000);
  std::vector<std::byte> memory(100);
  const ReadRequest request{
      .source = &file.source(), .offset = 950, .into = memory, .tag = 1, .crc = 7};
  this->queue().submit({&request, 1});
  EXPECT_NE(this->drain().at(1).find("ends before"), std::string::npos);
}

REGISTER_TYPED_TEST_SUITE_P(
    ReadQueueConformance, every_request_completes_once_with_its_bytes,
    a_failed_read_is_its_own_completion, waiting_with_nothing_in_flight_returns_at_once,
    wait_returns_at_least_what_was_asked_and_no_more_than_fits, submit_does_not_wait_for_reads,
    cancelled_requests_complete_with_an_error_and_the_queue_lives, cancel_wakes_who_waits,
    interrupt_ends_one_wait_and_no_read, interrupt_wakes_who_waits,
    the_destructor_waits_for_reads_and_drops_the_rest, one_thread_submits_while_another_waits,
    empty_reads_complete, requests_of_a_file_complete_once_with_their_bytes,
    neighbours_of_any_distance_get_their_own_bytes, a_neighbour_beyond_the_end_spoils_nobody_else,
    a_file_that_has_shrunk_is_truncated_from_there_on,
    a_file_and_a_source_without_descriptor_read_side_by_side,
    the_thread_that_submitted_may_end_before_its_reads, threads_may_change_at_any_time,
    a_wrong_checksum_is_its_requests_error_alone, asking_again_and_again_brings_everything,
    what_cannot_be_read_is_not_checked);

}  // namespace fuelrail
