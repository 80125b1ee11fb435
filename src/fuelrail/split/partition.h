// The bytes or records of a part, by dmlc-core's partition rule, computed without reading files.
// Source: dmlc-core's InputSplit, as described in docs/input_split.md. Frozen: parts must stay
// equal to dmlc's, so that one job can use both libraries.
#pragma once

#include <cstdint>

namespace fuelrail::split {

// A range [begin, end) of bytes or records.
struct PartRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  uint64_t length() const { return end - begin; }
  bool empty() const { return begin == end; }
  friend bool operator==(const PartRange&, const PartRange&) = default;
};

// Errors: InvalidArgumentError unless part < nsplit.
void check_part(uint64_t part, uint64_t nsplit);

// Types text and recordio: the files are joined end to end and divided into parts of equal bytes.
struct ByteParts {
  static constexpr uint64_t kTextAlign = 1;
  static constexpr uint64_t kRecordIoAlign = 4;

  uint64_t total_bytes = 0;
  uint64_t align = kRecordIoAlign;

  // For part k: [k * step, (k + 1) * step), clamped to total_bytes, where step = ceil(total_bytes /
  // nsplit), rounded up to a multiple of `align`. The caller then moves `begin` and `end` forward
  // to the next beginning of a record, unless they are already the beginning of a file. So a
  // recordio part has the records whose heads are in this range. A text part has the lines whose
  // first byte is in (begin, end], except that the first line of a file belongs to the part whose
  // range contains its first byte. Errors: InvalidArgumentError unless part < nsplit.
  PartRange raw(uint64_t part, uint64_t nsplit) const;
};

// Type indexed_recordio: parts with equal numbers of index entries, in the order of their offsets.
struct CountParts {
  uint64_t records = 0;

  // For part k: [k * step, (k + 1) * step), clamped to `records`, where step = ceil(records /
  // nsplit). The last parts may be empty. Errors: InvalidArgumentError unless part < nsplit.
  PartRange part(uint64_t part, uint64_t nsplit) const;
};

// InputSplitShuffle: part `part` of `nsplit` is divided into `shuffle_parts` sub-parts, which are
// the parts [begin, end) of nsplit * shuffle_parts. Errors: InvalidArgumentError unless part <
// nsplit, shuffle_parts > 0 and the product fits into 64 bits.
PartRange sub_parts(uint64_t part, uint64_t nsplit, uint64_t shuffle_parts);

}  // namespace fuelrail::split
