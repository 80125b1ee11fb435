#include "fuelrail/container/recordio/record_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuelrail/base/error.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/container/recordio/framing.h"

namespace fuelrail::recordio {
namespace {

constexpr uint64_t kReadAtOnce = uint64_t{4} << 20;

bool begins_record(Bytes at) {
  if (at.size() < kHeadBytes) return false;
  const PartHead head(at.data());
  return head.valid() && head.starts_record();
}

}  // namespace

RecordShape measure_record(BlockReader& reader, uint64_t offset) {
  PartChain chain;
  uint64_t at = offset;
  while (!chain.done()) {
    const uint64_t left = reader.source_bytes() - at;
    if (left < kHeadBytes) {
      throw TruncatedError("the file ends inside a record's head",
                           {.offset = at,
                            .expected = fmt::format("{} bytes", kHeadBytes),
                            .found = fmt::format("{}", left),
                            .remedy = kRecover});
    }
    at += chain.add(PartHead(reader.at(at, kHeadBytes).data()), at, left);
  }
  return {at - offset, chain.parts()};
}

uint64_t find_record_head(BlockReader& reader, uint64_t from, uint64_t block_bytes) {
  const uint64_t size = reader.source_bytes();
  uint64_t at = std::min((from + 3) / 4 * 4, size);
  while (size - at >= kHeadBytes) {
    const Bytes block = reader.at(at, std::min(block_bytes, size - at));
    const auto magic = find_magic(block);
    if (!magic) {
      at += block.size() / 4 * 4;
    } else if (begins_record(reader.at(at + *magic, std::min(kHeadBytes, size - at - *magic)))) {
      return at + *magic;
    } else {
      at += *magic + 4;
    }
  }
  return size;
}

RecordReader::RecordReader(std::shared_ptr<const Source> source, RecordReaderOptions options)
    : source_(std::move(source)),
      options_(std::move(options)),
      reader_(*source_, options_.block_bytes) {}

std::optional<Record> RecordReader::next() {
  while (offset_ < reader_.source_bytes()) {
    Damage damage{.path = source_->uri(), .offset = offset_};
    try {
      const Record record = read_record();
      offset_ += record.framed_bytes;
      return record;
    } catch (CorruptError& error) {
      error.add({.path = source_->uri()});
      if (!options_.recover) throw;
      damage.reason = error.failure();
    } catch (TruncatedError& error) {
      error.add({.path = source_->uri()});
      if (!options_.recover) throw;
      damage.reason = error.failure();
    }
    offset_ = find_record_head(reader_, damage.offset + 1, kReadAtOnce);
    damage.skipped_bytes = offset_ - damage.offset;
    options_.recover(damage);
  }
  return std::nullopt;
}

void RecordReader::seek(uint64_t offset) {
  if (offset > reader_.source_bytes()) {
    throw OutOfRangeError("the offset is past the end of the file",
                          {.path = source_->uri(),
                           .offset = offset,
                           .expected = fmt::format("at most {}", reader_.source_bytes())});
  }
  offset_ = offset;
}

Record RecordReader::read_record() {
  const RecordShape shape = measure_record(reader_, offset_);
  if (options_.recover) refuse_hidden_head(shape.framed_bytes);
  const Bytes framed = reader_.at(offset_, shape.framed_bytes);
  return {offset_, shape.framed_bytes, unframe(framed, assembled_, offset_).payload};
}

// A part never contains an aligned magic that begins a record. If it does, the length in its head
// is wrong, and the record after it would be lost. The search includes one more word, because the
// last word may be the magic of a head that extends past this record.
void RecordReader::refuse_hidden_head(uint64_t framed_bytes) {
  const uint64_t left = reader_.source_bytes() - offset_;
  const Bytes seen = reader_.at(offset_, std::min(framed_bytes + kHeadBytes / 2, left));
  const Bytes framed = seen.first(framed_bytes);
  for (auto at = find_magic(framed, kHeadBytes); at; at = find_magic(framed, *at + 4)) {
    if (!begins_record(seen.subspan(*at))) continue;
    throw CorruptError("another record begins inside this one", {.offset = offset_ + *at});
  }
}

}  // namespace fuelrail::recordio
