// A container of any size that repeats the records of another, with computed extents. For tests
// that a cost does not depend on the number of records.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/forwarding_container.h"

namespace fuelrail {

class RepeatedContainer final : public ForwardingContainer {
 public:
  // Requires: `inner` has records.
  RepeatedContainer(std::shared_ptr<const Container> inner, uint64_t size)
      : ForwardingContainer(std::move(inner)), size_(size) {}

  uint64_t size() const override { return size_; }
  Extent extent(uint64_t i) const override { return inner().extent(i % inner().size()); }
  bool knows_extent(uint64_t i) const override { return inner().knows_extent(i % inner().size()); }
  // The sample's id is the index.
  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    inner().parse(i % inner().size(), framed, out);
    out.id = i;
  }
  Place place(uint64_t i) const override { return inner().place(i % inner().size()); }
  std::optional<Size> image_size(uint64_t i) const override {
    return inner().image_size(i % inner().size());
  }

 private:
  Fingerprint make_fingerprint(const KeepGoing& keep_going) const override {
    return {.records = size_, .bytes = size_, .checksum = inner().fingerprint(keep_going).checksum};
  }

  uint64_t size_;
};

}  // namespace fuelrail
