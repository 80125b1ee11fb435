// What fills chunks, on the thread that reads ahead: runs of bytes that are cut at records, or the
// records of an index.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "fuelrail/split/dmlc_shuffle.h"
#include "fuelrail/split/part_bytes.h"
#include "fuelrail/split/partition.h"
#include "fuelrail/split/split_chunk.h"

namespace fuelrail::split {

// Threads: one at a time.
class ChunkReader {
 public:
  virtual ~ChunkReader() = default;
  ChunkReader& operator=(ChunkReader&&) = delete;

  // Returns: false at the end, when the chunk is empty. Errors: CorruptError where no record
  // begins; those of PartBytes.
  virtual bool next(SplitChunk& chunk) = 0;

  // To the beginning of the next pass. `missing` is what the last pass's last batch lacked.
  virtual void rewind(uint64_t missing) = 0;
};

// The sub-parts of a part, in an order that is drawn anew for each pass; or the part as it is.
class SubParts {
 public:
  // Parts [numbers.begin, numbers.end) of `nsplit`.
  SubParts(std::shared_ptr<const SplitFiles> files, PartRange numbers, uint64_t nsplit,
           DmlcShuffle* shuffle, std::vector<uint64_t>& order);

  uint64_t count() const { return numbers_.length(); }
  // The n-th that is visited. Errors: the sources'.
  PartRange visited(uint64_t n) const;
  void draw_order();

 private:
  std::shared_ptr<const SplitFiles> files_;
  PartRange numbers_;
  uint64_t nsplit_;
  DmlcShuffle* shuffle_;          // null: in their order
  std::vector<uint64_t>& order_;  // shuffled again and again
};

// Text and recordio. A chunk has as many whole records of a sub-part as fit into `chunk_bytes`; one
// that does not fit makes it longer.
class RunReader final : public ChunkReader {
 public:
  RunReader(PartBytes& bytes, SubParts parts, const std::atomic<uint64_t>& chunk_bytes);
  bool next(SplitChunk& chunk) override;
  void rewind(uint64_t missing) override;

 private:
  bool go_to_bytes();
  size_t records_end(const SplitChunk& chunk) const;
  void check_may_grow(const SplitChunk& chunk) const;

  PartBytes& bytes_;
  SubParts parts_;
  const std::atomic<uint64_t>& chunk_bytes_;
  uint64_t visited_ = 0;  // sub-parts
  PartRange left_;        // of the one that is being read
};

// Indexed recordio. A chunk has `batch_size` of the index's records.
class IndexReader final : public ChunkReader {
 public:
  // `places` are where the part's records begin, in order, and where the last one ends. Null
  // `shuffle`: in their order.
  IndexReader(PartBytes& bytes, std::vector<uint64_t> places, uint64_t batch_size,
              DmlcShuffle* shuffle);
  bool next(SplitChunk& chunk) override;
  void rewind(uint64_t missing) override;

 private:
  uint64_t records() const { return places_.size() - 1; }

  PartBytes& bytes_;
  const std::vector<uint64_t> places_;
  const uint64_t batch_size_;
  DmlcShuffle* const shuffle_;
  std::vector<uint64_t> order_;
  uint64_t read_ = 0;     // records
  uint64_t missing_ = 0;  // of the last pass's last batch
};

}  // namespace fuelrail::split
