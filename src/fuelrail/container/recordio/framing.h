// RecordIO's bytes (docs/formats/recordio.md): one physical part = magic u32, (cflag << 29 |
// length) u32, data, zero padding to 4 bytes. A payload that holds the magic at a multiple of 4 is
// split there, the magic itself left out. Every value here is frozen: it is dmlc's format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail::recordio {

inline constexpr uint32_t kMagic = 0xCED7230A;
inline constexpr size_t kHeadBytes = 8;
inline constexpr uint64_t kMaxPayloadBytes = (uint64_t{1} << 29) - 1;

// A framed record is not longer: four bytes of magic become a head of eight, and there is one more.
inline constexpr uint64_t kMaxFramedBytes = 2 * (kMaxPayloadBytes + 1) + 8;

enum class PartKind : uint8_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

// The eight bytes before a part's data.
class PartHead {
 public:
  // Requires: kHeadBytes readable at `at`.
  explicit PartHead(const std::byte* at);
  // Requires: length <= kMaxPayloadBytes.
  PartHead(PartKind kind, uint64_t length);
  void store(std::byte* at) const;

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

// The offset of the first magic in `bytes` that lies at a multiple of 4 and not before `from`, or
// empty. Runs at the speed of memory. Requires: from is a multiple of 4.
std::optional<size_t> find_magic(Bytes bytes, size_t from = 0);

// Cuts a payload into the parts it is written as.
//
//   PartSplitter splitter(payload);
//   while (auto part = splitter.next()) { ... }
class PartSplitter {
 public:
  struct Part {
    PartHead head;
    Bytes data;  // a view into the payload; padding is not in it
  };

  // Errors: InvalidArgumentError when the payload is longer than kMaxPayloadBytes.
  explicit PartSplitter(Bytes payload);
  std::optional<Part> next();  // empty after the last part; there is at least one

 private:
  Bytes payload_;
  size_t begin_ = 0;
  bool done_ = false;
};

// Appends `payload`, framed, to `out`. Returns: the parts it took; every part after the first is an
// escaped magic. Errors: those of PartSplitter, before anything is appended.
size_t append_framed(Bytes payload, std::vector<std::byte>& out);

// Follows one record from part to part and checks that they make one record.
class PartChain {
 public:
  // Takes the head of the next part. Returns: the bytes from this head to the end of the part with
  // its padding. Requires: !done(). Errors: CorruptError (magic, order of the parts, an inner part
  // that is not a multiple of 4, a record longer than kMaxPayloadBytes) and TruncatedError (fewer
  // than that many bytes `left`, counted from the head), both with `offset`, the head's.
  uint64_t add(const PartHead& head, uint64_t offset, uint64_t left);

  bool done() const { return done_; }
  uint64_t parts() const { return parts_; }

 private:
  uint64_t parts_ = 0;
  uint64_t payload_bytes_ = 0;
  bool done_ = false;
};

// The payload of one framed record: a view into `framed` when it has one part, else assembled in
// `storage`. Bytes after the record's end are left alone. Returns the payload and how many bytes of
// `framed` the record took. `offset` is the file offset of `framed`, for errors. Errors:
// TruncatedError, CorruptError, with the file offset of the part at fault.
struct Unframed {
  Bytes payload;
  uint64_t framed_bytes = 0;
};
Unframed unframe(Bytes framed, std::vector<std::byte>& storage, uint64_t offset = 0);

}  // namespace fuelrail::recordio
