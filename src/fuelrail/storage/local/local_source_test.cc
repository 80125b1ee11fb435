#include "fuelrail/storage/local/local_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <cerrno>
#include <filesystem>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/at_hand.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/source_conformance.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

struct Files {
  std::string put(const std::vector<std::byte>& bytes) {
    const std::string path = directory / std::to_string(made++);
    write_file(path, as_text(bytes));
    return path;
  }
  TemporaryDirectory directory;
  int made = 0;
};

struct HeldOpen : Files {
  std::shared_ptr<const Source> make(const std::vector<std::byte>& bytes) {
    return local_file_system().open(put(bytes));
  }
};

struct Lazy : Files {
  std::shared_ptr<const Source> make(const std::vector<std::byte>& bytes) {
    return local_file_system().open_lazily({put(bytes), bytes.size(), false});
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Local, SourceConformance, HeldOpen);
INSTANTIATE_TYPED_TEST_SUITE_P(LocalLazy, SourceConformance, Lazy);

size_t open_descriptors() {
  const std::filesystem::directory_iterator descriptors("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(descriptors), end(descriptors)));
}

// For such a range, a second call would have to read the rest, and this part would be read again.
TEST(LocalSource, more_than_the_kernel_reads_in_one_call_is_not_begun_in_the_page_cache) {
  constexpr size_t kBytes = (size_t{1} << 31) + 4096;
  const TemporaryDirectory directory;
  write_file(directory / "x", std::string(100'000, 'x'));
  std::filesystem::resize_file(directory / "x", kBytes);
  const auto source = local_file_system().open(directory / "x");
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const MutableBytes into(static_cast<std::byte*>(memory), kBytes);
  EXPECT_FALSE(source->read_if_cached(0, {&into, 1}));
  EXPECT_EQ(into[0], std::byte{0});
  ::munmap(memory, kBytes);
}

TEST(LocalSource, reads_of_a_cached_file_go_on_when_it_has_become_shorter) {
  const TemporaryDirectory directory;
  write_file(directory / "x", std::string(8192, 'x'));
  const auto source = local_file_system().open(directory / "x");
  if (!source->reads_without_waiting()) GTEST_SKIP() << "every read of temporary files may wait";
  std::string bytes(100, '-');
  const MutableBytes into(reinterpret_cast<std::byte*>(bytes.data()), bytes.size());
  for (uint64_t i = 0; i < 3000; ++i) {
    bytes.assign(100, '-');
    ASSERT_TRUE(source->read_if_cached(i % 8000, {&into, 1}));
    ASSERT_EQ(bytes, std::string(100, 'x'));
  }
  std::filesystem::resize_file(directory / "x", 50);
  for (int i = 0; i < 20; ++i) ASSERT_FALSE(source->read_if_cached(0, {&into, 1}));
}

// Reads of a procfs file may block, like those of a file on NFS.
TEST(LocalSource, the_kernel_says_whether_a_file_can_be_read_without_waiting) {
  EXPECT_FALSE(local_file_system().open("/proc/self/cmdline")->reads_without_waiting());
  const TemporaryDirectory directory;
  write_file(directory / "x", "");
  const auto source = local_file_system().open(directory / "x");
  std::byte byte{};
  const iovec into{&byte, 1};
  const bool can = ::preadv2(source->descriptor(), &into, 1, 0, RWF_NOWAIT) == 0;
  EXPECT_EQ(source->reads_without_waiting(), can);
}

TEST(LocalSource, at_hand_is_what_is_cached_and_everything_else_would_wait) {
  Files files;
  const std::string path = files.put(std::vector<std::byte>(100, std::byte{7}));
  const auto source = local_file_system().open(path);
  std::vector<std::byte> into(100);
  source->read(0, into);
  const bool cached = source->read_if_cached(0, std::vector<MutableBytes>{into});
  into.assign(100, std::byte{0});
  {
    const OnlyAtHand at_hand;
    EXPECT_THROW(local_file_system().open(path), WouldWait);
    EXPECT_THROW(local_file_system().stat(path), WouldWait);
    if (cached) {
      source->read(0, into);
      EXPECT_EQ(into.back(), std::byte{7});
    } else {
      EXPECT_THROW(source->read(0, into), WouldWait);
    }
    EXPECT_THROW(source->read(1, into), WouldWait);  // past the end: the blocking read reports it
  }
  EXPECT_THROW(source->read(1, into), TruncatedError);
}

TEST(LocalSource, a_lack_of_descriptors_is_said_and_not_kept) {
  const TemporaryDirectory directory;
  write_file(directory / "x", std::string(10, 'x'));
  if (local_file_system().open(directory / "x")->direct_descriptor().descriptor < 0) {
    GTEST_SKIP() << "no O_DIRECT in the temporary files";
  }
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              const auto source = local_file_system().open(directory / "x");
              rlimit limit{};
              ::getrlimit(RLIMIT_NOFILE, &limit);
              const rlimit none{.rlim_cur = 0, .rlim_max = limit.rlim_max};
              ::setrlimit(RLIMIT_NOFILE, &none);
              const int lacking = source->direct_descriptor().error;
              ::setrlimit(RLIMIT_NOFILE, &limit);
              return lacking == EMFILE && source->direct_descriptor().descriptor >= 0
                         ? "tried again"
                         : "given up: " + std::to_string(lacking);
            }),
            "tried again");
}

TEST(LocalSource, a_file_that_has_shrunk_since_opening_is_truncated) {
  const TemporaryDirectory directory;
  write_file(directory / "x", std::string(1'000, 'x'));
  const auto source = local_file_system().open(directory / "x");
  std::filesystem::resize_file(directory / "x", 600);
  EXPECT_EQ(read_range(*source, 500, 100).size(), 100u);
  try {
    read_range(*source, 500, 200);
    FAIL() << "nothing was thrown";
  } catch (const TruncatedError& error) {
    EXPECT_EQ(error.detail().offset, 500u);
    EXPECT_EQ(error.detail().expected, "200 bytes");
    EXPECT_EQ(error.detail().found, "100");
  }
}

// As FUSE and network file systems may do. Here the old number has a name, too.
TEST(LocalSource, a_file_that_is_numbered_anew_while_it_is_open_is_still_named) {
  const TemporaryDirectory directory;
  const std::string path = directory / "x";
  write_file(path, "contents");
  const auto source = local_file_system().open(path);
  std::filesystem::copy_file(path, directory / "y");
  std::filesystem::last_write_time(directory / "y", std::filesystem::last_write_time(path));
  std::filesystem::create_hard_link(path, directory / "old");
  std::filesystem::rename(directory / "y", path);
  EXPECT_TRUE(source->is_still_named());
  std::filesystem::last_write_time(path, std::filesystem::file_time_type{});
  EXPECT_FALSE(source->is_still_named());
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(directory / "old"));
  std::filesystem::remove(directory / "old");  // so the old file has no name
  EXPECT_FALSE(source->is_still_named());
}

TEST(LocalSource, holes_are_what_was_never_written) {
  const TemporaryDirectory directory;
  write_file(directory / "x", std::string(1 << 20, 'x'));
  std::filesystem::resize_file(directory / "x", 4 << 20);
  const auto source = local_file_system().open(directory / "x");
  EXPECT_FALSE(source->has_hole(0, 1 << 20));
  EXPECT_FALSE(source->is_hole(0, 2 << 20));
  if (!source->has_hole(0, 2 << 20)) GTEST_SKIP() << "temporary files have no holes";
  EXPECT_TRUE(source->is_hole(2 << 20, 2 << 20));
}

TEST(LocalSource, a_pipe_is_refused_and_not_waited_for) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(local_file_system().open(directory / "pipe"), InvalidArgumentError);
  EXPECT_THROW(local_file_system().open("/dev/null"), InvalidArgumentError);
}

TEST(LocalSource, holds_a_descriptor_that_children_do_not_inherit) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "x");
  const auto source = local_file_system().open(directory / "x");
  ASSERT_GE(source->descriptor(), 0);
  EXPECT_TRUE(::fcntl(source->descriptor(), F_GETFD) & FD_CLOEXEC);
}

TEST(LocalSource, a_thousand_lazy_sources_hold_no_descriptor) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "abc");
  const size_t before = open_descriptors();
  std::vector<std::shared_ptr<const Source>> sources;
  for (int i = 0; i < 1'000; ++i) {
    sources.push_back(local_file_system().open_lazily({directory / "x", 3, false}));
    read_range(*sources.back(), 0, 3);
  }
  EXPECT_EQ(sources.back()->descriptor(), -1);
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace fuelrail
