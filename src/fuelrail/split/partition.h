// Which bytes, or which records, are a part's: dmlc-core's partition rule as arithmetic, without a
// file. Source: dmlc-core's InputSplit, as docs/input_split.md tells it. Frozen: parts are equal to
// dmlc's, so that a job may mix the two.
#pragma once

#include <cstdint>

namespace fuelrail::split {

// [begin, end), of bytes or of records.
struct PartRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t length() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const PartRange&, const PartRange&) = default;
};

// Errors: InvalidArgumentError unless part < nsplit.
void check_part(uint64_t part, uint64_t nsplit);

// Types text and recordio: files are laid end to end, and cut into parts of equal bytes.
struct ByteParts {
  static constexpr uint64_t kTextAlign = 1;
  static constexpr uint64_t kRecordIoAlign = 4;

  uint64_t total_bytes = 0;
  uint64_t align = kRecordIoAlign;

  // [k * step, (k + 1) * step), cut at total_bytes; step = ceil(total_bytes / nsplit), rounded up
  // to a multiple of `align`. Both ends are then moved forward to where a record begins, by the
  // same rule, except one that is a file's beginning. So, with recordio, a part has the records
  // whose heads lie in this range; with text, those whose first byte lies in (begin, end], and at
  // a file's beginning the first line, too. Errors: InvalidArgumentError unless part < nsplit.
  PartRange raw(uint64_t part, uint64_t nsplit) const;
};

// Type indexed_recordio: parts of equal counts of index entries, in the order of their offsets.
struct CountParts {
  uint64_t records = 0;

  // [k * step, (k + 1) * step), cut at `records`; step = ceil(records / nsplit). Parts at the end
  // may be empty. Errors: InvalidArgumentError unless part < nsplit.
  PartRange part(uint64_t part, uint64_t nsplit) const;
};

// InputSplitShuffle: part `part` of `nsplit` is divided into `shuffle_parts`, which are the parts
// [begin, end) of nsplit * shuffle_parts. Errors: InvalidArgumentError unless part < nsplit,
// shuffle_parts > 0 and the product fits.
PartRange sub_parts(uint64_t part, uint64_t nsplit, uint64_t shuffle_parts);

}  // namespace fuelrail::split
