// RecordIO's bytes (docs/formats/recordio.md): one physical part = magic u32, (cflag << 29 |
// length) u32, data, zero padding to 4 bytes. A payload that holds the magic at a multiple of 4 is
// split there, the magic itself left out. Every value here is frozen: it is dmlc's format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail::recordio {

inline constexpr uint32_t kMagic = 0xCED7230A;
inline constexpr size_t kHeadBytes = 8;
inline constexpr uint64_t kMaxPayloadBytes = (uint64_t{1} << 29) - 1;

enum class PartKind : uint8_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

// The eight bytes before a part's data.
class PartHead {
 public:
  // Requires: kHeadBytes readable at `at`.
  explicit PartHead(const std::byte* at);
  bool valid() const;  // the magic is right and the kind is one of the four
  uint32_t magic() const { return magic_; }
  PartKind kind() const { return static_cast<PartKind>(lrec_ >> 29); }
  uint32_t length() const { return lrec_ & 0x1FFFFFFF; }
  uint64_t padded_length() const { return (uint64_t{length()} + 3) & ~uint64_t{3}; }
  bool starts_record() const { return kind() == PartKind::kWhole || kind() == PartKind::kFirst; }
  bool ends_record() const { return kind() == PartKind::kWhole || kind() == PartKind::kLast; }

 private:
  uint32_t magic_;
  uint32_t lrec_;
};

// Appends `payload`, framed, to `out`. Errors: InvalidArgumentError when it is longer than
// kMaxPayloadBytes.
void append_framed(Bytes payload, std::vector<std::byte>& out);

// The payload of one framed record: a view into `framed` when it has one part, else assembled in
// `storage`. Bytes after the record's end are left alone. Returns the payload and how many bytes of
// `framed` the record took. Errors (with offsets relative to `framed`): TruncatedError,
// CorruptError.
struct Unframed {
  Bytes payload;
  uint64_t framed_bytes = 0;
};
Unframed unframe(Bytes framed, std::vector<std::byte>& storage);

}  // namespace fuelrail::recordio
