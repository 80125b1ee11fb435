// A container of any size that repeats the records of another, with computed extents. For tests
// that a cost does not depend on the number of records.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/listener.h"
#include "fuelrail/container/container.h"

namespace fuelrail {

class RepeatedContainer final : public Container {
 public:
  // Requires: `inner` has records.
  RepeatedContainer(std::shared_ptr<const Container> inner, uint64_t size)
      : inner_(std::move(inner)), size_(size) {}

  uint64_t size() const override { return size_; }
  const Schema& schema() const override { return inner_->schema(); }
  Extent extent(uint64_t i) const override { return inner_->extent(i % inner_->size()); }
  bool knows_extent(uint64_t i) const override { return inner_->knows_extent(i % inner_->size()); }
  // The sample's id is the index.
  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    inner_->parse(i % inner_->size(), framed, out);
    out.id = i;
  }
  Place place(uint64_t i) const override { return inner_->place(i % inner_->size()); }
  const std::vector<std::string>& classes() const override { return inner_->classes(); }
  bool verifies_checksums() const override { return inner_->verifies_checksums(); }

 private:
  Fingerprint make_fingerprint(const KeepGoing& keep_going) const override {
    return {.records = size_, .bytes = size_, .checksum = inner_->fingerprint(keep_going).checksum};
  }

  std::shared_ptr<const Container> inner_;
  uint64_t size_;
};

}  // namespace fuelrail
