// How to handle a record that cannot be read or turned into a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuelrail/base/option.h"
#include "fuelrail/container/container.h"

namespace fuelrail {

enum class OnError : uint8_t {
  kRaise,  // `next` throws in place of the batch
  kSkip,   // the row gets a substitute (Sampler::substitute); the bad record is listed
};

// `skip` applies to Errors of a record's data or of reading them. StateErrors and exceptions that
// are not Errors (a lack of memory, an exception of user code) are thrown with both policies.
struct ErrorPolicy {
  OnError on_error = OnError::kRaise;
  // With kSkip: the most bad records that one epoch may have in this process's rows, including bad
  // substitutes; each record counts once. `restart` resets the count, unless it is called with
  // kGoOn. A number, or a fraction of the records, rounded down. Default: 1 %, but at least 10.
  std::optional<Allowance> max_bad{};
  uint64_t max_record_bytes = kDefaultMaxRecordBytes;  // a longer record is bad

  // `max_bad` as a count, for `records` records.
  uint64_t most_bad(uint64_t records) const;

  static const OptionTable<ErrorPolicy>& table();
};

// Errors: those of the table; InvalidArgumentError for `max_bad` without kSkip.
void check(const ErrorPolicy& policy);

// A record that was skipped.
struct BadRecord {
  uint64_t record = 0;    // index in the container
  uint32_t epoch = 0;     // of its first occurrence
  uint64_t position = 0;  // of its first occurrence, in the epoch's order
  uint64_t times = 0;     // number of occurrences
  std::string error{};    // text of its first error, with its place
};

}  // namespace fuelrail
