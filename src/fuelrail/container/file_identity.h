// What ties a sidecar to its data file: the file's size and checksums of both its ends.
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/sink.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

inline constexpr uint64_t kIdentityBytes = 4096;  // of each end

// Size, and CRC-32 of the first and the last 4 KiB (of the whole file where it is shorter).
struct FileIdentity {
  uint64_t size_bytes = 0;
  uint32_t first_crc = 0;
  uint32_t last_crc = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
FileIdentity identify(const Source& data);

// The same of a file of this size, of which these are the first and the last 4 KiB (or all of it).
FileIdentity identity_of_ends(uint64_t size_bytes, Bytes first, Bytes last);

// The same of a file that is being written, so that its sidecar can be written before it has a
// name. Errors: the sink's.
FileIdentity identify(Sink& data);

// The ends of a file that are not as they were.
struct ChangedEnds {
  bool first = false;
  bool last = false;

  bool any() const { return first || last; }
  bool both() const { return first && last; }
  // Whether these bytes of a file of `size` lie in such an end, in part at least.
  bool touch(uint64_t offset, uint64_t length, uint64_t size) const {
    return (first && offset < kIdentityBytes) || (last && offset + length + kIdentityBytes > size);
  }
};
ChangedEnds changed_ends(const FileIdentity& was, const FileIdentity& now);

}  // namespace fuelrail
