#include "fuelrail/sampler/fed_sampler.h"

#include <fmt/format.h>

#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {

FedSampler::FedSampler(uint64_t records, std::function<std::optional<std::vector<uint64_t>>()> feed,
                       Progress start)
    : records_(records), feed_(std::move(feed)), at_(start) {}

std::optional<BatchPlan> FedSampler::next() {
  if (ended_) return std::nullopt;
  if (!ahead_) ahead_ = feed_();
  if (!ahead_) {
    ended_ = true;
    return std::nullopt;
  }

  BatchPlan plan{.entries = {}, .epoch = at_.epoch, .ends_epoch = false, .after = at_};
  plan.entries.reserve(ahead_->size());
  for (const uint64_t record : *ahead_) {
    if (record >= records_) {
      throw OutOfRangeError("the fed order names a record that does not exist",
                            {.expected = fmt::format("a record below {}", records_),
                             .found = fmt::to_string(record)});
    }
    plan.entries.push_back(
        {.record = record, .position = plan.after.position++, .epoch = at_.epoch, .valid = true});
  }

  // A throwing feed must leave the batch in hand for the next call.
  std::optional<std::vector<uint64_t>> following = feed_();
  plan.ends_epoch = !following;
  if (plan.ends_epoch) plan.after = {at_.epoch + 1, 0};
  ahead_ = std::move(following);
  at_ = plan.after;
  return plan;
}

std::optional<uint64_t> FedSampler::substitute(const BatchPlan& plan, size_t row,
                                               uint32_t attempt) const {
  const size_t rows = plan.entries.size();
  if (attempt >= rows) return std::nullopt;
  return plan.entries[(row + attempt) % rows].record;
}

}  // namespace fuelrail
