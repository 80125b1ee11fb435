// The bytes of a part, read from the files or from a cache of their bytes.
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

// Threads: one at a time; `stop` may be called from any thread.
class PartBytes {
 public:
  PartBytes(std::shared_ptr<const SplitFiles> files, PartRange range,
            std::optional<SplitCache> cache);

  const SplitFiles& files() const { return *files_; }
  PartRange range() const { return range_; }

  // Appends the bytes of `range` to `chunk`, and records the file and offset that they come from. A
  // text file that does not end with a line end gets one. Requires: `range` is inside this part's
  // range. Errors: the sources', the cache's.
  void append(PartRange range, SplitChunk& chunk);

  // As `append`, but for several ranges, in any order. They are read in parallel if possible.
  void append_all(std::span<const PartRange> ranges, SplitChunk& chunk);

  // If a copy into the cache is running, ends it soon with a StateError.
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
