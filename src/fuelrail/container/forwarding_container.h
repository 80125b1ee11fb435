// The base of a container that is another one with some methods changed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/container/container.h"

namespace fuelrail {

// Forwards to `inner`, except what has a default in terms of `extent`: `record_extent` and
// `extent_while`, and `makes_at_once`.
class ForwardingContainer : public Container {
 public:
  uint64_t size() const override { return inner_->size(); }
  const Schema& schema() const override { return inner_->schema(); }
  Extent extent(uint64_t i) const override { return inner_->extent(i); }
  bool knows_extent(uint64_t i) const override { return inner_->knows_extent(i); }
  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    inner_->parse(i, framed, out);
  }
  Place place(uint64_t i) const override { return inner_->place(i); }
  std::optional<Size> image_size(uint64_t i) const override { return inner_->image_size(i); }
  const std::vector<std::string>& classes() const override { return inner_->classes(); }
  const std::vector<std::string>& classes_of(std::string_view field) const override {
    return inner_->classes_of(field);
  }
  const char* format() const override { return inner_->format(); }
  bool verifies_checksums() const override { return inner_->verifies_checksums(); }

 protected:
  explicit ForwardingContainer(std::shared_ptr<const Container> inner) : inner_(std::move(inner)) {}

  const Container& inner() const { return *inner_; }

 private:
  Fingerprint make_fingerprint(const KeepGoing& keep_going) const override {
    return inner_->fingerprint(keep_going);
  }

  std::shared_ptr<const Container> inner_;
};

}  // namespace fuelrail
