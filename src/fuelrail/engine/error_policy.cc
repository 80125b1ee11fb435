#include "fuelrail/engine/error_policy.h"

#include <algorithm>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr double kDefaultFraction = 0.01;
constexpr uint64_t kDefaultLeast = 10;

using MaxBad = decltype(ErrorPolicy::max_bad);

bool may_be_bad(const OptionValue& value) {
  if (const auto* count = std::get_if<int64_t>(&value)) return *count >= 0;
  if (const auto* fraction = std::get_if<double>(&value)) return *fraction >= 0 && *fraction <= 1;
  return std::holds_alternative<std::monostate>(value) || std::holds_alternative<uint64_t>(value);
}

OptionValue value_of(const MaxBad& max_bad) {
  return std::visit([](const auto& given) { return option::value_of(given); }, max_bad);
}

MaxBad max_bad_of(const OptionValue& value) {
  if (const auto* count = std::get_if<int64_t>(&value)) return static_cast<uint64_t>(*count);
  if (const auto* count = std::get_if<uint64_t>(&value)) return *count;
  if (const auto* fraction = std::get_if<double>(&value)) return *fraction;
  return {};
}

}  // namespace

uint64_t ErrorPolicy::most_bad(uint64_t records) const {
  if (const auto* count = std::get_if<uint64_t>(&max_bad)) return *count;
  const auto all = static_cast<double>(records);
  if (const auto* fraction = std::get_if<double>(&max_bad)) {
    return static_cast<uint64_t>(*fraction * all);
  }
  return std::max(kDefaultLeast, static_cast<uint64_t>(kDefaultFraction * all));
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
          .row(
              {.rule = {.name = "max_bad",
                        .kind = "int or float or None",
                        .bounds = "a fraction from 0 to 1, or a whole number",
                        .meaning = "with \"skip\", how many samples may be bad in this rank's part "
                                   "of an epoch, or where they stand in for others; one more is a "
                                   "TooManyBadRecordsError in place of its batch, which ends the "
                                   "run until `set_epoch` or `load_state_dict`. An int counts, a "
                                   "float is a fraction of that part (with `sampler` and "
                                   "`batch_sampler`, of the dataset). Default: 0.01, but at least "
                                   "10 samples.",
                        .allows = may_be_bad},
               .get = [](const ErrorPolicy& policy) { return value_of(policy.max_bad); },
               .set = [](ErrorPolicy& policy,
                         const OptionValue& value) { policy.max_bad = max_bad_of(value); }})
          .number("max_record_bytes", &ErrorPolicy::max_record_bytes, 1, UINT64_MAX,
                  "a record that is longer, as it is stored, is an error, before memory is taken "
                  "for it.");
  return table;
}

void check(const ErrorPolicy& policy) {
  ErrorPolicy::table().check(policy);
  if (policy.max_bad.index() == 0 || policy.on_error == OnError::kSkip) return;
  throw InvalidArgumentError("`max_bad` goes with on_error=\"skip\"",
                             {.remedy = "Give both, or leave it out"});
}

}  // namespace fuelrail
