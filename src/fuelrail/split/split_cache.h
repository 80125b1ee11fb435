// A part's bytes in one local file, for data that are slow to read: filled in the first pass, read
// in the later ones. It knows whose bytes it holds, and of which state of the files; one of
// anything else is made anew. The format is this build's own, and no interchange format:
// docs/input_split.md has it.
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
  // `uri` is the file's own; `identity` is compared as it stands. Opens what is there. Errors:
  // InvalidArgumentError where something is there that is no cache, which is left alone; IoError.
  SplitCache(std::string uri, std::string identity, uint64_t bytes);

  // Whether all bytes are there, to be read.
  bool complete() const { return source_ != nullptr; }
  // Requires: complete(), and the range lies in the part. Offsets count from the part's beginning.
  // Errors: the source's.
  void read(uint64_t offset, MutableBytes into) const;

  // How many of the part's first bytes were given to it. Requires of the rest: !complete().
  uint64_t filled() const { return filled_; }
  // Appends; with the last byte the file gets its name. Errors: the sink's, after which nothing is
  // filled.
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

// `file`, or `file.splitN.partK` where there is more than one part, as upstream names them.
std::string split_cache_uri(const std::string& file, uint64_t part, uint64_t nsplit);

// What a cache of `range` is of: type, part, and of each file in it name, size, time of the last
// change and the checksums of both its ends. Errors: the sources'.
std::string split_cache_identity(const SplitFiles& files, PartRange range, uint64_t part,
                                 uint64_t nsplit);

// Errors: InvalidArgumentError where `uri` is one of the files, by whatever name, or would be one
// the next time that they are looked for at `places`; FileSystem::stat's.
void check_cache_is_no_source(const std::string& uri, const SplitFiles& files,
                              const std::vector<SplitPlace>& places);

}  // namespace fuelrail::split
