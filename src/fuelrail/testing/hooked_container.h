// A container around another, with hooks for the places of its records and the reading of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/forwarding_container.h"

namespace fuelrail {

// Each hook is called before the method of its name, and may throw. Threads: any.
struct ContainerHooks {
  std::function<void(uint64_t record)> extent{};
  std::function<void(uint64_t offset, uint64_t length)> read{};
  std::function<void(uint64_t record)> place{};
  std::function<uint64_t(uint64_t record, uint64_t length)> claimed_length{};  // the extent's
  // Whether the record at `offset` is in the page cache. If set, sources have a descriptor, which
  // reads without the hook `read`.
  std::function<bool(uint64_t offset)> is_cached{};
  bool knows_extents = true;  // false: asking for an extent counts as reading a file
};

class HookedContainer final : public ForwardingContainer {
 public:
  HookedContainer(std::shared_ptr<const Container> inner, ContainerHooks hooks)
      : ForwardingContainer(std::move(inner)), hooks_(std::move(hooks)) {}

  bool knows_extent(uint64_t i) const override {
    return hooks_.knows_extents && inner().knows_extent(i);
  }
  Extent extent(uint64_t i) const override {
    if (hooks_.extent) hooks_.extent(i);
    Extent extent = inner().extent(i);
    if (hooks_.claimed_length) extent.length = hooks_.claimed_length(i, extent.length);
    if (hooks_.read || hooks_.is_cached) {
      extent.source = std::make_shared<HookedSource>(extent.source, hooks_);
    }
    return extent;
  }
  Place place(uint64_t i) const override {
    if (hooks_.place) hooks_.place(i);
    return inner().place(i);
  }

 private:
  // A new source for each extent, which the engine must keep alive until it has been read.
  class HookedSource final : public Source {
   public:
    HookedSource(std::shared_ptr<const Source> inner, ContainerHooks hooks)
        : inner_(std::move(inner)), hooks_(std::move(hooks)) {}
    uint64_t size_bytes() const override { return inner_->size_bytes(); }
    const std::string& uri() const override { return inner_->uri(); }
    void read(uint64_t offset, MutableBytes into) const override {
      if (hooks_.read) hooks_.read(offset, into.size());
      inner_->read(offset, into);
    }
    bool read_if_cached(uint64_t offset, std::span<const MutableBytes> pieces) const override {
      if (!hooks_.is_cached || !hooks_.is_cached(offset)) return false;
      inner_->read_scattered(offset, pieces);
      return true;
    }
    int descriptor() const override { return hooks_.is_cached ? inner_->descriptor() : -1; }

   private:
    std::shared_ptr<const Source> inner_;
    ContainerHooks hooks_;
  };

  ContainerHooks hooks_;
};

}  // namespace fuelrail
