// Reads that bypass the page cache, by every queue: which reads do, which cannot, and which
// warnings are given.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "fuelrail/storage/local/posix.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/storage/read_queue.h"
#include "fuelrail/testing/read_file.h"

namespace fuelrail {
namespace {

// A file opened at every backend with requests that leave room for aligned reads.
class DirectFile {
 public:
  DirectFile() : file_(200'001) {
    for (uint64_t i = 0; i < 60; ++i) {
      const size_t length = 1 + i * 97;
      const uint64_t offset = i == 59 ? file_.bytes().size() - length : i * 3'001;
      memory_.push_back(static_cast<std::byte*>(::operator new(kRoom, kAligned)));
      const MutableBytes room(memory_.back(), kRoom);
      requests_.push_back(
          {&file_.source(), offset, room.subspan(offset % kDirectAlignment, length), i, room});
    }
  }
  ~DirectFile() {
    for (std::byte* memory : memory_) ::operator delete(memory, kAligned);
  }
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;

  std::vector<ReadRequest>& requests() { return requests_; }
  const Source& source() const { return file_.source(); }

  // Reads everything. Returns: the number of requests that have their bytes.
  size_t right(ReadQueue& queue) {
    queue.submit(requests_);
    std::vector<Completion> completions(requests_.size());
    queue.wait(completions, completions.size());
    size_t count = 0;
    for (const Completion& done : completions) count += file_.gave(requests_[done.tag], done);
    return count;
  }

 private:
  static constexpr std::align_val_t kAligned{kDirectAlignment};
  static constexpr size_t kRoom = 4 * kDirectAlignment;
  ReadFile file_;
  std::vector<std::byte*> memory_;
  std::vector<ReadRequest> requests_;
};

std::vector<ReadOptions> every_queue() {
  return {{.threads = 0},
          {.threads = 2, .backend = ReadBackend::kPread},
          {.threads = 2, .backend = ReadBackend::kAuto}};
}

TEST(DirectReads, direct_reads_bring_the_same_bytes) {
  for (ReadOptions options : every_queue()) {
    DirectFile file;
    if (file.source().direct_descriptor().descriptor < 0)
      GTEST_SKIP() << "no O_DIRECT in the temporary files";
    options.direct = true;
    const ReadQueueCalls calls{
        .warn = [](const std::string& warning) { ADD_FAILURE() << warning; }};
    const auto queue = make_read_queue(options, calls);
    // The bytes around a request show that the read was aligned.
    const ReadRequest& sample = file.requests()[20];
    EXPECT_EQ(file.right(*queue), 60u) << queue->backend_name();
    std::vector<std::byte> before(1);
    file.source().read(sample.offset - 1, before);
    EXPECT_EQ(*(sample.into.data() - 1), before[0]) << queue->backend_name();
  }
}

TEST(DirectReads, memory_that_is_not_aligned_or_has_no_room_is_read_in_the_ordinary_way) {
  for (ReadOptions options : every_queue()) {
    DirectFile file;
    options.direct = true;
    for (size_t i = 0; i < file.requests().size(); ++i) {
      ReadRequest& request = file.requests()[i];
      if (i % 3 == 0) request.room = {};
      if (i % 3 == 1)
        request.into = request.room.subspan(kDirectAlignment + 1, request.into.size());
      if (i % 3 == 2) request.room = request.into;
    }
    EXPECT_EQ(file.right(*make_read_queue(options)), 60u);
  }
}

// A source whose descriptor for direct reads comes from the test; counts the requests for it.
// Default: no descriptor.
class WithDirect final : public Source {
 public:
  explicit WithDirect(const Source& inner, std::function<Direct()> direct = {})
      : inner_(inner), direct_(std::move(direct)) {}
  uint64_t size_bytes() const override { return inner_.size_bytes(); }
  const std::string& uri() const override { return inner_.uri(); }
  void read(uint64_t offset, MutableBytes into) const override { inner_.read(offset, into); }
  int descriptor() const override { return inner_.descriptor(); }
  bool reads_without_waiting() const override { return inner_.reads_without_waiting(); }
  Direct direct_descriptor() const override {
    asked.fetch_add(1, std::memory_order_relaxed);
    return direct_ ? direct_() : Source::direct_descriptor();
  }

  mutable std::atomic<int> asked = 0;

