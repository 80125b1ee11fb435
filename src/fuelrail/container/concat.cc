#include "fuelrail/container/concat.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "fuelrail/base/error.h"
#include "fuelrail/base/ranges.h"
#include "fuelrail/container/class_names.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/schema_text.h"

namespace fuelrail {
namespace {

using Part = std::shared_ptr<const Container>;

std::string path_of(const Container& part) {
  return part.size() == 0 ? std::string() : part.place(0).path;
}

void check_part_schema(const Container& part, size_t number, const Schema& expected) {
  const auto differing = difference(expected, part.schema());
  if (!differing) return;
  throw InvalidArgumentError(
      fmt::format("part {} does not have the same fields as the parts before it", number),
      {.path = path_of(part),
       .expected = differing->expected,
       .found = differing->found,
       .remedy = "Join containers with the same fields, or pack the parts again with labels of the "
                 "same kind"});
}

class Concat final : public Container {
 public:
  // Requires: `parts` is not empty. Errors: those of `concat`.
  explicit Concat(std::vector<Part> parts) : parts_(std::move(parts)) {
    for (size_t number = 0; number < parts_.size(); ++number) add(*parts_[number], number);
  }

  uint64_t size() const override { return records_.size(); }
  const Schema& schema() const override { return parts_[0]->schema(); }

  Extent extent(uint64_t i) const override {
    const auto [part, record] = records_.find(i);
    return parts_[part]->extent(record);
  }
  Extent extent_while(uint64_t i, const KeepGoing& keep_going) const override {
    const auto [part, record] = records_.find(i);
    return parts_[part]->extent_while(record, keep_going);
  }
  size_t makes_at_once() const override {
    size_t most = 0;
    for (const Part& part : parts_) most = std::max(most, part->makes_at_once());
    return most;
  }
  Extent record_extent(uint64_t i) const override {
    const auto [part, record] = records_.find(i);
    return parts_[part]->record_extent(record);
  }
  bool knows_extent(uint64_t i) const override {
    const auto [part, record] = records_.find(i);
    return parts_[part]->knows_extent(record);
  }
  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    const auto [part, record] = records_.find(i);
    parts_[part]->parse(record, framed, out);
  }
  Place place(uint64_t i) const override {
    const auto [part, record] = records_.find(i);
    return parts_[part]->place(record);
  }
  std::optional<Size> image_size(uint64_t i) const override {
    const auto [part, record] = records_.find(i);
    return parts_[part]->image_size(record);
  }

  const std::vector<std::string>& classes() const override { return classes_; }
  const std::vector<std::string>& classes_of(std::string_view field) const override {
    const auto known = parts_with_classes_.find(std::string(field));
    return known == parts_with_classes_.end() ? Container::classes_of(field)
                                              : parts_[known->second]->classes_of(field);
  }
  std::span<const Part> parts() const { return parts_; }
  const char* format() const override {
    const std::string_view first = parts_[0]->format();
    const bool alike = std::all_of(parts_.begin(), parts_.end(),
                                   [&](const Part& part) { return part->format() == first; });
    return alike ? parts_[0]->format() : "several formats";
  }
  bool verifies_checksums() const override {
    return std::all_of(parts_.begin(), parts_.end(),
                       [](const Part& part) { return part->verifies_checksums(); });
  }

 private:
  Fingerprint make_fingerprint(const KeepGoing& keep_going) const override {
    Fingerprint all;
    for (const Part& part : parts_) all = join(all, part->fingerprint(keep_going));
    return all;
  }

  void add(const Container& part, size_t number) {
    check_part_schema(part, number, schema());
    if (classes_.empty()) classes_ = part.classes();
    if (!part.classes().empty()) {
      check_same_classes(
          classes_, part,
          fmt::format(
              "part {} cannot be joined to the parts before it: it has different class names",
              number),
          path_of(part));
    }
    for (const FieldSpec& field : schema().fields) {
      if (field.role == Role::kLabel && field.name != "label")
        add_classes(part, number, field.name);
    }
    records_.add(part.size());
  }

  void add_classes(const Container& part, size_t number, const std::string& field) {
    const std::vector<std::string>& names = part.classes_of(field);
    if (names.empty()) return;
    const auto [known, is_first] = parts_with_classes_.emplace(field, number);
    if (is_first) return;
    const auto differing = first_difference(parts_[known->second]->classes_of(field), names);
    if (!differing) return;
    throw InvalidArgumentError(
        fmt::format("part {} cannot be joined to the parts before it: field '{}' has different "
                    "class names",
                    number, field),
        {.path = path_of(part),
         .expected = differing->expected,
         .found = differing->found,
         .remedy = "Pack one of them again with the same classes"});
  }

  std::vector<Part> parts_;
  Ranges records_;  // per part
  std::vector<std::string> classes_;
  std::map<std::string, size_t> parts_with_classes_;  // of other fields: the first part with names
};

}  // namespace

std::shared_ptr<const Container> concat(std::vector<std::shared_ptr<const Container>> parts) {
  if (parts.empty()) {
    throw InvalidArgumentError("there are no containers to join",
                               {.expected = "at least one container"});
  }
  if (parts.size() == 1) return std::move(parts[0]);
  return std::make_shared<Concat>(std::move(parts));
}

std::span<const std::shared_ptr<const Container>> parts_of(const Container& container) {
  const auto* joined = dynamic_cast<const Concat*>(&container);
  if (joined == nullptr) return {};
  return joined->parts();
}

}  // namespace fuelrail
