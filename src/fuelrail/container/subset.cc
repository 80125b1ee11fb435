#include "fuelrail/container/subset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "fuelrail/base/error.h"
#include "fuelrail/base/permutation.h"
#include "fuelrail/container/fingerprint.h"

namespace fuelrail {
namespace {

using Parent = std::shared_ptr<const Container>;

// An arbitrary list of indices.
class ListedIndices {
 public:
  explicit ListedIndices(std::vector<uint64_t> indices) : indices_(std::move(indices)) {}
  uint64_t size() const { return indices_.size(); }
  uint64_t operator[](uint64_t i) const { return indices_[i]; }
  Fingerprint select_from(const Fingerprint& parent) const { return select(parent, indices_); }

 private:
  std::vector<uint64_t> indices_;
};

class SteppedIndices {
 public:
  SteppedIndices(uint64_t begin, uint64_t count, int64_t step)
      : begin_(begin), count_(count), step_(step) {}
  uint64_t size() const { return count_; }
  uint64_t operator[](uint64_t i) const { return begin_ + i * static_cast<uint64_t>(step_); }
  Fingerprint select_from(const Fingerprint& parent) const {
    return select(parent, begin_, count_, step_);
  }

 private:
  uint64_t begin_;
  uint64_t count_;
  int64_t step_;
};

class View : public Container {
 public:
  virtual const Container& parent() const = 0;
};

template <typename Indices>
class Subset final : public View {
 public:
  const Container& parent() const override { return *parent_; }
  Subset(Parent parent, Indices indices)
      : parent_(std::move(parent)), indices_(std::move(indices)) {}

  uint64_t size() const override { return indices_.size(); }
  const Schema& schema() const override { return parent_->schema(); }
  Extent extent(uint64_t i) const override { return parent_->extent(indices_[i]); }
  Extent extent_while(uint64_t i, const KeepGoing& keep_going) const override {
    return parent_->extent_while(indices_[i], keep_going);
  }
  size_t makes_at_once() const override { return parent_->makes_at_once(); }
  Extent record_extent(uint64_t i) const override { return parent_->record_extent(indices_[i]); }
  bool knows_extent(uint64_t i) const override { return parent_->knows_extent(indices_[i]); }
  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    parent_->parse(indices_[i], framed, out);
  }
  Place place(uint64_t i) const override { return parent_->place(indices_[i]); }
  std::optional<Size> image_size(uint64_t i) const override {
    return parent_->image_size(indices_[i]);
  }
  const std::vector<std::string>& classes() const override { return parent_->classes(); }
  const std::vector<std::string>& classes_of(std::string_view field) const override {
    return parent_->classes_of(field);
  }
  const char* format() const override { return parent_->format(); }
  bool verifies_checksums() const override { return parent_->verifies_checksums(); }

 private:
  Fingerprint make_fingerprint(const KeepGoing& keep_going) const override {
    return indices_.select_from(parent_->fingerprint(keep_going));
  }

  Parent parent_;
  Indices indices_;
};

[[noreturn]] void throw_out_of_range(const std::string& index, uint64_t size) {
  throw OutOfRangeError("the record index is out of range",
                        {.expected = fmt::format("an index below {}", size), .found = index});
}

// Whether begin + (count - 1) * step is in [0, size). Avoids overflow.
bool fits(uint64_t begin, uint64_t count, int64_t step, uint64_t size) {
  if (begin >= size) return false;
  const uint64_t room = step > 0 ? size - 1 - begin : begin;
  const uint64_t stride =
      step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  return count - 1 <= room / stride;
}

using Fractions = std::vector<std::pair<std::string, double>>;

void check_fractions(const Fractions& fractions) {
  std::set<std::string> names;
  double sum = 0;
  for (const auto& [name, fraction] : fractions) {
    if (name.empty()) throw InvalidArgumentError("a part of the split has no name");
    if (!names.insert(name).second) {
      throw InvalidArgumentError(fmt::format("the split has two parts named '{}'", name));
    }
    if (!(fraction > 0 && fraction <= 1)) {
      throw InvalidArgumentError(
          fmt::format("the fraction for the part '{}' of the split is out of range", name),
          {.expected = "more than 0 and at most 1", .found = fmt::format("{}", fraction)});
    }
    sum += fraction;
  }
  if (sum > 1 + 1e-9) {
    throw InvalidArgumentError("the fractions of the split add up to more than 1",
                               {.found = fmt::format("{}", sum)});
  }
}

}  // namespace

const Container* parent_of(const Container& container) {
  const auto* selection = dynamic_cast<const View*>(&container);
  return selection == nullptr ? nullptr : &selection->parent();
}

std::shared_ptr<const Container> subset(std::shared_ptr<const Container> parent,
                                        std::vector<uint64_t> indices) {
  for (const uint64_t index : indices) {
    if (index >= parent->size()) throw_out_of_range(fmt::format("{}", index), parent->size());
  }
  return std::make_shared<Subset<ListedIndices>>(std::move(parent),
                                                 ListedIndices(std::move(indices)));
}

std::shared_ptr<const Container> slice(std::shared_ptr<const Container> parent, uint64_t begin,
                                       uint64_t count, int64_t step) {
  if (step == 0) throw InvalidArgumentError("the step of a slice cannot be 0");
  if (count > 0 && !fits(begin, count, step, parent->size())) {
    throw_out_of_range(fmt::format("begin {}, count {}, step {}", begin, count, step),
                       parent->size());
  }
  return std::make_shared<Subset<SteppedIndices>>(std::move(parent),
                                                  SteppedIndices(begin, count, step));
}

std::vector<std::pair<std::string, std::vector<uint64_t>>> split_indices(
    uint64_t records, const std::vector<std::pair<std::string, double>>& fractions, uint64_t seed) {
  // Frozen. Epochs use streams below 2^32, so no epoch has the permutation of a split.
  constexpr uint64_t kStream = 0x73706C6974000000;
  check_fractions(fractions);
  std::vector<std::pair<std::string, std::vector<uint64_t>>> parts;
  double sum = 0;
  uint64_t begin = 0;
  for (const auto& [name, fraction] : fractions) {
    sum += fraction;
    const auto end =
        std::min(records, static_cast<uint64_t>(std::llround(static_cast<double>(records) * sum)));
    std::vector<uint64_t> indices;
    indices.reserve(end - begin);
    if (begin < end) {
      const Permutation permutation(records, seed, kStream);
      for (uint64_t position = begin; position < end; ++position) {
        indices.push_back(permutation(position));
      }
      std::sort(indices.begin(), indices.end());
    }
    parts.emplace_back(name, std::move(indices));
    begin = end;
  }
  return parts;
}

}  // namespace fuelrail
