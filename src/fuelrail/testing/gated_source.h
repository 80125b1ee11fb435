// A source whose reads a test can block.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "fuelrail/storage/source.h"

namespace fuelrail {

// A source whose reads wait until the gate is opened.
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

  void open() {
    std::lock_guard hold(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void close() {
    std::lock_guard hold(mutex_);
    open_ = false;
    waiting_ = 0;
  }
  // Waits until `reads` reads have arrived at the gate since it was closed.
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

}  // namespace fuelrail
