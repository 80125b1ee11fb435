// Bytes that have a name and a size and are read by ranges: a local file or a block of memory;
// later also an HTTP or S3 object.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// Threads: every method, from any number of threads at once. A source keeps no file position.
class Source {
 public:
  virtual ~Source() = default;
  Source& operator=(Source&&) = delete;

  virtual uint64_t size_bytes() const = 0;
  virtual const std::string& uri() const = 0;

  // Fills `into` from [offset, offset + into.size()); blocks. Retries interrupted and short reads.
  // Errors: TruncatedError if the range ends after the end of the source, or if the file has become
  // shorter since it was opened; IoError; NotFoundError if the source opens its file lazily.
  virtual void read(uint64_t offset, MutableBytes into) const = 0;

  // Fills the pieces in order with the consecutive bytes from `offset` on. Default: one read per
  // piece; a source with a descriptor needs only one read. Errors: as for `read`; some pieces may
  // have been filled.
  virtual void read_scattered(uint64_t offset, std::span<const MutableBytes> pieces) const;

  // As `read_scattered`, but reads only if all bytes are in the page cache, so that the call does
  // not block (a source may block in one call of a thousand). Returns: whether all pieces are
  // filled; if false, some of them may be. Default: false.
  virtual bool read_if_cached(uint64_t offset, std::span<const MutableBytes> pieces) const;

  // Whether the name still leads to the open file, not to a file that has replaced it. True by
  // default, and if unknown. Errors: IoError.
  virtual bool is_still_named() const { return true; }

  // Whether some (has_hole) or all (is_hole) of these bytes are in a hole of a sparse file, which
  // reads as zeros and uses no disk space. False by default, and if unknown. Errors: none.
  virtual bool has_hole(uint64_t /*offset*/, uint64_t /*length*/) const { return false; }
  virtual bool is_hole(uint64_t /*offset*/, uint64_t /*length*/) const { return false; }

  // All bytes of the source, if they are in memory and never change. Lifetime: the source. Default:
  // empty, even if they are in memory.
  virtual Bytes memory() const { return {}; }

  // A descriptor for asynchronous reads at explicit offsets, or -1. The source owns it.
  virtual int descriptor() const { return -1; }

  // Whether the kernel can read the descriptor asynchronously without a blocked thread
  // (FMODE_NOWAIT): true for ext4, XFS and Btrfs, false for NFS and FUSE. Default: false.
  virtual bool reads_without_waiting() const { return false; }

  // A second descriptor, for reads that bypass the page cache (O_DIRECT); -1 and an errno if there
  // is none.
  struct Direct {
    int descriptor = -1;
    int error = 0;
  };
  virtual Direct direct_descriptor() const { return {.descriptor = -1, .error = EOPNOTSUPP}; }

  // Whether direct reads of this source are permanently refused. Set with note_direct_refusal by
  // the caller whose direct read was refused.
  bool refuses_direct_reads() const { return refuses_direct_.load(std::memory_order_relaxed); }
  void note_direct_refusal() const { refuses_direct_.store(true, std::memory_order_relaxed); }

 private:
  mutable std::atomic<bool> refuses_direct_ = false;
};

// All bytes of a small file, for example an index of records. The file is not memory-mapped,
// because access to a mapped file that another process has truncated kills this process. Errors: as
// for `read`; UnsupportedError for more than kMaxWholeBytes.
inline constexpr uint64_t kMaxWholeBytes = uint64_t{1} << 30;
std::vector<std::byte> read_whole(const Source& source);

// For implementations of `read`. Errors: TruncatedError, with the number of available bytes, unless
// [offset, offset + length) is within `size_bytes`.
void check_range(const std::string& uri, uint64_t size_bytes, uint64_t offset, uint64_t length);

}  // namespace fuelrail
