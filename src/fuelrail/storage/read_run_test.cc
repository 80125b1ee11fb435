#include "fuelrail/storage/read_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "fuelrail/testing/read_queue_conformance.h"

namespace fuelrail {
namespace {

// Counts the reads and the bytes read.
class CountingSource final : public Source {
 public:
  explicit CountingSource(const Source& inner) : inner_(inner) {}
  uint64_t size_bytes() const override { return inner_.size_bytes(); }
  const std::string& uri() const override { return inner_.uri(); }
  void read(uint64_t offset, MutableBytes into) const override {
    ++reads;
    inner_.read(offset, into);
  }
  void read_scattered(uint64_t offset, std::span<const MutableBytes> pieces) const override {
    ++reads;
    inner_.read_scattered(offset, pieces);
  }
  int descriptor() const override { return inner_.descriptor(); }

  mutable int reads = 0;

 private:
  const Source& inner_;
};

// Requests of `length` bytes, `gap` bytes apart.
class Neighbours {
 public:
  Neighbours(const Source& source, size_t count, size_t length, size_t gap)
      : memory_(count * length) {
    for (size_t i = 0; i < count; ++i) {
      pending.push_back(
          {&source, i * (length + gap), MutableBytes(memory_).subspan(i * length, length), i});
    }
  }
  std::deque<ReadRequest> pending;

 private:
  std::vector<std::byte> memory_;
};

std::vector<size_t> run_lengths(std::deque<ReadRequest>& pending) {
  std::vector<size_t> lengths;
  ReadRun run;
  while (!pending.empty()) {
    run.take_from(pending, false);
    lengths.push_back(run.requests.size());
  }
  return lengths;
}

using Lengths = std::vector<size_t>;

TEST(ReadRun, neighbours_become_one_read) {
  const ReadFile file(100'000);
  const CountingSource source(file.source());
  Neighbours requests(source, 10, 1'000, 0);
  ReadRun run;
  run.take_from(requests.pending, false);
  EXPECT_TRUE(requests.pending.empty());
  std::vector<Completion> done;
  DirectReads direct(false, {});
  perform(run, direct, done);
  EXPECT_EQ(done.size(), 10u);
  EXPECT_EQ(source.reads, 1);
}

TEST(ReadRun, neighbours_are_read_alone_only_while_direct_reads_are_not_refused) {
  const ReadFile file(100'000);
  Neighbours requests(file.source(), 10, 1'000, 0);
  DirectReads direct(true, {});
  EXPECT_TRUE(direct.wanted_for(requests.pending.front()));
  direct.read_failed(file.source(), EIO);  // may happen to any read
  EXPECT_TRUE(direct.wanted_for(requests.pending.front()));
  direct.read_failed(file.source(), EINVAL);
  EXPECT_FALSE(direct.wanted_for(requests.pending.front()));
}

TEST(ReadRun, a_gap_is_read_over_up_to_the_limit) {
  const ReadFile file(10);
  Neighbours near(file.source(), 4, 1'000, kMaxGapBytes);
  EXPECT_EQ(run_lengths(near.pending), Lengths{4});
  Neighbours far(file.source(), 4, 1'000, kMaxGapBytes + 1);
  EXPECT_EQ(run_lengths(far.pending), (Lengths{1, 1, 1, 1}));
}

TEST(ReadRun, a_run_ends_at_its_limits_of_bytes_and_requests) {
  const ReadFile file(10);
  Neighbours large(file.source(), 9, kMaxRunBytes / 4, 0);
  EXPECT_EQ(run_lengths(large.pending), (Lengths{4, 4, 1}));
  Neighbours many(file.source(), 2 * kMaxRunRequests + 1, 1, 0);
  EXPECT_EQ(run_lengths(many.pending), (Lengths{kMaxRunRequests, kMaxRunRequests, 1}));
  Neighbours giant(file.source(), 2, 2 * kMaxRunBytes, 0);
  EXPECT_EQ(run_lengths(giant.pending), (Lengths{1, 1}));
}

TEST(ReadRun, sources_without_descriptor_and_other_files_are_not_joined) {
  const auto memory = memory_source("memory", numbered_bytes(10'000));
  Neighbours requests(*memory, 3, 100, 0);
  EXPECT_EQ(run_lengths(requests.pending), (Lengths{1, 1, 1}));
  const ReadFile one(10);
  const ReadFile two(10);
  Neighbours mixed(one.source(), 3, 100, 0);
  mixed.pending[1].source = &two.source();
  EXPECT_EQ(run_lengths(mixed.pending), (Lengths{1, 1, 1}));
}

// The caller wants the first ones first, and sorting would gain nothing, because they are not
// joined.
TEST(ReadRun, requests_of_sources_without_descriptor_keep_their_order) {
  std::vector<std::shared_ptr<const Source>> sources;
  for (int i = 0; i < 8; ++i) sources.push_back(memory_source("memory", numbered_bytes(100)));
  std::sort(sources.begin(), sources.end(), std::greater<>());
  std::vector<ReadRequest> pending;
  for (uint64_t i = 0; i < 8; ++i) {
    pending.push_back({.source = sources[i].get(), .offset = 10 - i, .into = {}, .tag = 2 * i});
    pending.push_back({.source = sources[i].get(), .offset = 0, .into = {}, .tag = 2 * i + 1});
  }
  const std::vector<ReadRequest> sorted = in_order_of_place(pending);
  for (uint64_t i = 0; i < 16; ++i) EXPECT_EQ(sorted[i].tag, i);
}

TEST(ReadRun, overlapping_requests_are_read_by_themselves) {
  const ReadFile file(10);
  Neighbours requests(file.source(), 3, 100, 0);
  requests.pending[1].offset = 50;
  EXPECT_EQ(run_lengths(requests.pending), (Lengths{1, 2}));
}

TEST(ReadRun, requests_out_of_order_are_put_in_order) {
  const ReadFile file(10);
  Neighbours requests(file.source(), 8, 100, 0);
  std::vector<ReadRequest> shuffled;
  for (const size_t i : {7, 5, 2, 6, 1, 4, 3, 0}) shuffled.push_back(requests.pending[i]);
  const std::vector<ReadRequest> sorted = in_order_of_place(shuffled);
  std::deque<ReadRequest> pending(sorted.begin(), sorted.end());
  EXPECT_EQ(pending.front().tag, 0u);
  EXPECT_EQ(run_lengths(pending), Lengths{8});
}

}  // namespace
}  // namespace fuelrail
