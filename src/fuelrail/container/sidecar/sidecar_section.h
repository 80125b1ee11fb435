// One section of an opened sidecar (docs/formats/frx.md). Its bytes are checked before use.
//
// A sidecar is never memory-mapped, because another process may truncate the file, and touching a
// map beyond the new end kills the process. A section without blocks is read into memory. Blocks
// are read and checked at first use and kept, up to kMaxKeptBytes per sidecar, and as many for
// hints; beyond that limit they are read again at each use, and so are the blocks that were read
// together with a damaged one.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/storage/source.h"

namespace fuelrail {

// Enough for 13 million records of 20 bytes (RecordIO), or 3 million of 80 (Benzina).
inline constexpr uint64_t kMaxKeptBytes = uint64_t{256} << 20;

// For errors: the section's four letters, in quotes.
std::string name_of_section(uint32_t type);
// The remedy for a damaged sidecar.
inline constexpr const char* kNewSidecar =
    "Move the sidecar away and build a new one with 'fuelrail index'";

// Threads: any number at once.
class SidecarSection {
 public:
  struct Header {
    uint32_t type = 0;
    bool kept = false;  // cannot be rebuilt from the data file
    uint64_t size = 0;
    uint32_t block_bytes = 0;  // 0 = one checksum for the whole section
    uint32_t crc = 0;          // of the data, or of the blocks' checksums
  };

  // A section without blocks. Errors: CorruptError when its checksum is wrong.
  SidecarSection(const Header& header, std::vector<std::byte> data, const std::string& uri);

  // A section with blocks, which begin at `offset` in `file`; `block_crcs` are their checksums.
  // `left`: the number of bytes that the sidecar may still keep in memory. Lifetime: `left`
  // outlives the section. Errors: CorruptError when the checksum of `block_crcs` is wrong.
  SidecarSection(const Header& header, std::shared_ptr<const Source> file, uint64_t offset,
                 std::vector<std::byte> block_crcs, std::atomic<int64_t>* left);

  // Blocks are read in groups. Returns the ranges of the first and the last group, which the caller
  // may read when the sidecar is opened and pass to `keep`. Requires: the section has blocks.
  struct Range {
    uint64_t begin = 0;  // in the data
    uint64_t end = 0;
  };
  static std::array<Range, 2> ends_of(const Header& header);

  // All groups, in order. Requires: the section has blocks.
  static std::vector<Range> groups_of(const Header& header);

  // Keeps the bytes of one of the ranges that `ends_of` or `groups_of` returned, if their checksums
  // are right and the limit on kept bytes allows. If they are wrong, the error is thrown when the
  // blocks are used.
  void keep(const Range& range, Bytes bytes);

  SidecarSection(SidecarSection&&) = default;
  ~SidecarSection();

  uint32_t type() const { return header_.type; }
  bool kept() const { return header_.kept; }
  uint64_t size() const { return header_.size; }

  // Fills `into` with the data at `offset`. Errors: CorruptError, naming the sidecar, for a block
  // with a wrong checksum and for a range beyond the section's end; TruncatedError if the file has
  // become shorter; those of the source.
  void read(uint64_t offset, MutableBytes into) const;

  // All data of the section. Errors: those of read.
  std::vector<std::byte> all() const;

  // Reads and checks all blocks, including those that were checked before. Errors: those of read.
  void verify() const;

 private:
  // A stretch is a run of blocks that are read, and kept, together.
  using Stretches = std::unique_ptr<std::atomic<const std::byte*>[]>;

  uint64_t stretches() const;
  const std::byte* stretch(uint64_t number) const;
  const std::byte* keep_stretch(uint64_t number) const;
  const std::byte* note_damaged(uint64_t number) const;
  void read_blocks(uint64_t first, MutableBytes into) const;
  void check_blocks(uint64_t first, Bytes bytes) const;
  const std::byte* keep_memory(uint64_t number, std::unique_ptr<std::byte[]> memory) const;
  void copy_from_blocks(uint64_t offset, MutableBytes into) const;

  Header header_;
  std::string uri_;
  std::vector<std::byte> data_;  // without blocks
  std::shared_ptr<const Source> file_;
  uint64_t offset_ = 0;
  std::vector<std::byte> block_crcs_;
  Stretches kept_;
  std::atomic<int64_t>* left_ = nullptr;
};

}  // namespace fuelrail
