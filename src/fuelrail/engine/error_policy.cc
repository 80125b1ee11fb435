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
                  "what becomes of a sample that cannot be read or decoded. \"raise\": the error "
                  "comes in place of its batch, and the loop can go on after it. \"skip\": its row "
                  "is made of another sample, drawn by (seed, epoch, position), so that all ranks "
                  "keep the same number of batches; id and label are that sample's. A "
                  "FuelrailWarning names the first ten, and `bad_records` all. (Where warnings are "
                  "made errors, such a one comes in place of its batch, which the next call "
                  "gives.)")
          .any(option::allowance_rule(
                   "max_bad", "int or float or None",
                   "with \"skip\", how many samples may be bad in this rank's part "
                   "of an epoch, or where they stand in for others; one more is a "
                   "TooManyBadRecordsError in place of its batch, which ends the "
                   "run until `set_epoch` or `load_state_dict`. An int counts, a "
                   "float is a fraction of that part (with `sampler` and "
                   "`batch_sampler`, of the dataset). Default: 0.01, but at least "
                   "10 samples."),
               &ErrorPolicy::max_bad)
          .number("max_record_bytes", &ErrorPolicy::max_record_bytes, 1, UINT64_MAX,
                  "a record that is longer, as it is stored, is an error, before memory is taken "
                  "for it.");
  return table;
}

void check(const ErrorPolicy& policy) {
  ErrorPolicy::table().check(policy);
  if (!policy.max_bad || policy.on_error == OnError::kSkip) return;
  throw InvalidArgumentError("`max_bad` goes with on_error=\"skip\"",
                             {.remedy = "Give both, or leave it out"});
}

}  // namespace fuelrail
