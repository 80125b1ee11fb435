#include "fuelrail/storage/read_queue.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>

#include "fuelrail/storage/local/posix.h"
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

// Where the kernel refuses io_uring these are the pool once more.
using Auto = Threads<4, ReadBackend::kAuto>;
using AutoOneThread = Threads<1, ReadBackend::kAuto>;
INSTANTIATE_TYPED_TEST_SUITE_P(Auto, ReadQueueConformance, Auto);
INSTANTIATE_TYPED_TEST_SUITE_P(AutoOneThread, ReadQueueConformance, AutoOneThread);

TEST(ReadQueue, a_wrong_number_of_threads_is_refused) {
  EXPECT_THROW(make_read_queue({.threads = -1}), InvalidArgumentError);
  EXPECT_THROW(make_read_queue({.threads = kMaxReadThreads + 1}), InvalidArgumentError);
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

// A container's seccomp profile, as Docker's default one: io_uring_setup is not permitted.
bool forbid_io_uring() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(ReadQueue, where_the_kernel_refuses_io_uring_threads_read) {
  const ReadFile file(1'000);
  EXPECT_EQ(in_forked_child([&]() -> std::string {
              if (!forbid_io_uring()) return "no seccomp";
              const auto queue = make_read_queue({});
              std::byte into{0};
              const ReadRequest request{&file.source(), 700, {&into, 1}, 0};
              queue->submit({&request, 1});
              Completion done;
              queue->wait({&done, 1}, 1);
              return std::string(queue->backend_name()) +
                     (into == file.bytes()[700] ? " right" : "");
            }),
            "pread right");
}

TEST(ReadQueue, io_uring_that_is_asked_for_and_refused_is_unsupported) {
  EXPECT_EQ(in_forked_child([]() -> std::string {
              if (!forbid_io_uring()) return "no seccomp";
              try {
                make_read_queue({.backend = ReadBackend::kIoUring});
              } catch (const UnsupportedError& error) {
                return error.detail().found;
              }
              return "made";
            }),
            "the kernel's settings or a container's seccomp profile forbid io_uring");
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

TEST(ReadQueue, each_thread_tells_of_its_completions_once_they_are_there) {
  const auto source = memory_source("memory", numbered_bytes(10));
  std::byte byte{};
  std::vector<ReadRequest> requests(20, {source.get(), 0, {&byte, 1}, 0});
  std::atomic<size_t> told = 0;
  std::unique_ptr<ReadQueue> queue;
  queue = make_read_queue({.threads = 1, .backend = ReadBackend::kPread, .on_completion = [&] {
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
  EXPECT_THROW(make_read_queue({.on_completion = [] {}}), InvalidArgumentError);
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
    source.await_reads(15);  // would hang, were they fewer
    queue->set_threads(25);
    queue->submit(std::span(requests).last(20));
    source.await_reads(25);
    source.open();
    std::vector<Completion> completions(40);
    EXPECT_EQ(queue->wait(completions, 40), 40u);
    source.close();
  }
}

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

  // Reads everything. Returns: how many requests have their bytes.
  size_t right(ReadQueue& queue) {
    queue.submit(requests_);
    std::vector<Completion> completions(requests_.size());
    queue.wait(completions, completions.size());
    size_t count = 0;
    for (const Completion& done : completions) {
      const ReadRequest& request = requests_[done.tag];
      count += done.error == nullptr &&
               std::equal(request.into.begin(), request.into.end(),
                          file_.bytes().begin() + static_cast<ptrdiff_t>(request.offset));
    }
    return count;
  }

 private:
  static constexpr std::align_val_t kAligned{kDirectAlignment};
  static constexpr size_t kRoom = 4 * kDirectAlignment;
  ReadFile file_;
  std::vector<std::byte*> memory_;
  std::vector<ReadRequest> requests_;
};

std::vector<ReadQueueOptions> every_queue() {
  return {{.threads = 0},
          {.threads = 2, .backend = ReadBackend::kPread},
          {.threads = 2, .backend = ReadBackend::kAuto}};
}

TEST(ReadQueue, direct_reads_bring_the_same_bytes) {
  for (ReadQueueOptions options : every_queue()) {
    DirectFile file;
    if (file.source().direct_descriptor().descriptor < 0)
      GTEST_SKIP() << "no O_DIRECT in the temporary files";
    options.direct = true;
    options.warn = [](const std::string& warning) { ADD_FAILURE() << warning; };
    const auto queue = make_read_queue(options);
    // What lies around a request shows that the read was an aligned one.
    const ReadRequest& sample = file.requests()[20];
    EXPECT_EQ(file.right(*queue), 60u) << queue->backend_name();
    std::vector<std::byte> before(1);
    file.source().read(sample.offset - 1, before);
    EXPECT_EQ(*(sample.into.data() - 1), before[0]) << queue->backend_name();
  }
}

TEST(ReadQueue, memory_that_is_not_aligned_or_has_no_room_is_read_in_the_ordinary_way) {
  for (ReadQueueOptions options : every_queue()) {
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

// With a descriptor for direct reads that the test gives, and counts. Default: none, ever.
class WithDirect final : public Source {
 public:
  explicit WithDirect(const Source& inner, std::function<Direct()> direct = {})
      : inner_(inner), direct_(std::move(direct)) {}
  uint64_t size_bytes() const override { return inner_.size_bytes(); }
  const std::string& uri() const override { return inner_.uri(); }
  void read(uint64_t offset, MutableBytes into) const override { inner_.read(offset, into); }
  MappedBytes map() const override { return inner_.map(); }
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

TEST(ReadQueue, a_file_system_without_direct_reads_warns_once_and_reads) {
  for (ReadQueueOptions options : every_queue()) {
    DirectFile file;
    const WithDirect source(file.source());
    for (ReadRequest& request : file.requests()) request.source = &source;
    std::vector<std::string> warnings;
    options.direct = true;
    options.warn = [&](const std::string& warning) { warnings.push_back(warning); };
    EXPECT_EQ(file.right(*make_read_queue(options)), 60u);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("refuses direct reads (Operation not supported)"), std::string::npos)
        << warnings[0];
  }
}

// That every queue reads rightly what cannot be read directly, warns of it once, and does not ask
// the source for direct reads again.
void expect_given_up(const std::function<Source::Direct()>& direct, const std::string& warning) {
  for (ReadQueueOptions options : every_queue()) {
    DirectFile file;
    const WithDirect source(file.source(), direct);
    for (ReadRequest& request : file.requests()) request.source = &source;
    std::vector<std::string> warnings;
    options.direct = true;
    options.warn = [&](const std::string& text) { warnings.push_back(text); };
    const auto queue = make_read_queue(options);
    EXPECT_EQ(file.right(*queue), 60u);
    const int asked = source.asked.load();
    EXPECT_EQ(file.right(*queue), 60u);
    EXPECT_EQ(source.asked.load(), asked) << queue->backend_name();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find(warning), std::string::npos) << warnings[0];
  }
}

TEST(ReadQueue, direct_reads_that_are_refused_at_the_read_are_given_up) {
  // Opens, and refuses every read: only root may open it so.
  const local::Descriptor refuses(::open("/proc/self/clear_refs", O_RDONLY | O_CLOEXEC));
  std::byte probe{};
  if (::pread(refuses.get(), &probe, 1, 0) >= 0 || errno != EINVAL) GTEST_SKIP() << "not root";
  expect_given_up(
      [&] {
        return Source::Direct{refuses.get(), 0};
      },
      "refuses direct reads (Invalid argument)");
}

// As without /proc, or without leave to open the file once more.
TEST(ReadQueue, a_file_that_never_opens_for_direct_reads_is_not_asked_for_each_of_them) {
  expect_given_up(
      [] {
        return Source::Direct{-1, EACCES};
      },
      "cannot be opened for direct reads (Permission denied); they go");
}

TEST(ReadQueue, direct_reads_of_what_is_not_held_open_warn_once_and_read) {
  for (ReadQueueOptions options : every_queue()) {
    const auto source = memory_source("memory", numbered_bytes(100));
    std::vector<std::byte> memory(30);
    std::vector<ReadRequest> requests;
    for (uint64_t i = 0; i < 30; ++i) {
      requests.push_back({source.get(), i, MutableBytes(memory).subspan(i, 1), i});
    }
    std::vector<std::string> warnings;
    options.direct = true;
    options.warn = [&](const std::string& warning) { warnings.push_back(warning); };
    const auto queue = make_read_queue(options);
    queue->submit(requests);
    std::vector<Completion> completions(30);
    EXPECT_EQ(queue->wait(completions, 30), 30u);
    for (const Completion& done : completions) EXPECT_EQ(done.error, nullptr);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("a folder's files are opened one at a time"), std::string::npos)
        << warnings[0];
  }
}

TEST(ReadQueue, a_lack_of_descriptors_is_no_refusal_and_passes) {
  for (ReadQueueOptions options : every_queue()) {
    DirectFile file;
    const Source::Direct works = file.source().direct_descriptor();
    std::atomic<bool> lacking = true;
    const WithDirect source(file.source(), [&] {
      return lacking ? Source::Direct{-1, EMFILE} : works;
    });
    for (ReadRequest& request : file.requests()) request.source = &source;
    std::vector<std::string> warnings;
    options.direct = true;
    options.warn = [&](const std::string& warning) { warnings.push_back(warning); };
    const auto queue = make_read_queue(options);
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
