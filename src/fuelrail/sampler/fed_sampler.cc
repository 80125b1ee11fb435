#include "fuelrail/sampler/fed_sampler.h"

#include <fmt/format.h>

#include <utility>

#include "fuelrail/base/error.h"

namespace fuelrail {

FedSampler::FedSampler(uint64_t records, std::function<std::optional<FedBatch>()> feed,
                       Progress start, Position position, Shard shard)
    : records_(records), feed_(std::move(feed)), at_(start), position_(position), shard_(shard) {
  check(shard_);
}

std::optional<BatchPlan> FedSampler::next() {
  if (ended_) return std::nullopt;
  const std::optional<FedBatch> fed = feed_();
  ended_ = !fed;
  if (!fed) return std::nullopt;

  BatchPlan plan{.entries = {}, .epoch = at_.epoch, .ends_epoch = fed->ends_epoch, .after = at_};
  plan.entries.reserve(fed->records.size());
  for (const uint64_t record : fed->records) {
    if (record >= records_) {
      throw OutOfRangeError("the given order contains a record that does not exist",
                            {.expected = fmt::format("a record index below {}", records_),
                             .found = fmt::to_string(record)});
    }
    const uint64_t counted = plan.after.position++ * shard_.world_size + shard_.rank;
    plan.entries.push_back({.record = record,
                            .position = position_ == Position::kRecord ? record : counted,
                            .epoch = at_.epoch,
                            .valid = true});
  }
  if (plan.ends_epoch) plan.after = {at_.epoch + 1, 0};
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
