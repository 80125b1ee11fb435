// The byte layout of a sidecar (docs/formats/frx.md), shared by its reader and its writer. Every
// value here is frozen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fuelrail::frx {

inline constexpr std::string_view kSignature(
    "\x89"
    "FRX\r\n\x1a\n");
inline constexpr uint16_t kMajorVersion = 1;
inline constexpr uint16_t kMinorVersion = 0;
inline constexpr size_t kHeaderBytes = 64;
inline constexpr size_t kMajorAt = 8;
inline constexpr size_t kMinorAt = 10;
inline constexpr size_t kSectionCountAt = 12;
inline constexpr size_t kFileSizeAt = 16;
inline constexpr size_t kDataSizeAt = 24;
inline constexpr size_t kFirstCrcAt = 32;
inline constexpr size_t kLastCrcAt = 36;
inline constexpr size_t kHeaderCrcAt = 60;

inline constexpr size_t kDirectoryEntryBytes = 32;
inline constexpr size_t kTypeAt = 0;
inline constexpr size_t kFlagsAt = 4;
inline constexpr size_t kOffsetAt = 8;
inline constexpr size_t kLengthAt = 16;
inline constexpr size_t kBlockBytesAt = 24;
inline constexpr size_t kCrcAt = 28;
inline constexpr uint32_t kKeptFlag = 1;
inline constexpr uint32_t kMaxSections = 4096;

inline constexpr size_t kSectionAlignment = 64;
inline constexpr uint64_t kMaxUnblockedBytes = uint64_t{1} << 20;
inline constexpr uint32_t kBlockBytes = 4096;  // of sidecars written by fuelrail
inline constexpr uint32_t kLeastBlockBytes = 512;
inline constexpr uint32_t kMostBlockBytes = uint32_t{1} << 20;

inline constexpr size_t kMetaBytes = 24;
inline constexpr size_t kLabelsBytes = 16;
inline constexpr uint32_t kIntegralFlag = 1;
// The labels of the longest payload (below 2^29 bytes), as float32.
inline constexpr int64_t kMaxLabels = (int64_t{1} << 27) - 1;
inline constexpr size_t kTableEntryBytes = 16;
inline constexpr size_t kChecksumBytes = 4;
inline constexpr size_t kKeyBytes = 8;
inline constexpr size_t kNameEndBytes = 8;
inline constexpr size_t kHintsEndBytes = 8;

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

constexpr uint64_t blocks_of(uint64_t length, uint32_t block_bytes) {
  return block_bytes == 0 ? 0 : (length + block_bytes - 1) / block_bytes;
}

// The bytes of a section in the file: its data and, with blocks, their checksums after it.
constexpr uint64_t stored_bytes(uint64_t length, uint32_t block_bytes) {
  if (block_bytes == 0) return length;
  return round_up(length, kChecksumBytes) + blocks_of(length, block_bytes) * kChecksumBytes;
}

}  // namespace fuelrail::frx
