// Bytes with a size and a name, read by ranges: a local file, a block of memory, later an HTTP or
// S3 object.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail {

// Threads: every method may be called from any thread at once. A source keeps no file position.
class Source {
 public:
  virtual ~Source() = default;
  Source& operator=(Source&&) = delete;

  virtual uint64_t size_bytes() const = 0;
  virtual const std::string& uri() const = 0;

  // Fills `into` from [offset, offset + into.size()), blocking. Retries interrupted and short
  // reads. Errors: TruncatedError when the range passes the end, or when the file has become
  // shorter since it was opened; IoError; NotFoundError where the source opens lazily.
  virtual void read(uint64_t offset, MutableBytes into) const = 0;

  // Fills the pieces, one after the other, from the bytes at `offset` on. Default: a read a piece;
  // a source with a descriptor does it in one. Errors: as read; some pieces may be filled then.
  virtual void read_scattered(uint64_t offset, std::span<const MutableBytes> pieces) const;

  // As read_scattered, but of what is in the page cache, so that nobody has to wait for it. A
  // source may be wrong about one read in a thousand, and then waits. Returns: whether all pieces
  // are filled; else some may be. Default: false.
  virtual bool read_if_cached(uint64_t offset, std::span<const MutableBytes> pieces) const;

  // Whether the name still leads to the file that is read, and not to one that has replaced it.
  // Default: true, which is also the answer where it cannot be known. Errors: IoError.
  virtual bool is_still_named() const { return true; }

  // Whether some of these bytes, or all of them, were never written and take no place on the disk:
  // they read as zeros. Default: no, which is also the answer where it cannot be known. Errors:
  // none.
  virtual bool has_hole(uint64_t /*offset*/, uint64_t /*length*/) const { return false; }
  virtual bool is_hole(uint64_t /*offset*/, uint64_t /*length*/) const { return false; }

  // A descriptor for asynchronous reads at explicit offsets, or -1. Owned by the source.
  virtual int descriptor() const { return -1; }

  // Whether the kernel reads the descriptor without a thread that waits, as it does of ext4, XFS
  // and Btrfs (FMODE_NOWAIT), and of NFS and FUSE does not. Default: no.
  virtual bool reads_without_waiting() const { return false; }

  // Another for reads that pass by the page cache; -1 where there is none, and the errno that says
  // why.
  struct Direct {
    int descriptor = -1;
    int error = 0;
  };
  virtual Direct direct_descriptor() const { return {.descriptor = -1, .error = EOPNOTSUPP}; }

  // Whether such reads were refused once and for all, which whoever asks for one finds and notes
  // here. Never, by itself.
  bool refuses_direct_reads() const { return refuses_direct_.load(std::memory_order_relaxed); }
  void note_direct_refusal() const { refuses_direct_.store(true, std::memory_order_relaxed); }

 private:
  mutable std::atomic<bool> refuses_direct_ = false;
};

// All bytes of a small file, as an index of records: it is never mapped, because touching a map of
// a file that others have made shorter ends the process. Errors: as read; UnsupportedError for more
// than kMaxWholeBytes.
inline constexpr uint64_t kMaxWholeBytes = uint64_t{1} << 30;
std::vector<std::byte> read_whole(const Source& source);

// For implementations of `read`. Errors: TruncatedError unless [offset, offset + length) lies in a
// source of `size_bytes`; it says how many of the bytes are there.
void check_range(const std::string& uri, uint64_t size_bytes, uint64_t offset, uint64_t length);

}  // namespace fuelrail
