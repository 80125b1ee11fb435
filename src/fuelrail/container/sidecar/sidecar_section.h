// One section of an opened sidecar (docs/formats/frx.md): its bytes, checked before they are used.
//
// A sidecar is never mapped: others can change the file, and touching a map of a file that they
// have made shorter ends the process. A section without blocks is in memory. Blocks are read and
// checked at their first use and kept, up to kMaxKeptBytes a sidecar; beyond that they are read
// again at each use.
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

// The tables of 13 million records.
inline constexpr uint64_t kMaxKeptBytes = uint64_t{256} << 20;

// For errors: its four letters, in quotes; and what to do about a damaged sidecar.
std::string name_of_section(uint32_t type);
inline constexpr const char* kNewSidecar =
    "Move the sidecar away and build a new one with 'fuelrail index'";

// Threads: any number at once.
class SidecarSection {
 public:
  struct Header {
    uint32_t type = 0;
    bool kept = false;  // cannot be rebuilt from the data file
    uint64_t size = 0;
    uint32_t block_bytes = 0;  // 0 = one checksum for all of it
    uint32_t crc = 0;          // of the data, or of the blocks' checksums
  };

  // Without blocks: the data. Errors: CorruptError when its checksum is wrong.
  SidecarSection(const Header& header, std::vector<std::byte> data, const std::string& uri);

  // With blocks, which begin at `offset` in `file`; `block_crcs` are their checksums. `left` is
  // what may be kept still. Lifetime: it outlives the section. Errors: CorruptError when the
  // checksum of `block_crcs` is wrong.
  SidecarSection(const Header& header, std::shared_ptr<const Source> file, uint64_t offset,
                 std::vector<std::byte> block_crcs, std::atomic<int64_t>* left);

  // Where the first and the last blocks lie that are read together, for whoever reads them at
  // opening. Requires: blocks.
  struct Range {
    uint64_t begin = 0;  // in the data
    uint64_t end = 0;
  };
  static std::array<Range, 2> ends_of(const Header& header);

  // Keeps what was read of such a range, if it is right; what is not is found when it is used.
  void keep(const Range& range, Bytes bytes);

  SidecarSection(SidecarSection&&) = default;
  ~SidecarSection();

  uint32_t type() const { return header_.type; }
  bool kept() const { return header_.kept; }
  uint64_t size() const { return header_.size; }

  // Fills `into` from the data at `offset`. Errors: CorruptError, naming the sidecar, for a block
  // whose checksum is wrong and for a range that passes the section's end; TruncatedError where the
  // file has become shorter; the source's.
  void read(uint64_t offset, MutableBytes into) const;

  // The whole of it. Errors: as read.
  std::vector<std::byte> all() const;

  // Reads and checks all blocks, also those that were used before. Errors: as read.
  void verify() const;

 private:
  // Blocks that are read, and kept, together.
  using Stretches = std::unique_ptr<std::atomic<const std::byte*>[]>;

  uint64_t stretches() const;
  const std::byte* stretch(uint64_t number) const;
  const std::byte* keep_stretch(uint64_t number) const;
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
