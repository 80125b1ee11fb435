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
                  "what to do with a sample that cannot be read or decoded. \"raise\" raises the "
                  "error in place of the batch; the next call returns the next batch. \"skip\" "
                  "replaces the sample, including its id and label, with another sample, which "
                  "depends on the seed, the epoch and the position. So all ranks keep the same "
                  "number of batches. FuelrailWarnings name the first ten bad samples, and "
                  "`bad_records` lists all. If warnings are turned into errors, the warning is "
                  "raised in place of the batch, and the next call returns this batch.")
          .any(option::allowance_rule(
                   "max_bad", "int or float or None",
                   "with on_error=\"skip\", the largest allowed number of bad samples in this "
                   "rank's part of an epoch. Bad replacements count, too. If more samples are "
                   "bad, TooManyBadRecordsError is raised in place of the batch and of every "
                   "later batch, until `set_epoch` or `load_state_dict` is called. An int is a "
                   "number of samples. A float is a fraction of this rank's part of the epoch "
                   "(with `sampler` or `batch_sampler`, a fraction of the dataset). Default: 0.01, "
                   "but at least 10 samples."),
               &ErrorPolicy::max_bad)
          .number("max_record_bytes", &ErrorPolicy::max_record_bytes, 1, UINT64_MAX,
                  "the largest allowed size of a stored record, in bytes. A larger record raises "
                  "an error before memory is allocated for it.");
  return table;
}

void check(const ErrorPolicy& policy) {
  ErrorPolicy::table().check(policy);
  if (!policy.max_bad || policy.on_error == OnError::kSkip) return;
  throw InvalidArgumentError("`max_bad` needs on_error=\"skip\"",
                             {.remedy = "Set on_error=\"skip\", or omit `max_bad`"});
}

}  // namespace fuelrail
