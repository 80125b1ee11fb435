// Computes the fingerprints of containers, of joined containers and of selections of records. The
// computation is frozen, because saved training states contain fingerprints.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "fuelrail/container/container.h"

namespace fuelrail {

// Computes a fingerprint from the lengths of the records (of Container::record_extent), which are
// added in order.
class FingerprintBuilder {
 public:
  void add(uint64_t length);
  const Fingerprint& result() const { return fingerprint_; }

 private:
  Fingerprint fingerprint_;
};

// The fingerprint of `first`'s records followed by `second`'s, as if they were in one file. Takes
// O(log second.records).
Fingerprint join(const Fingerprint& first, const Fingerprint& second);

// The fingerprint of a selection. `records` is the size of the selection, and `bytes` is the
// parent's. `checksum` is a CRC-32: first of the parent's records (u64), bytes (u64) and checksum
// (u32), then of begin (u64), step (i64) and count (u64) of each run of indices in arithmetic
// progression, all little-endian. Each run, from the first index on, is as long as possible; a run
// of one index has step 0. A selection of all records in order has the parent's own fingerprint.
Fingerprint select(const Fingerprint& parent, std::span<const uint64_t> indices);

// As above, but for the `count` indices begin, begin + step, ..., in O(1). Requires: step != 0.
Fingerprint select(const Fingerprint& parent, uint64_t begin, uint64_t count, int64_t step);

// The fingerprint of class names: their number, and the CRC-32 of each name's length (u64) and
// bytes, in order. For example "1000-9bd366ae". Empty if there are no names.
std::string fingerprint_of_classes(std::span<const std::string> names);

}  // namespace fuelrail
