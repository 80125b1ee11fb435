// A copy of a part's bytes in one local file, for data that are slow to read: written in the first
// pass, read in the later ones. It stores which files it is a copy of, and their state; a cache
// that does not match is rebuilt. The format is in docs/input_split.md. It is private to this
// version of fuelrail, and not for exchange.
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
  // `uri`: the cache file. `identity`: text that an existing cache must have to be used. Opens an
  // existing cache. Errors: InvalidArgumentError if the file exists and is not a cache (it is left
  // unchanged); IoError.
  SplitCache(std::string uri, std::string identity, uint64_t bytes);

  // Whether the cache has all bytes and can be read.
  bool complete() const { return source_ != nullptr; }
  // Reads bytes at `offset`, counted from the part's beginning. Requires: complete(), and the range
  // is inside the part. Errors: the source's.
  void read(uint64_t offset, MutableBytes into) const;

  // The number of bytes written so far. For this and `fill`, requires: !complete().
  uint64_t filled() const { return filled_; }
  // Appends `bytes`; the last byte commits the file under its name. Errors: the sink's, after which
  // filled() is 0.
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

// `file`, or `file.splitN.partK` if there are several parts, as dmlc-core names them.
std::string split_cache_uri(const std::string& file, uint64_t part, uint64_t nsplit);

// The identity of a cache of `range`: type, part, and for each file in it the name, size, time of
// the last change and the checksums of both its ends. Errors: the sources'.
std::string split_cache_identity(const SplitFiles& files, PartRange range, uint64_t part,
                                 uint64_t nsplit);

// Checks that the cache `uri` is not one of the input files. Errors: InvalidArgumentError if `uri`
// is one of `files` under any name, or if the next search of `places` would find it;
// FileSystem::stat's.
void check_cache_is_no_source(const std::string& uri, const SplitFiles& files,
                              const std::vector<SplitPlace>& places);

}  // namespace fuelrail::split
