// What becomes of a record that cannot be read or made into a row.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fuelrail/base/option.h"
#include "fuelrail/container/container.h"

namespace fuelrail {

enum class OnError : uint8_t {
  kRaise,  // `next` throws in place of the batch
  kSkip,   // the row is made of a substitute (Sampler::substitute), and the record is noted
};

// An Error of the record's own data or of their reading is skipped; what is none (a lack of memory,
// an exception of a user's code) and a StateError is thrown under either policy.
struct ErrorPolicy {
  OnError on_error = OnError::kRaise;
  // With kSkip: bad records that one epoch may have in this process's rows, those that came up in a
  // substitute's place among them; each counts once. Counted anew after `restart`, unless that is
  // told to go on counting. A count, or a fraction of the records, rounded down. Default: 1 %, but
  // at least 10.
  std::optional<Allowance> max_bad{};
  uint64_t max_record_bytes = kDefaultMaxRecordBytes;  // a longer record is a bad one

  // `max_bad` as a count, of so many records.
  uint64_t most_bad(uint64_t records) const;

  static const OptionTable<ErrorPolicy>& table();
};

// Errors: those of the table's check; InvalidArgumentError for `max_bad` without kSkip.
void check(const ErrorPolicy& policy);

// A record that was skipped.
struct BadRecord {
  uint64_t record = 0;    // index in the container
  uint32_t epoch = 0;     // where it came up first
  uint64_t position = 0;  // likewise: in the epoch's order
  uint64_t times = 0;     // that it came up
  std::string error{};    // the first one's text, with its place
};

}  // namespace fuelrail
