#include "fuelrail/engine/error_policy.h"

#include <algorithm>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr double kDefaultFraction = 0.01;
constexpr uint64_t kDefaultLeast = 10;

}  // namespace

uint64_t ErrorPolicy::most_bad(uint64_t records) const {
  if (max_bad) return max_bad->of(records);
  return std::max(kDefaultLeast, Allowance{.fraction = kDefaultFraction}.of(records));
}

const OptionTable<ErrorPolicy>& ErrorPolicy::table() {
  static const auto table =
      OptionTable<ErrorPolicy>()
          .choice("on_error", &ErrorPolicy::on_error,
                  {{"raise", OnError::kRaise}, {"skip", OnError::kSkip}},
                  "what to do with a sample that cannot be read or decoded. \"raise\": raise the "
                  "error in place of its batch; the loop can continue after it. \"skip\": fill its "
                  "row with another sample, drawn by (seed, epoch, position), so that all ranks "
                  "keep the same number of batches; id and label are the other sample's. "
                  "FuelrailWarnings name the first ten bad samples, and `bad_records` lists all. "
                  "(If warnings are turned into errors, the error is raised in place of the batch, "
                  "and the next call returns the batch.)")
          .any(option::allowance_rule(
                   "max_bad", "int or float or None",
                   "with on_error=\"skip\", how many samples of this rank's part of an "
                   "epoch may be bad, including bad substitutes. One more raises "
                   "TooManyBadRecordsError in place of its batch, and again in place of every "
                   "later batch until `set_epoch` or `load_state_dict`. An int is a "
                   "count, a float a fraction of that part (with `sampler` or "
                   "`batch_sampler`, of the dataset). Default: 0.01, but at least "
                   "10 samples."),
               &ErrorPolicy::max_bad)
          .number("max_record_bytes", &ErrorPolicy::max_record_bytes, 1, UINT64_MAX,
                  "the largest stored size of a record. A larger record is an error, raised before "
                  "memory is allocated for it.");
  return table;
}

void check(const ErrorPolicy& policy) {
  ErrorPolicy::table().check(policy);
  if (!policy.max_bad || policy.on_error == OnError::kSkip) return;
  throw InvalidArgumentError("`max_bad` needs on_error=\"skip\"",
                             {.remedy = "Set on_error=\"skip\", or omit `max_bad`"});
}

}  // namespace fuelrail
