// The records of each pass over a part of the data, and their order: dmlc-core's partitions and
// shuffles, as MXNet's iterators use them (docs/input_split.md).
//
// Without an index, a part is a range of bytes, is read in chunks of 8 MiB, and `shuffle` permutes
// the records of each chunk. With an index, a part is a range of records, chunks have `batch_size`
// records, and `shuffle` permutes the whole part. Passes differ from each other, but pass n is the
// same in every run.
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
  int64_t seed = 0;                 // seed of `shuffle`
  bool detection = false;           // shuffle as ImageDetRecordIter
  uint64_t shuffle_chunk_size = 0;  // MiB of the sub-parts that are visited in random order; 0: off
                                    // (always off if indexed)
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

  // The position at which the chunk of position i begins.
  uint64_t chunk_begin(uint64_t i) const;

  // The positions at which chunks begin, ascending from 0. Empty if indexed: the first chunk then
  // has `first_chunk` records (the rest of a chunk that the previous pass began; 0: no such rest),
  // and the others have `chunk_records`.
  std::vector<uint64_t> chunks{};
  uint64_t chunk_records = 0;
  uint64_t first_chunk = 0;
  // For each position, the index of its record in its chunk before the shuffle; empty if chunks are
  // not shuffled.
  std::vector<uint32_t> places{};
};

// Memory: 8 to 12 bytes per record of the part for each of two passes, if anything is shuffled.
// Threads: any.
class RecordOrder {
 public:
  // Errors: InvalidArgumentError unless part_index < num_parts, and for a part without records.
  RecordOrder(std::shared_ptr<const RecordFiles> files, const RecordOrderOptions& options);

  uint64_t size() const { return size_; }  // records of the part

  // Pass `number`, counted from 0. A later pass is computed from the one before it; an earlier one
  // is computed again from the first.
  std::shared_ptr<const RecordPass> pass(uint32_t number) const;

 private:
  // The state from which the next pass is computed.
  struct Maker {
    uint32_t next = 0;
    split::DmlcShuffle records;
    split::DmlcShuffle sub_parts;
    std::vector<size_t> visits;  // the order of sub-parts; each pass shuffles the previous order
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
  std::vector<split::PartRange> ranges_;  // the records of the part, or of each sub-part
  uint64_t size_ = 0;

  mutable Mutex mutex_;
  mutable std::optional<Maker> maker_ FUELRAIL_GUARDED_BY(mutex_);
  // The last two passes; the rows of a batch may come from both.
  mutable std::array<Made, 2> made_ FUELRAIL_GUARDED_BY(mutex_);
};

// Checks that an index names every record of `files` and nothing else. (MXNet reads a record that
// the index leaves out as the end of the previous one, and loses the records before the first
// entry.) Errors: NotFoundError, IoError; CorruptError with path and line.
void check_index(const std::string& uri, const RecordFiles& files);

}  // namespace fuelrail::mxnet
