// A copy of a part's bytes in one local file, for data that is slow to read. The first pass writes
// the file, and later passes read it. It also stores the names, sizes and other properties of the
// files that it is a copy of; if these do not match, the cache is rebuilt. docs/input_split.md has
// the format, which other versions of fuelrail may change.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/split/partition.h"
#include "fuelrail/split/split_files.h"
#include "fuelrail/split/split_uri.h"
#include "fuelrail/storage/sink.h"
#include "fuelrail/storage/source.h"

namespace fuelrail::split {

// Threads: one at a time.
class SplitCache {
 public:
  // Opens an existing cache, if it matches. `uri`: the cache file. `identity`: the text of
  // split_cache_identity; `bytes`: the length of the part. An existing cache is used only if its
  // identity and length are the same. Errors: InvalidArgumentError if the file exists but is not a
  // cache (the file is not changed); IoError.
  SplitCache(std::string uri, std::string identity, uint64_t bytes);

  // Whether the cache has all bytes and can be read.
  bool complete() const { return source_ != nullptr; }
  // Reads bytes at `offset`, counted from the beginning of the part. Requires: complete(), and the
  // range is inside the part. Errors: the source's.
  void read(uint64_t offset, MutableBytes into) const;

  // The number of bytes written so far. Requires: !complete().
  uint64_t filled() const { return filled_; }
  // Appends `bytes`. With the last bytes of the part, the file appears under its name. Requires:
  // !complete(). Errors: the sink's; after an error, filled() is 0.
  void fill(Bytes bytes);

 private:
  void open_existing();
  void begin();

  std::string uri_;
  std::string identity_;
  uint64_t bytes_;
  uint64_t filled_ = 0;
  std::unique_ptr<Sink> sink_;
  std::shared_ptr<const Source> source_;
};

// The name of a part's cache file: `file`, or `file.splitN.partK` if there are several parts, as in
// dmlc-core.
std::string split_cache_uri(const std::string& file, uint64_t part, uint64_t nsplit);

// The identity of a cache of `range`: the type, the part, and for each file in the range its name,
// size, time of the last change, and the checksums of its first and last bytes. Errors: the
// sources'.
std::string split_cache_identity(const SplitFiles& files, PartRange range, uint64_t part,
                                 uint64_t nsplit);

// Checks that the cache `uri` is not one of the input files. Errors: InvalidArgumentError if `uri`
// is one of `files` under any name, or if the next search of `places` would find it;
// FileSystem::stat's.
void check_cache_is_no_source(const std::string& uri, const SplitFiles& files,
                              const std::vector<SplitPlace>& places);

}  // namespace fuelrail::split
