#include "fuelrail/container/files/hidden_names.h"

#include <fmt/format.h>

namespace fuelrail::files {
namespace {

std::string counted_names(uint64_t count) {
  return fmt::format("{} name{} with a dot", count, count == 1 ? " that begins" : "s that begin");
}

}  // namespace

void HiddenNames::remove_from(std::vector<DirectoryEntry>& entries, const std::string& uri) {
  std::erase_if(entries, [&](const DirectoryEntry& entry) {
    if (!entry.name.starts_with('.')) return false;
    if (count_++ == 0) first_ = join_uri(uri, entry.name);
    return true;
  });
}

void HiddenNames::add(const HiddenNames& others) {
  if (count_ == 0) first_ = others.first_;
  count_ += others.count_;
}

std::string HiddenNames::describe() const {
  return fmt::format("{} (first {})", counted_names(count_), base_name(first_));
}

std::string HiddenNames::warning(const std::string& root) const {
  return fmt::format("{}: {} {} skipped: first {}", root, counted_names(count_),
                     count_ == 1 ? "is" : "are", first_);
}

}  // namespace fuelrail::files
