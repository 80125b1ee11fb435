// The record of what was skipped, and the count that ends a run.
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

// A row's record that could not be used.
struct Failure {
  size_t row = 0;  // in its batch
  Entry entry{};
  std::exception_ptr error{};
};

// Adds the place of `entry` in `container` to an error that lacks it, and throws it; what is no
// Error becomes one, with its text. Requires: error is not null.
[[noreturn]] void throw_with_place(const std::exception_ptr& error, const Container& container,
                                   const Entry& entry);

// Whether `skip` may pass over it: see ErrorPolicy.
bool is_skippable(const std::exception_ptr& error);

// Failures come in batch by batch, in the order of delivery: so that what is counted, and when the
// count is full, depends on the order and the data alone. Threads: one at a time.
class BadRecords {
 public:
  BadRecords(const Container& container, size_t max_bad)
      : container_(container), max_bad_(max_bad) {}

  // Notes the failures of a batch of `epoch`, sorted by row and attempt.
  void note(uint32_t epoch, std::vector<Failure> failures);

  // Takes over what `before` has listed and counted, in place of its own. Requires: `before` is of
  // a container of the same records.
  void go_on_from(const BadRecords& before);

  // Forgets the count, not the list.
  void count_anew() {
    counted_.clear();
    last_.clear();
  }

  // Whether this epoch had more than `max_bad` records that are bad, and the error that says so,
  // with the last few.
  bool too_many() const { return counted_.size() > max_bad_; }
  size_t max_bad() const { return max_bad_; }
  std::exception_ptr too_many_error() const;

  // One entry a record, in the order in which they came up first.
  const std::vector<BadRecord>& list() const { return list_; }

 private:
  const Container& container_;
  size_t max_bad_;
  uint32_t epoch_ = 0;
  std::unordered_set<uint64_t> counted_;  // records, of `epoch_`
  std::vector<size_t> last_;              // of those counted: indices in list_
  std::vector<BadRecord> list_;
  std::unordered_map<uint64_t, size_t> where_;  // record -> index in list_
};

}  // namespace fuelrail
