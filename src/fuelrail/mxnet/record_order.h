// Which records each pass over a part of the data has, and in which order: dmlc-core's partitions
// and shuffles, as MXNet's iterators use them (docs/input_split.md).
//
// Without an index, a part is a range of bytes, records are read in chunks of 8 MiB, and a shuffle
// mixes those of one chunk. With one, a part is a range of records, chunks are of `batch_size`
// records, and a shuffle permutes the part. Passes differ; the n-th is the same in every run.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fuelrail/base/guarded.h"
#include "fuelrail/mxnet/record_files.h"
#include "fuelrail/split/dmlc_shuffle.h"
#include "fuelrail/split/partition.h"

namespace fuelrail::mxnet {

struct RecordOrderOptions {
  uint64_t num_parts = 1;
  uint64_t part_index = 0;
  bool indexed = false;
  bool shuffle = false;
  int64_t seed = 0;                 // of `shuffle`
  bool detection = false;           // shuffle as ImageDetRecordIter does
  uint64_t shuffle_chunk_size = 0;  // MiB: visit so large sub-parts in random order; not if indexed
  int64_t shuffle_chunk_seed = 0;
  uint64_t batch_size = 1;
};

// The order of one pass. Immutable.
struct RecordPass {
  uint64_t size() const { return records; }
  uint64_t record(uint64_t i) const { return order.empty() ? first + i : order[i]; }

  uint64_t first = 0;
  uint64_t records = 0;
  std::vector<uint64_t> order{};  // empty: `first`, `first` + 1, ...

  // Where the chunk begins that position i is in.
  uint64_t chunk_begin(uint64_t i) const;

  std::vector<uint64_t> chunks{};  // their begins, ascending, the first at 0; where indexed, empty:
  uint64_t chunk_records = 0;      // they have so many records,
  uint64_t first_chunk = 0;        // the first one what the pass before left over of a chunk
  // Of each position, where its record was in its chunk before that was shuffled; empty where
  // chunks are not shuffled.
  std::vector<uint32_t> places{};
};

// Memory: one part's records, where there is any shuffle. Threads: any.
class RecordOrder {
 public:
  // Errors: InvalidArgumentError and OutOfRangeError for a part that is none, and for one without
  // records.
  RecordOrder(std::shared_ptr<const RecordFiles> files, const RecordOrderOptions& options);

  uint64_t size() const { return size_; }  // records of the part

  // The `number`-th pass. The next one is made from the one before it; an earlier one anew from the
  // first.
  std::shared_ptr<const RecordPass> pass(uint32_t number) const;

 private:
  // What the passes before a pass leave to it.
  struct Maker {
    uint32_t next = 0;
    split::DmlcShuffle records;
    split::DmlcShuffle sub_parts;
    std::vector<size_t> visits;  // of sub-parts, each pass shuffling what the last one made
  };
  struct Made {
    uint32_t number = 0;
    std::shared_ptr<const RecordPass> pass{};
  };

  Maker first_maker() const;
  std::shared_ptr<const RecordPass> make(Maker& maker) const;
  void add_range(const split::PartRange& range, Maker& maker, RecordPass& pass) const;

  std::shared_ptr<const RecordFiles> files_;
  RecordOrderOptions options_;
  std::vector<split::PartRange> ranges_;  // of records: the part, or its sub-parts
  uint64_t size_ = 0;

  mutable Mutex mutex_;
  mutable std::optional<Maker> maker_ FUELRAIL_GUARDED_BY(mutex_);
  mutable std::array<Made, 2> made_
      FUELRAIL_GUARDED_BY(mutex_);  // the last two, which a batch's rows may come from
};

// Checks that an index names every record of `files` and nothing else. Upstream takes what it does
// not name for the end of the record before it, and loses what is before the first. Errors:
// NotFoundError, IoError; CorruptError with path and line.
void check_index(const std::string& uri, const RecordFiles& files);

}  // namespace fuelrail::mxnet
