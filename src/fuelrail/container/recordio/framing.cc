#include "fuelrail/container/recordio/framing.h"

#include <fmt/format.h>

#include <array>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/record_file.h"

namespace fuelrail::recordio {
namespace {

constexpr size_t kWordBytes = 4;
constexpr size_t kSearchedAtOnce = 256;

// No early exit, so that the compiler can vectorize the loop. All bits are set because that is what
// a vector comparison returns.
bool block_has_magic(const std::byte* block) {
  uint32_t found = 0;
  for (size_t i = 0; i < kSearchedAtOnce; i += kWordBytes) {
    found |= load_le<uint32_t>(block + i) == kMagic ? ~0u : 0u;
  }
  return found != 0;
}

void append_part(const PartSplitter::Part& part, std::vector<std::byte>& out) {
  std::array<std::byte, kHeadBytes> head;
  part.head.store(head.data());
  append_bytes(out, head);
  append_bytes(out, part.data);
  out.resize(out.size() + part.head.padded_length() - part.head.length());
}

}  // namespace

PartHead::PartHead(const std::byte* at)
    : magic_(load_le<uint32_t>(at)), lrec_(load_le<uint32_t>(at + kWordBytes)) {}

PartHead::PartHead(PartKind kind, uint64_t length)
    : magic_(kMagic), lrec_(uint32_t{static_cast<uint8_t>(kind)} << 29 | uint32_t(length)) {}

void PartHead::store(std::byte* at) const {
  store_le(at, magic_);
  store_le(at + kWordBytes, lrec_);
}

bool PartHead::valid() const { return magic_ == kMagic && kind() <= PartKind::kLast; }

std::optional<size_t> find_magic(Bytes bytes, size_t from) {
  const size_t end = bytes.size() / kWordBytes * kWordBytes;
  size_t at = from;
  while (at + kSearchedAtOnce <= end && !block_has_magic(bytes.data() + at)) at += kSearchedAtOnce;
  for (; at < end; at += kWordBytes) {
    if (load_le<uint32_t>(bytes.data() + at) == kMagic) return at;
  }
  return std::nullopt;
}

PartSplitter::PartSplitter(Bytes payload) : payload_(payload) {
  if (payload.size() <= kMaxPayloadBytes) return;
  throw InvalidArgumentError("the record is too long for RecordIO",
                             {.expected = fmt::format("at most {} bytes", kMaxPayloadBytes),
                              .found = fmt::format("{}", payload.size())});
}

std::optional<PartSplitter::Part> PartSplitter::next() {
  if (done_) return std::nullopt;
  const bool first = begin_ == 0;  // later parts begin after a magic, so never at 0
  const auto magic = find_magic(payload_, begin_);
  const size_t end = magic.value_or(payload_.size());
  const Bytes data = payload_.subspan(begin_, end - begin_);
  done_ = !magic;
  begin_ = end + kWordBytes;
  const PartKind kind = done_ ? (first ? PartKind::kWhole : PartKind::kLast)
                              : (first ? PartKind::kFirst : PartKind::kMiddle);
  return Part{PartHead(kind, data.size()), data};
}

size_t append_framed(Bytes payload, std::vector<std::byte>& out) {
  PartSplitter splitter(payload);
  size_t parts = 0;
  while (const auto part = splitter.next()) {
    append_part(*part, out);
    ++parts;
  }
  return parts;
}

uint64_t PartChain::add(const PartHead& head, uint64_t offset, uint64_t left) {
  if (head.magic() != kMagic) {
    throw CorruptError("the record's magic number is wrong",
                       {.offset = offset,
                        .expected = fmt::format("{:#010x}", kMagic),
                        .found = fmt::format("{:#010x}", head.magic())});
  }
  if (!head.valid() || head.starts_record() != (parts_ == 0)) {
    throw CorruptError("the parts of the record are out of order",
                       {.offset = offset,
                        .expected = parts_ == 0 ? "kind 0 (a whole record) or 1 (a first part)"
                                                : "kind 2 (a middle part) or 3 (a last part)",
                        .found = fmt::format("kind {}", static_cast<int>(head.kind()))});
  }
  if (!head.ends_record() && head.length() % kWordBytes != 0) {
    throw CorruptError("a part of the record before its last has an invalid length",
                       {.offset = offset,
                        .expected = "a multiple of 4",
                        .found = fmt::format("{}", head.length())});
  }
  const uint64_t bytes = kHeadBytes + head.padded_length();
  if (bytes > left) {
    throw TruncatedError("the data ends inside a record",
                         {.offset = offset,
                          .expected = fmt::format("{} bytes", bytes),
                          .found = fmt::format("{}", left),
                          .remedy = kRecover});
  }
  payload_bytes_ += head.length() + (parts_ == 0 ? 0 : kWordBytes);
  if (payload_bytes_ > kMaxPayloadBytes) {
    throw CorruptError("the record is longer than RecordIO allows",
                       {.offset = offset,
                        .expected = fmt::format("at most {} bytes", kMaxPayloadBytes),
                        .found = fmt::format("{}", payload_bytes_)});
  }
  ++parts_;
  done_ = head.ends_record();
  return bytes;
}

Unframed unframe(Bytes framed, std::vector<std::byte>& storage, uint64_t offset) {
  PartChain chain;
  uint64_t at = 0;
  storage.clear();
  while (!chain.done()) {
    const Bytes rest = framed.subspan(at);
    if (rest.size() < kHeadBytes) {
      throw TruncatedError("the data ends inside a record's head",
                           {.offset = offset + at,
                            .expected = fmt::format("{} bytes", kHeadBytes),
                            .found = fmt::format("{}", rest.size()),
                            .remedy = kRecover});
    }
    const PartHead head(rest.data());
    at += chain.add(head, offset + at, rest.size());
    const Bytes data = rest.subspan(kHeadBytes, head.length());
    if (head.kind() == PartKind::kWhole) return {data, at};
    if (chain.parts() > 1) {
      std::array<std::byte, kWordBytes> magic;
      store_le(magic.data(), kMagic);
      append_bytes(storage, magic);
    }
    append_bytes(storage, data);
  }
  return {storage, at};
}

}  // namespace fuelrail::recordio
