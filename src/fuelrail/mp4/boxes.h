// The boxes of an MP4 file (ISO base media file format, ISO/IEC 14496-12, section 4.2). A box has a
// length, a type of four characters, and a body, which may contain other boxes. All integers are
// big-endian.
//
// Nothing here is recursive: a caller descends only into the boxes that it names, so that the depth
// of a file's other boxes does not matter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/block_reader.h"

namespace fuelrail::mp4 {

inline constexpr uint64_t kHeaderBytes = 8;       // length u32, type
inline constexpr uint64_t kLongHeaderBytes = 16;  // length 1, type, length u64

// The four characters of a type, the first in the highest byte: BoxType{"moov"}.
class BoxType {
 public:
  constexpr BoxType() = default;
  constexpr explicit BoxType(uint32_t value) : value_(value) {}
  constexpr explicit BoxType(const char (&name)[5])
      : value_(byte(name[0]) << 24 | byte(name[1]) << 16 | byte(name[2]) << 8 | byte(name[3])) {}

  constexpr uint32_t value() const { return value_; }
  std::string text() const;  // "moov"; unprintable characters as "\x01"
  friend constexpr bool operator==(BoxType, BoxType) = default;

 private:
  static constexpr uint32_t byte(char c) { return static_cast<unsigned char>(c); }
  uint32_t value_ = 0;
};

// A box in a file. Lifetime: `parent` outlives the box.
struct Mp4Box {
  BoxType type{};
  uint64_t offset = 0;             // of the box's header in the file
  uint64_t body = 0;               // offset of the body in the file
  uint64_t end = 0;                // offset of the byte after the box
  const Mp4Box* parent = nullptr;  // null: unknown, or the box is not inside another box
  std::string_view within{};       // the path of the parent, if `parent` is null

  uint64_t body_bytes() const { return end - body; }
  std::string path() const;  // "moov/trak/mdia"
};

// The bytes of an MP4 file, in memory or in a source. Threads: one at a time.
class Mp4Bytes {
 public:
  // A file in memory. `uri` and `base`: the file and the offset of its first byte, for errors.
  // Lifetime: the bytes outlive the object.
  Mp4Bytes(Bytes bytes, std::string uri, uint64_t base);

  // A whole source. Lifetime: it outlives the object.
  explicit Mp4Bytes(const Source& source);

  uint64_t size() const { return size_; }
  bool is_source() const { return reader_.has_value(); }

  // Sets the size of the next reads of a source. Small ones suit samples that are far apart.
  void set_block_bytes(uint64_t bytes) {
    if (reader_) reader_->set_block_bytes(bytes);
  }

  // The bytes [offset, offset + length). Requires: the range is inside the file. Lifetime: until
  // the next call. Errors: those of the source.
  Bytes at(uint64_t offset, uint64_t length);

  // The bytes [begin, begin + length) of the box's body. Lifetime: until the next call. Errors:
  // CorruptError if the body is shorter; those of the source.
  Bytes body(const Mp4Box& box, uint64_t begin, uint64_t length);

  // The file and the offset of the box, for an error.
  ErrorDetail place(const Mp4Box& box) const {
    return {.path = uri_, .offset = base_ + box.offset};
  }

  // Throws CorruptError with the box's path and offset.
  [[noreturn]] void refuse(const Mp4Box& box, const std::string& failure, ErrorDetail detail) const;

 private:
  std::string uri_;
  uint64_t base_ = 0;
  uint64_t size_ = 0;
  Bytes memory_{};
  std::optional<BlockReader> reader_{};
};

// A limit on the boxes directly inside one box, so that a damaged file cannot make a walk long. Far
// above the number in any real file.
inline constexpr uint64_t kMaxSiblings = 65'536;

// The boxes directly inside a box, or of a whole file, in order.
class BoxWalk {
 public:
  // The boxes of the file. Lifetime: `file` outlives the object, here and below.
  explicit BoxWalk(Mp4Bytes& file) : file_(file), at_(0), end_(file.size()) {}

  // The boxes in the body of `parent` after its first `skipped` bytes. Lifetime: `parent` outlives
  // the object and the boxes that it returns. Errors: CorruptError if the body is shorter.
  BoxWalk(Mp4Bytes& file, const Mp4Box& parent, uint64_t skipped = 0);

  // Assigns the next box to `box`. Returns false at the end. A box of size 0 extends to the end of
  // its parent, or of the file. Errors: CorruptError for a box that is shorter than its header or
  // longer than its parent, and for more than kMaxSiblings boxes; TruncatedError for a box that is
  // longer than the rest of a source; those of the source.
  bool next(Mp4Box& box);

 private:
  [[noreturn]] void refuse(const Mp4Box& box, uint64_t length, uint64_t least) const;

  Mp4Bytes& file_;
  const Mp4Box* parent_ = nullptr;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
  uint64_t returned_ = 0;
};

// Returns the first box of this type directly inside `parent`, if there is one. Errors: those of
// BoxWalk.
std::optional<Mp4Box> find_child(Mp4Bytes& file, const Mp4Box& parent, BoxType type);

// As find_child, but a missing box is a CorruptError.
Mp4Box child(Mp4Bytes& file, const Mp4Box& parent, BoxType type);

}  // namespace fuelrail::mp4
