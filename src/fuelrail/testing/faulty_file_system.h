// A file system around another that lets one operation fail: the n-th operation on it, its sources
// and its sinks. And one that delays every read, for tests of slow storage.
//
//   FaultyFileSystem faulty(memory_file_system());
//   const FileSystemOverride instead("memory", faulty);
//   faulty.arm(Fault::kError, 7);
#pragma once

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {

enum class Fault : uint8_t {
  kNone,
  kError,      // an IoError
  kShortRead,  // a source's read: a TruncatedError after half of the bytes; other
               // operations: kError
  kDiskFull,   // a sink's operation: the error of a full disk; other operations: kError
  kDelay,      // the operation takes 5 ms longer, and succeeds
  kKill,       // the process is killed before the operation, as by `kill -9`
  kInterrupt,  // the process gets the signal of Ctrl-C, and the operation succeeds
};

// Waits until a thread, possibly another one, has taken the signal.
inline void interrupt_this_process() {
  ::kill(::getpid(), SIGINT);
  sigset_t pending;
  do {
    std::this_thread::yield();
    ::sigpending(&pending);
  } while (::sigismember(&pending, SIGINT));
}

// Counts the operations of one FaultyFileSystem. Threads: any.
class FaultCounter {
 public:
  // Lets the operation `number` from now on (counted from 0) fail.
  void arm(Fault fault, uint64_t number) {
    fault_.store(fault, std::memory_order_relaxed);
    left_.store(static_cast<int64_t>(number), std::memory_order_release);
    count_.store(0, std::memory_order_relaxed);
  }
  uint64_t operations() const { return count_.load(std::memory_order_relaxed); }  // since `arm`

  // Counts an operation. Returns: the fault that happens in its place or before it.
  Fault next() {
    count_.fetch_add(1, std::memory_order_relaxed);
    const bool hit = left_.fetch_sub(1, std::memory_order_acq_rel) == 0;
    const Fault fault = hit ? fault_.load(std::memory_order_relaxed) : Fault::kNone;
    if (fault == Fault::kKill) ::kill(::getpid(), SIGKILL);
    if (fault == Fault::kInterrupt) interrupt_this_process();
    if (fault == Fault::kDelay) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return fault == Fault::kInterrupt || fault == Fault::kDelay ? Fault::kNone : fault;
  }

 private:
  std::atomic<Fault> fault_{Fault::kNone};
  std::atomic<int64_t> left_{-1};
  std::atomic<uint64_t> count_{0};
};

class FaultyFileSystem final : public FileSystem {
 public:
  explicit FaultyFileSystem(FileSystem& inner) : inner_(inner) {}

  void arm(Fault fault, uint64_t number) { counter_->arm(fault, number); }
  uint64_t operations() const { return counter_->operations(); }

  // Called before every operation of the file system itself, with the operation and its file.
  // Default: not called.
  std::function<void(std::string_view operation, const std::string& uri)> watch{};

  std::shared_ptr<const Source> open(const std::string& uri) override {
    strike("open", uri);
    return std::make_shared<FaultySource>(inner_.open(uri), counter_);
  }
  std::shared_ptr<const Source> open_lazily(const FileInfo& info,
                                            const std::string& shown_as) override {
    return std::make_shared<FaultySource>(inner_.open_lazily(info, shown_as), counter_);
  }
  std::string absolute(const std::string& uri) override { return inner_.absolute(uri); }
  std::unique_ptr<Sink> create(const std::string& uri) override {
    strike("create", uri);
    return std::make_unique<FaultySink>(inner_.create(uri), counter_);
  }
  std::unique_ptr<Sink> resume(const std::string& uri) override {
    strike("resume", uri);
    return std::make_unique<FaultySink>(inner_.resume(uri), counter_);
  }
  std::optional<FileInfo> stat(const std::string& uri) override {
    strike("stat", uri);
    return inner_.stat(uri);
  }
  std::vector<FileInfo> list(const std::string& uri) override {
    strike("list", uri);
    return inner_.list(uri);
  }
  void remove(const std::string& uri) override {
    strike("remove", uri);
    inner_.remove(uri);
  }
  void rename(const std::string& from, const std::string& to) override {
    strike("rename", from);
    inner_.rename(from, to);
  }
  void make_directory(const std::string& uri) override {
    strike("make_directory", uri);
    inner_.make_directory(uri);
  }

 private:
  using Counter = std::shared_ptr<FaultCounter>;

  [[noreturn]] static void fail(const char* operation, const std::string& uri) {
    throw IoError(std::string("injected fault: ") + operation, {.path = uri});
  }

  void strike(const char* operation, const std::string& uri) {
    if (watch) watch(operation, uri);
    if (counter_->next() != Fault::kNone) fail(operation, uri);
  }

  // Has no descriptor, so that every reader must call it.
  class FaultySource final : public Source {
   public:
    FaultySource(std::shared_ptr<const Source> inner, Counter counter)
        : inner_(std::move(inner)), counter_(std::move(counter)) {}
    uint64_t size_bytes() const override { return inner_->size_bytes(); }
    const std::string& uri() const override { return inner_->uri(); }
    void read(uint64_t offset, MutableBytes into) const override {
      const Fault fault = counter_->next();
      if (fault == Fault::kShortRead && !into.empty()) {
        const size_t half = into.size() / 2;
        inner_->read(offset, into.first(half));
        check_range(uri(), offset + half, offset, into.size());
      }
      if (fault != Fault::kNone) fail("read", uri());
      inner_->read(offset, into);
    }
    bool is_still_named() const override { return inner_->is_still_named(); }

   private:
    std::shared_ptr<const Source> inner_;
    Counter counter_;
  };

  class FaultySink final : public Sink {
   public:
    FaultySink(std::unique_ptr<Sink> inner, Counter counter)
        : inner_(std::move(inner)), counter_(std::move(counter)) {}
    const std::string& uri() const override { return inner_->uri(); }
    void write(Bytes bytes) override {
      strike("write");
      inner_->write(bytes);
    }
    uint64_t position() const override { return inner_->position(); }
    void rewrite(uint64_t offset, Bytes bytes) override {
      strike("rewrite");
      inner_->rewrite(offset, bytes);
    }
    void read_back(uint64_t offset, MutableBytes into) override {
      strike("read_back");
      inner_->read_back(offset, into);
    }
    void truncate(uint64_t size) override {
      strike("truncate");
      inner_->truncate(size);
    }
    bool is_first_writer() const override { return inner_->is_first_writer(); }
    void flush() override {
      strike("flush");
      inner_->flush();
    }
    void leave_partial(bool leave) override { inner_->leave_partial(leave); }
    void sync() override {
      strike("sync");
      inner_->sync();
    }
    void commit_as(const std::string& uri) override {
      strike("commit");
      inner_->commit_as(uri);
    }
    [[nodiscard]] bool commit_new() override {
      strike("commit_new");
      return inner_->commit_new();
    }

   private:
    void strike(const char* operation) {
      const Fault fault = failed_ ? Fault::kError : counter_->next();
      if (fault == Fault::kNone) return;
      failed_ = true;  // by the contract: after an error a sink can only be destroyed
      if (fault == Fault::kDiskFull) throw IoError("injected fault: disk full", {.path = uri()});
      fail(operation, uri());
    }

    std::unique_ptr<Sink> inner_;
    Counter counter_;
    bool failed_ = false;
  };

  FileSystem& inner_;
  Counter counter_ = std::make_shared<FaultCounter>();
};

}  // namespace fuelrail
