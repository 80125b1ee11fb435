#include "fuelrail/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace fuelrail {

Error::Error(std::string failure, ErrorDetail detail)
    : failure_(std::move(failure)), detail_(std::move(detail)) {
  compose();
}

void Error::add(const ErrorDetail& detail) {
  const auto fill = [](auto& mine, const auto& theirs, bool known) {
    if (!known) mine = theirs;
  };
  fill(detail_.path, detail.path, !detail_.path.empty());
  fill(detail_.record, detail.record, detail_.record.has_value());
  fill(detail_.field, detail.field, !detail_.field.empty());
  fill(detail_.offset, detail.offset, detail_.offset.has_value());
  fill(detail_.expected, detail.expected, !detail_.expected.empty());
  fill(detail_.found, detail.found, !detail_.found.empty());
  fill(detail_.remedy, detail.remedy, !detail_.remedy.empty());
  compose();
}

void Error::compose() {
  std::string inside;  // the file
  const auto join = [&inside](const std::string& part) {
    inside += (inside.empty() ? "" : ", ") + part;
  };
  if (detail_.record) join(fmt::format("record {}", *detail_.record));
  if (!detail_.field.empty()) join(fmt::format("field '{}'", detail_.field));
  if (detail_.offset) join(fmt::format("offset {}", *detail_.offset));
  const bool both = !detail_.path.empty() && !inside.empty();
  const std::string place = detail_.path + (both ? ": " : "") + inside;
  message_ = place.empty() ? failure_ : place + ": " + failure_;
  if (!detail_.expected.empty()) message_ += ": expected " + detail_.expected;
  if (!detail_.found.empty())
    message_ += (detail_.expected.empty() ? ": found " : ", found ") + detail_.found;
  if (!detail_.remedy.empty()) {
    message_ += ". " + detail_.remedy;
    if (detail_.remedy.back() != '?') message_ += '.';
  }
}

namespace {

size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

// Twice the edit distance, but at most 3 for a name that begins with the other one, such as
// `padded` and `pad`, or that is the last part of the other one's path: `boxes` and
// `objects.boxes`.
size_t distance_between(const std::string& given, const std::string& name) {
  constexpr size_t kShortestPart = 3;
  const size_t common = std::min(given.size(), name.size());
  const std::string& longer = given.size() > name.size() ? given : name;
  const bool begins = common >= kShortestPart && given.compare(0, common, name, 0, common) == 0 &&
                      longer.find('.', common) == longer.npos;
  const bool ends = !given.empty() && name.ends_with("." + given);
  const size_t distance = 2 * edit_distance(given, name);
  return begins || ends ? std::min<size_t>(distance, 3) : distance;
}

}  // namespace

std::string suggest(const std::string& given, const std::vector<std::string>& known) {
  std::string nearest;
  std::string all;
  size_t best = 2 * std::max<size_t>(2, given.size() / 2) + 1;
  for (const std::string& name : known) {
    const size_t distance = distance_between(given, name);
    if (distance < std::min(best, 2 * std::max(given.size(), name.size()))) {
      best = distance;
      nearest = name;
    }
    all += (all.empty() ? "" : ", ") + name;
  }
  return nearest.empty() ? "Known: " + all : "Did you mean '" + nearest + "'?";
}

}  // namespace fuelrail
