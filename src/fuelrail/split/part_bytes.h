// The bytes of a part, wherever they come from: the files, or a cache of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "fuelrail/split/partition.h"
#include "fuelrail/split/split_cache.h"
#include "fuelrail/split/split_chunk.h"
#include "fuelrail/split/split_files.h"

namespace fuelrail::split {

// Threads: one at a time; `stop` from any.
class PartBytes {
 public:
  PartBytes(std::shared_ptr<const SplitFiles> files, PartRange range,
            std::optional<SplitCache> cache);

  const SplitFiles& files() const { return *files_; }
  PartRange range() const { return range_; }

  // Appends the bytes of `range`, and says where they are from. Text gets a line end behind a file
  // that has none. Requires: the range lies in this one. Errors: the sources', the cache's.
  void append(PartRange range, SplitChunk& chunk);

  // The same of ranges in any order, read at once as far as possible.
  void append_all(std::span<const PartRange> ranges, SplitChunk& chunk);

  // What is copied into the cache ends soon, with a StateError.
  void stop() { stopped_ = true; }

 private:
  void read(uint64_t place, const SplitPiece& piece, MutableBytes into);
  void fill_cache_up_to(uint64_t offset);
  void read_files(PartRange range, MutableBytes into) const;

  std::shared_ptr<const SplitFiles> files_;
  PartRange range_;
  std::optional<SplitCache> cache_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace fuelrail::split
