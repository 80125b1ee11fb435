// RecordIO's byte layout (docs/formats/recordio.md). One part = magic u32, (cflag << 29 | length)
// u32, data, zero padding to a multiple of 4. A payload that contains the magic at a multiple of 4
// is split there into parts, and the magic itself is not stored. Every value here is frozen: it is
// dmlc's format.
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

// The longest framed record: four bytes of magic become a head of eight, plus the first head.
inline constexpr uint64_t kMaxFramedBytes = 2 * (kMaxPayloadBytes + 1) + 8;

enum class PartKind : uint8_t { kWhole = 0, kFirst = 1, kMiddle = 2, kLast = 3 };

// The head of a part: the eight bytes before its data.
class PartHead {
 public:
  // Requires: kHeadBytes readable bytes at `at`.
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

// The offset of the first magic in `bytes` at a multiple of 4 and at or after `from`; empty if
// there is none. Runs at the speed of memory. Requires: from is a multiple of 4.
std::optional<size_t> find_magic(Bytes bytes, size_t from = 0);

// Splits a payload into the parts in which it is stored.
//
//   PartSplitter splitter(payload);
//   while (auto part = splitter.next()) { ... }
class PartSplitter {
 public:
  struct Part {
    PartHead head;
    Bytes data;  // a view into the payload, without padding
  };

  // Errors: InvalidArgumentError when the payload is longer than kMaxPayloadBytes.
  explicit PartSplitter(Bytes payload);
  std::optional<Part> next();  // empty after the last part; there is at least one

 private:
  Bytes payload_;
  size_t begin_ = 0;
  bool done_ = false;
};

// Appends `payload`, framed, to `out`. Returns: the number of parts; each part after the first
// stands for an escaped magic. Errors: those of PartSplitter, before anything is appended.
size_t append_framed(Bytes payload, std::vector<std::byte>& out);

// Checks, part by part, that consecutive parts form one record.
class PartChain {
 public:
  // Adds the head of the next part. `offset`: the head's offset, for errors. `left`: the number of
  // bytes from this head to the end of the data. Returns: the number of bytes from this head to the
  // end of its part, with padding. Requires: !done(). Errors, with `offset`: CorruptError for a
  // wrong magic, for parts out of order, for a part before the last one whose length is not a
  // multiple of 4, and for a record longer than kMaxPayloadBytes; TruncatedError for a part longer
  // than `left`.
  uint64_t add(const PartHead& head, uint64_t offset, uint64_t left);

  bool done() const { return done_; }
  uint64_t parts() const { return parts_; }

 private:
  uint64_t parts_ = 0;
  uint64_t payload_bytes_ = 0;
  bool done_ = false;
};

// Extracts the payload of one framed record: a view into `framed` if the record has one part, else
// assembled in `storage`. Ignores bytes after the record's end. Returns: the payload, and how many
// bytes of `framed` the record takes. `offset`: the file offset of `framed`, for errors. Errors:
// TruncatedError, CorruptError, with the file offset of the faulty part.
struct Unframed {
  Bytes payload;
  uint64_t framed_bytes = 0;
};
Unframed unframe(Bytes framed, std::vector<std::byte>& storage, uint64_t offset = 0);

}  // namespace fuelrail::recordio
