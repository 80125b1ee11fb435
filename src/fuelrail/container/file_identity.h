// Identifies a sidecar's data file by its size and by the checksums of its two ends.
#pragma once

#include <cstdint>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/sink.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

inline constexpr uint64_t kIdentityBytes = 4096;  // checked at each end

// The file's size, and the CRC-32 of its first and last 4 KiB (of the whole file if it is shorter).
struct FileIdentity {
  uint64_t size_bytes = 0;
  uint32_t first_crc = 0;
  uint32_t last_crc = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
FileIdentity identify(const Source& data);

// The identity of a file of `size_bytes` whose first and last 4 KiB are `first` and `last`. If the
// file is shorter than 4 KiB, `first` and `last` are both the whole file.
FileIdentity identity_of_ends(uint64_t size_bytes, Bytes first, Bytes last);

// The identity of a file that is still being written, so that its sidecar can be written before the
// file is committed. Errors: those of the sink.
FileIdentity identify(Sink& data);

// The ends of a file that have changed.
struct ChangedEnds {
  bool first = false;
  bool last = false;

  bool any() const { return first || last; }
  bool both() const { return first && last; }
  // Whether `length` bytes at `offset`, in a file of `size` bytes, overlap a changed end.
  bool touch(uint64_t offset, uint64_t length, uint64_t size) const {
    return (first && offset < kIdentityBytes) || (last && offset + length + kIdentityBytes > size);
  }
};
ChangedEnds changed_ends(const FileIdentity& was, const FileIdentity& now);

}  // namespace fuelrail
