// Several sources as one, whose images are those of the sources one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {

// Each source is a split. An image's id is its position among all images.
class JoinedSource final : public PackSource {
 public:
  // The class names are those of the first source. Errors: InvalidArgumentError for a source with
  // other class names.
  void add(const std::string& split, std::unique_ptr<PackSource> source);

  uint64_t size() const override { return splits_.empty() ? 0 : splits_.back().end; }
  const std::vector<std::string>& classes() const override { return sources_.front()->classes(); }
  const std::vector<Split>& splits() const override { return splits_; }
  uint64_t id(uint64_t i) const override { return i; }
  std::string path(uint64_t i) const override;
  std::string description(uint64_t i) const override;
  uint64_t with_several_labels() const override;
  void read(uint64_t i, SourceImage& out) const override;

 private:
  // Calls use(source, image) with the source of image i, and its number there.
  template <typename Use>
  auto with(uint64_t i, const Use& use) const;

  std::vector<std::unique_ptr<PackSource>> sources_;
  std::vector<Split> splits_;
};

}  // namespace fuelrail::pack
