// A read queue that forwards to another, or to the reads of one: a base class for queues that
// observe or disturb some methods.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "fuelrail/storage/read_queue.h"

namespace fuelrail {

// `Reads` has ReadQueue's methods. Lifetime: the inner queue is destroyed after the members of the
// derived class.
template <typename Reads = ReadQueue>
class ForwardingReadQueue : public ReadQueue {
 public:
  // Requires: not null.
  explicit ForwardingReadQueue(std::unique_ptr<Reads> inner) : inner_(std::move(inner)) {}

  void submit(std::span<const ReadRequest> requests) override { inner_->submit(requests); }
  size_t wait(std::span<Completion> into, size_t at_least) override {
    return inner_->wait(into, at_least);
  }
  void interrupt() noexcept override { inner_->interrupt(); }
  void cancel() noexcept override { inner_->cancel(); }
  size_t in_flight() const override { return inner_->in_flight(); }
  void set_threads(int threads) override { inner_->set_threads(threads); }
  const char* backend_name() const override { return inner_->backend_name(); }

 private:
  const std::unique_ptr<Reads> inner_;
};

}  // namespace fuelrail
