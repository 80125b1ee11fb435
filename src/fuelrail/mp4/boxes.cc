#include "fuelrail/mp4/boxes.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "fuelrail/base/endian.h"

namespace fuelrail::mp4 {
namespace {

constexpr uint64_t kUuidBytes = 16;         // the type "uuid" is followed by a longer type
constexpr uint64_t kBlockBytes = 64 << 10;  // one read covers the boxes around a track's tables

}  // namespace

std::string BoxType::text() const {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) {
    const auto c = static_cast<unsigned char>(value_ >> shift);
    text +=
        c >= 0x20 && c < 0x7f ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  }
  return text;
}

std::string Mp4Box::path() const {
  const std::string above = parent ? parent->path() : std::string(within);
  return above.empty() ? type.text() : above + "/" + type.text();
}

Mp4Bytes::Mp4Bytes(Bytes bytes, std::string uri, uint64_t base)
    : uri_(std::move(uri)), base_(base), size_(bytes.size()), memory_(bytes) {}

Mp4Bytes::Mp4Bytes(const Source& source)
    : uri_(source.uri()), size_(source.size_bytes()), reader_(std::in_place, source, kBlockBytes) {}

Bytes Mp4Bytes::at(uint64_t offset, uint64_t length) {
  if (reader_) return reader_->at(offset, length);
  return memory_.subspan(offset, length);
}

Bytes Mp4Bytes::body(const Mp4Box& box, uint64_t begin, uint64_t length) {
  if (begin > box.body_bytes() || length > box.body_bytes() - begin) {
    refuse(box, "is too short",
           {.expected = fmt::format("a body of at least {} bytes", begin + length),
            .found = fmt::to_string(box.body_bytes())});
  }
  return at(box.body + begin, length);
}

void Mp4Bytes::refuse(const Mp4Box& box, const std::string& failure, ErrorDetail detail) const {
  CorruptError error(fmt::format("the box {} {}", box.path(), failure), std::move(detail));
  error.add(place(box));
  throw error;
}

BoxWalk::BoxWalk(Mp4Bytes& file, const Mp4Box& parent, uint64_t skipped)
    : file_(file), parent_(&parent), at_(parent.body + skipped), end_(parent.end) {
  file.body(parent, skipped, 0);
}

bool BoxWalk::next(Mp4Box& box) {
  const uint64_t room = end_ - at_;
  if (room == 0) return false;
  box = {.offset = at_, .body = at_, .end = end_, .parent = parent_};
  if (room < kHeaderBytes) refuse(box, room, kHeaderBytes);
  if (++returned_ > kMaxSiblings) {
    file_.refuse(box, "follows too many others in the same box",
                 {.expected = fmt::format("at most {}", kMaxSiblings)});
  }
  const Bytes header = file_.at(at_, kHeaderBytes);
  uint64_t length = load_be<uint32_t>(header.data());
  uint64_t header_bytes = kHeaderBytes;
  box.type = BoxType(load_be<uint32_t>(header.data() + 4));
  if (length == 0) length = room;
  if (length == 1) {
    header_bytes = kLongHeaderBytes;
    if (room < header_bytes) refuse(box, room, header_bytes);
    length = load_be<uint64_t>(file_.at(at_ + kHeaderBytes, 8).data());
  }
  if (box.type == BoxType("uuid")) header_bytes += kUuidBytes;
  if (length < header_bytes || length > room) refuse(box, length, header_bytes);
  box.body = at_ + header_bytes;
  box.end = at_ + length;
  at_ = box.end;
  return true;
}

void BoxWalk::refuse(const Mp4Box& box, uint64_t length, uint64_t least) const {
  const uint64_t room = end_ - at_;
  if (file_.is_source() && parent_ == nullptr && length > room && room >= least) {
    ErrorDetail detail = file_.place(box);
    detail.expected = fmt::format("{} bytes", length);
    detail.found = fmt::to_string(room);
    detail.remedy = "Restore the file";
    throw TruncatedError(fmt::format("the file ends inside the box {}", box.path()),
                         std::move(detail));
  }
  file_.refuse(box, "has an invalid length",
               {.expected = room < least ? fmt::format("at least {} bytes", least)
                                         : fmt::format("{} to {} bytes, the rest of the {}", least,
                                                       room, parent_ ? "parent box" : "file"),
                .found = fmt::to_string(length)});
}

std::optional<Mp4Box> find_child(Mp4Bytes& file, const Mp4Box& parent, BoxType type) {
  BoxWalk walk(file, parent);
  for (Mp4Box box; walk.next(box);) {
    if (box.type == type) return box;
  }
  return std::nullopt;
}

Mp4Box child(Mp4Bytes& file, const Mp4Box& parent, BoxType type) {
  if (auto found = find_child(file, parent, type)) return *found;
  file.refuse(parent, "lacks a required box", {.expected = "a box " + type.text()});
}

}  // namespace fuelrail::mp4
