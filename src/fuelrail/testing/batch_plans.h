// Helpers for tests of the epoch's order: the plans of a whole epoch of an EpochSampler, and their
// parts.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fuelrail/sampler/epoch_sampler.h"

namespace fuelrail {

inline constexpr LastBatch kPolicies[] = {LastBatch::kShort, LastBatch::kDrop, LastBatch::kPad,
                                          LastBatch::kWrap};

inline const char* name_of(LastBatch last_batch) {
  switch (last_batch) {
    case LastBatch::kShort:
      return "short";
    case LastBatch::kDrop:
      return "drop";
    case LastBatch::kPad:
      return "pad";
    case LastBatch::kWrap:
      return "wrap";
  }
  return "";
}

// The plans from `start` to the end of its epoch.
inline std::vector<BatchPlan> rest_of_epoch(const EpochSamplerOptions& options,
                                            Progress start = {}) {
  EpochSampler sampler(options, start);
  std::vector<BatchPlan> plans;
  while (sampler.progress().epoch == start.epoch) {
    std::optional<BatchPlan> plan = sampler.next();
    if (!plan) break;
    plans.push_back(std::move(*plan));
  }
  return plans;
}

inline std::vector<uint64_t> records_of(const BatchPlan& plan) {
  std::vector<uint64_t> records;
  for (const Entry& entry : plan.entries) records.push_back(entry.record);
  return records;
}

inline std::vector<uint64_t> positions_of(const BatchPlan& plan) {
  std::vector<uint64_t> positions;
  for (const Entry& entry : plan.entries) positions.push_back(entry.position);
  return positions;
}

inline std::vector<bool> valid_of(const BatchPlan& plan) {
  std::vector<bool> valid;
  for (const Entry& entry : plan.entries) valid.push_back(entry.valid);
  return valid;
}

using Records = std::vector<uint64_t>;
using Valid = std::vector<bool>;

}  // namespace fuelrail
