// The list of skipped records, and the count of bad records that ends a run if it is too high.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fuelrail/container/container.h"
#include "fuelrail/engine/error_policy.h"
#include "fuelrail/sampler/sampler.h"

namespace fuelrail {

// A bad record of a row.
struct Failure {
  size_t row = 0;  // within its batch
  Entry entry{};
  std::exception_ptr error{};
};

// Throws the error. Adds the place of `entry` in `container`, unless the error already has a place.
// An exception that is not an Error is converted to an Error with the same text. Requires: error is
// not null.
[[noreturn]] void throw_with_place(const std::exception_ptr& error, const Container& container,
                                   const Entry& entry);

// Whether the `skip` policy applies to the error; see ErrorPolicy.
bool is_skippable(const std::exception_ptr& error);

// Failures are noted batch by batch in the order of delivery, so that the count depends only on the
// order and the data. Threads: one at a time.
class BadRecords {
 public:
  BadRecords(const Container& container, size_t max_bad)
      : container_(container), max_bad_(max_bad) {}

  // Adds the failures of a batch of `epoch`, sorted by row and attempt.
  void note(uint32_t epoch, std::vector<Failure> failures);

  // Replaces the list and the count with those of `before`. Requires: `before` belongs to a
  // container of the same records.
  void go_on_from(const BadRecords& before);

  // Resets the count, but not the list.
  void count_anew() {
    counted_.clear();
    last_.clear();
  }

  // `too_many`: whether this epoch has more than `max_bad` bad records. `too_many_error`: the error
  // that reports this and names the last few of them.
  bool too_many() const { return counted_.size() > max_bad_; }
  size_t max_bad() const { return max_bad_; }
  std::exception_ptr too_many_error() const;

  // One entry per record, in the order of first occurrence.
  const std::vector<BadRecord>& list() const { return list_; }

 private:
  const Container& container_;
  size_t max_bad_;
  uint32_t epoch_ = 0;
  std::unordered_set<uint64_t> counted_;  // bad records of `epoch_`
  std::vector<size_t> last_;              // indices in list_ of the last ones counted
  std::vector<BadRecord> list_;
  std::unordered_map<uint64_t, size_t> where_;  // record -> index in list_
};

}  // namespace fuelrail
