// The records of each pass over a part of the data, and their order: dmlc-core's partitions and
// shuffles, as MXNet's iterators use them (docs/input_split.md).
//
// Without an index, a part is a range of bytes that is read in chunks of 8 MiB, and `shuffle`
// permutes the records of each chunk. With an index, a part is a range of records that is read in
// chunks of `batch_size` records, and `shuffle` permutes the whole part. Shuffled passes differ
// from each other, but pass n is the same in every run.
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
  bool detection = false;           // shuffle as ImageDetRecordIter does
  uint64_t shuffle_chunk_size = 0;  // size in MiB of sub-parts that are read in random order; 0: no
                                    // sub-parts (if indexed, there are none)
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

  // The position at which the chunk that contains position i begins.
  uint64_t chunk_begin(uint64_t i) const;

  // The positions at which chunks begin, ascending from 0. Empty if indexed: in that case, the
  // first chunk has `first_chunk` records, which complete the last chunk of the previous pass (0:
  // that chunk was complete), and each later chunk has `chunk_records`.
  std::vector<uint64_t> chunks{};
  uint64_t chunk_records = 0;
  uint64_t first_chunk = 0;
  // For each position, the index that its record had in its chunk before the shuffle; empty if
  // chunks are not shuffled.
  std::vector<uint32_t> places{};
};

// Memory, if anything is shuffled: 8 to 12 bytes per record of the part for each of the last two
// passes. Threads: any.
class RecordOrder {
 public:
  // Errors: InvalidArgumentError unless part_index < num_parts, and for a part without records.
  RecordOrder(std::shared_ptr<const RecordFiles> files, const RecordOrderOptions& options);

  uint64_t size() const { return size_; }  // records of the part

  // Pass `number`, counted from 0. The last two passes are kept. A pass is computed from the one
  // before it, so an earlier pass is computed again starting from pass 0.
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

// Checks that an index has the offset of every record of `files` and no other offset. (In MXNet, a
// record that is missing from the index is read as part of the record before it, and records before
// the first entry are lost.) Errors: NotFoundError, IoError; CorruptError with path and line.
void check_index(const std::string& uri, const RecordFiles& files);

}  // namespace fuelrail::mxnet
