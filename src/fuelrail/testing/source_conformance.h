// The conformance suite for sources. The test of an implementation defines a maker and instantiates
// the suite:
//
//   struct MemorySources { std::shared_ptr<const Source> make(const std::vector<std::byte>&); };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Memory, SourceConformance, MemorySources);
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/source.h"
#include "fuelrail/testing/read_file.h"

namespace fuelrail {

// Requires of Maker: `std::shared_ptr<const Source> make(const std::vector<std::byte>&)`.
template <typename Maker>
class SourceConformance : public ::testing::Test {
 protected:
  std::shared_ptr<const Source> make(const std::vector<std::byte>& bytes) {
    return maker_.make(bytes);
  }

 private:
  Maker maker_;
};

TYPED_TEST_SUITE_P(SourceConformance);

TYPED_TEST_P(SourceConformance, any_range_can_be_read) {
  const auto bytes = numbered_bytes(100'003);
  const auto source = this->make(bytes);
  ASSERT_EQ(source->size_bytes(), bytes.size());
  EXPECT_FALSE(source->uri().empty());
  EXPECT_EQ(read_range(*source, 0, bytes.size()), bytes);
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const size_t begin = random() % (bytes.size() + 1);
    const size_t length = random() % (bytes.size() - begin + 1);
    const auto got = read_range(*source, begin, length);
    ASSERT_TRUE(std::equal(got.begin(), got.end(), bytes.begin() + static_cast<ptrdiff_t>(begin)))
        << begin << " + " << length;
  }
}

TYPED_TEST_P(SourceConformance, reading_nothing_is_allowed_up_to_the_end) {
  const auto source = this->make(numbered_bytes(10));
  EXPECT_NO_THROW(read_range(*source, 0, 0));
  EXPECT_NO_THROW(read_range(*source, 10, 0));
  EXPECT_THROW(read_range(*source, 11, 0), TruncatedError);
}

TYPED_TEST_P(SourceConformance, a_range_past_the_end_is_truncated_and_says_where) {
  const auto source = this->make(numbered_bytes(100));
  try {
    read_range(*source, 90, 11);
    FAIL() << "nothing was thrown";
  } catch (const TruncatedError& error) {
    EXPECT_EQ(error.detail().path, source->uri());
    EXPECT_EQ(error.detail().offset, 90u);
    EXPECT_EQ(error.detail().expected, "11 bytes");
    EXPECT_EQ(error.detail().found, "10");
  }
  EXPECT_THROW(read_range(*source, 101, 1), TruncatedError);
  EXPECT_THROW(read_range(*source, std::numeric_limits<uint64_t>::max(), 2), TruncatedError);
}

TYPED_TEST_P(SourceConformance, an_empty_source_reads) {
  const auto source = this->make({});
  EXPECT_EQ(source->size_bytes(), 0u);
  EXPECT_NO_THROW(read_range(*source, 0, 0));
  EXPECT_THROW(read_range(*source, 0, 1), TruncatedError);
}

TYPED_TEST_P(SourceConformance, threads_read_at_once) {
  const auto bytes = numbered_bytes(50'000);
  const auto source = this->make(bytes);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 200; ++i) {
        const size_t begin = random() % 40'000;
        const auto got = read_range(*source, begin, 10'000);
        wrong[t] +=
            !std::equal(got.begin(), got.end(), bytes.begin() + static_cast<ptrdiff_t>(begin));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

// Parent and child read different parts, taking turns over two pipes, which would reveal a shared
// file position.
TYPED_TEST_P(SourceConformance, a_forked_child_shares_no_position) {
  const auto bytes = numbered_bytes(64'000);
  const auto source = this->make(bytes);
  int to_child[2];
  int to_parent[2];
  ASSERT_EQ(::pipe(to_child), 0);
  ASSERT_EQ(::pipe(to_parent), 0);
  // Reads the n-th of 32 pieces of one half. Returns: whether the bytes are right.
  const auto step = [&](size_t half, size_t n) {
    const size_t at = half * 32'000 + n * 1'000;
    std::vector<std::byte> got(1'000);
    source->read(at, got);
    return std::equal(got.begin(), got.end(), bytes.begin() + static_cast<ptrdiff_t>(at));
  };
  const auto take_turns = [&](size_t half, int in, int out) {
    bool right = true;
    char turn = 0;
    for (size_t n = 0; n < 32; ++n) {
      right = ::read(in, &turn, 1) == 1 && right;
      right = step(half, n) && right;
      right = ::write(out, &turn, 1) == 1 && right;
    }
    return right;
  };
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(take_turns(1, to_child[0], to_parent[1]) ? 0 : 1);
  ASSERT_EQ(::write(to_parent[1], "", 1), 1);  // the parent begins
  EXPECT_TRUE(take_turns(0, to_parent[0], to_child[1]));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  for (const int fd : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) ::close(fd);
}

REGISTER_TYPED_TEST_SUITE_P(SourceConformance, any_range_can_be_read,
                            reading_nothing_is_allowed_up_to_the_end,
                            a_range_past_the_end_is_truncated_and_says_where, an_empty_source_reads,
                            threads_read_at_once, a_forked_child_shares_no_position);

}  // namespace fuelrail
