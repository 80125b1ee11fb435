// Readers that fill chunks on the read-ahead thread, either with consecutive bytes up to a record
// boundary or with the records of an index.
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

  // Replaces `chunk` with the next chunk. Returns: false at the end, with an empty chunk. Errors:
  // CorruptError if no record begins at the beginning of the chunk, or if the record there is
  // longer than RecordIO allows; those of PartBytes.
  virtual bool next(SplitChunk& chunk) = 0;

  // Goes to the beginning of the next pass. `missing`: number of records that the last batch of the
  // previous pass lacked.
  virtual void rewind(uint64_t missing) = 0;
};

// The sub-parts of a part, in a new random order for each pass, or in file order if `shuffle` is
// null.
class SubParts {
 public:
  // The sub-parts are the parts [numbers.begin, numbers.end) of `nsplit`.
  SubParts(std::shared_ptr<const SplitFiles> files, PartRange numbers, uint64_t nsplit,
           DmlcShuffle* shuffle, std::vector<uint64_t>& order);

  uint64_t count() const { return numbers_.length(); }
  // The n-th sub-part to read in this pass. Errors: the sources'.
  PartRange visited(uint64_t n) const;
  // Draws the order of the next pass.
  void draw_order();

 private:
  std::shared_ptr<const SplitFiles> files_;
  PartRange numbers_;
  uint64_t nsplit_;
  DmlcShuffle* shuffle_;          // null: file order
  std::vector<uint64_t>& order_;  // each pass shuffles the previous order
};

// Reads text and recordio. A chunk has as many whole records of a sub-part as fit into
// `chunk_bytes`; a single record that does not fit makes its chunk longer.
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
  uint64_t visited_ = 0;  // number of sub-parts begun in this pass
  PartRange left_;        // the rest of the present sub-part
};

// Reads indexed recordio. A chunk has `batch_size` records of the index.
class IndexReader final : public ChunkReader {
 public:
  // `places`: the offsets at which the part's records begin, ascending, and the end of the last
  // one. If `shuffle` is null, the records are read in order.
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
  uint64_t read_ = 0;     // number of records read in this pass
  uint64_t missing_ = 0;  // number of records that the previous pass's last batch lacked
};

}  // namespace fuelrail::split