 private:
  const Source& inner_;
  std::function<Direct()> direct_;
};

TEST(DirectReads, a_file_system_without_direct_reads_warns_once_and_reads) {
  for (ReadOptions options : every_queue()) {
    DirectFile file;
    const WithDirect source(file.source());
    for (ReadRequest& request : file.requests()) request.source = &source;
    std::vector<std::string> warnings;
    options.direct = true;
    const ReadQueueCalls calls{
        .warn = [&](const std::string& warning) { warnings.push_back(warning); }};
    EXPECT_EQ(file.right(*make_read_queue(options, calls)), 60u);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("refuses direct reads (Operation not supported)"), std::string::npos)
        << warnings[0];
  }
}

// Checks that every queue correctly reads a source that cannot be read directly, warns once, and
// does not ask the source for direct reads again.
void expect_given_up(const std::function<Source::Direct()>& direct, const std::string& warning) {
  for (ReadOptions options : every_queue()) {
    DirectFile file;
    const WithDirect source(file.source(), direct);
    for (ReadRequest& request : file.requests()) request.source = &source;
    std::vector<std::string> warnings;
    options.direct = true;
    const ReadQueueCalls calls{.warn = [&](const std::string& text) { warnings.push_back(text); }};
    const auto queue = make_read_queue(options, calls);
    EXPECT_EQ(file.right(*queue), 60u);
    const int asked = source.asked.load();
    EXPECT_EQ(file.right(*queue), 60u);
    EXPECT_EQ(source.asked.load(), asked) << queue->backend_name();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(warning), std::string::npos) << warnings[0];
  }
}

TEST(DirectReads, direct_reads_that_are_refused_at_the_read_are_given_up) {
  // This file can be opened (only by root) but refuses every read.
  const local::Descriptor refuses(::open("/proc/self/clear_refs", O_RDONLY | O_CLOEXEC));
  std::byte probe{};
  if (::pread(refuses.get(), &probe, 1, 0) >= 0 || errno != EINVAL) GTEST_SKIP() << "not root";
  expect_given_up(
      [&] {
        return Source::Direct{refuses.get(), 0};
      },
      "refuses direct reads (Invalid argument)");
}

// As without /proc, or without permission to open the file again.
TEST(DirectReads, a_file_that_never_opens_for_direct_reads_is_not_asked_for_each_of_them) {
  expect_given_up(
      [] {
        return Source::Direct{-1, EACCES};
      },
      "cannot be opened for direct reads (Permission denied); it is read");
}

TEST(DirectReads, direct_reads_of_what_is_not_held_open_warn_once_and_read) {
  for (ReadOptions options : every_queue()) {
    const auto source = memory_source("memory", numbered_bytes(100));
    std::vector<std::byte> memory(30);
    std::vector<ReadRequest> requests;
    for (uint64_t i = 0; i < 30; ++i) {
      requests.push_back({source.get(), i, MutableBytes(memory).subspan(i, 1), i});
    }
    std::vector<std::string> warnings;
    options.direct = true;
    const ReadQueueCalls calls{
        .warn = [&](const std::string& warning) { warnings.push_back(warning); }};
    const auto queue = make_read_queue(options, calls);
    queue->submit(requests);
    std::vector<Completion> completions(30);
    EXPECT_EQ(queue->wait(completions, 30), 30u);
    for (const Completion& done : completions) EXPECT_EQ(done.error, nullptr);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("a folder's files are opened one at a time"), std::string::npos)
        << warnings[0];
  }
}

TEST(DirectReads, a_lack_of_descriptors_is_no_refusal_and_passes) {
  for (ReadOptions options : every_queue()) {
    DirectFile file;
    const Source::Direct works = file.source().direct_descriptor();
    std::atomic<bool> lacking = true;
    const WithDirect source(file.source(), [&] {
      return lacking ? Source::Direct{-1, EMFILE} : works;
    });
    for (ReadRequest& request : file.requests()) request.source = &source;
    std::vector<std::string> warnings;
    options.direct = true;
    const ReadQueueCalls calls{
        .warn = [&](const std::string& warning) { warnings.push_back(warning); }};
    const auto queue = make_read_queue(options, calls);
    EXPECT_EQ(file.right(*queue), 60u);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("cannot be opened for direct reads (Too many open files)"),
              std::string::npos)
        << warnings[0];
    EXPECT_FALSE(source.refuses_direct_reads());
    lacking = false;
    const int asked = source.asked.load();
    EXPECT_EQ(file.right(*queue), 60u);
    EXPECT_GT(source.asked.load(), asked) << queue->backend_name();
  }
}

}  // namespace
}  // namespace fuelrail
