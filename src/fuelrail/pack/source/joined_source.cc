#include "fuelrail/pack/source/joined_source.h"

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/class_names.h"

namespace fuelrail::pack {

void JoinedSource::add(const std::string& split, std::unique_ptr<PackSource> source) {
  if (!sources_.empty()) {
    if (const auto difference = first_difference(classes(), source->classes())) {
      throw InvalidArgumentError("the sources have different class names",
                                 {.path = source->path(0),
                                  .expected = difference->expected,
                                  .found = difference->found,
                                  .remedy = "Give the class names with `classes` (--classes)"});
    }
  }
  splits_.push_back({.name = split, .end = size() + source->size()});
  sources_.push_back(std::move(source));
}

template <typename Use>
auto JoinedSource::with(uint64_t i, const Use& use) const {
  const auto split =
      std::ranges::upper_bound(splits_, i, {}, &Split::end);  // the first that ends after i
  const auto number = static_cast<size_t>(split - splits_.begin());
  return use(*sources_[number], number == 0 ? i : i - splits_[number - 1].end);
}

std::string JoinedSource::path(uint64_t i) const {
  return with(i, [](const PackSource& source, uint64_t image) { return source.path(image); });
}

std::string JoinedSource::description(uint64_t i) const {
  return with(i,
              [](const PackSource& source, uint64_t image) { return source.description(image); });
}

uint64_t JoinedSource::with_several_labels() const {
  uint64_t images = 0;
  for (const auto& source : sources_) images += source->with_several_labels();
  return images;
}

void JoinedSource::read(uint64_t i, SourceImage& out) const {
  with(i, [&out](const PackSource& source, uint64_t image) { source.read(image, out); });
  out.id = i;
}

}  // namespace fuelrail::pack
