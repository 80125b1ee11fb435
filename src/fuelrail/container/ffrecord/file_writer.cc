#include "fuelrail/container/ffrecord/file_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/sidecar/sidecar_store.h"

namespace fuelrail::ffrecord {
namespace {

constexpr uint64_t kMovedAtOnce = uint64_t{1} << 20;

void append_zeros(Sink& sink, uint64_t count) {
  const std::vector<std::byte> zeros(std::min(count, kMovedAtOnce));
  for (uint64_t left = count; left > 0;) {
    const uint64_t now = std::min(left, kMovedAtOnce);
    sink.write(Bytes(zeros).first(now));
    left -= now;
  }
}

// Writes the numbers of the table, which follow its checksum, and computes the checksum.
class TableWriter {
 public:
  explicit TableWriter(Sink& sink) : sink_(sink) { block_.reserve(kMovedAtOnce); }

  template <typename T>
  void put(T value) {
    block_.resize(block_.size() + sizeof value);
    store_le(block_.data() + block_.size() - sizeof value, value);
    if (block_.size() > kMovedAtOnce - sizeof(uint64_t)) flush();
  }

  // Returns: the checksum of everything written.
  uint32_t finish() {
    flush();
    return crc_;
  }

 private:
  void flush() {
    crc_ = crc32(block_, crc_);
    sink_.rewrite(at_, block_);
    at_ += block_.size();
    block_.clear();
  }

  Sink& sink_;
  uint64_t at_ = sizeof(uint32_t);  // after the checksum
  uint32_t crc_ = 0;
  std::vector<std::byte> block_;
};

}  // namespace

FileWriter::FileWriter(Sink& sink, uint64_t expected) : sink_(sink) {
  reserve(expected);
  append_zeros(sink_, first_);
}

FileWriter::FileWriter(Sink& sink, uint64_t expected, AsLeft) : sink_(sink) {
  reserve(expected);
  adopted_ = first_;
}

void FileWriter::reserve(uint64_t expected) {
  if (expected > kMaxRecords) {
    throw InvalidArgumentError("there are too many records for an FFRecord file",
                               {.path = sink_.uri(),
                                .expected = fmt::format("at most {}", kMaxRecords),
                                .found = fmt::to_string(expected)});
  }
  // Before anything is written, so that an absurd number fails here and not on a full disk.
  crcs_.reserve(expected);
  offsets_.reserve(expected);
  first_ = table_bytes(expected);
}

uint64_t FileWriter::append(Bytes record) { return append(record, crc32(record)); }

// One state transition of a method: from the required state to the next one, or to kFailed if the
// method throws.
class FileWriter::Step {
 public:
  Step(FileWriter& writer, State from, State to) : writer_(writer), to_(to) {
    if (writer.state_ != from) refuse();
    writer.state_ = State::kFailed;
  }
  void done() { writer_.state_ = to_; }

 private:
  [[noreturn]] void refuse() const {
    const std::string& path = writer_.sink_.uri();
    switch (writer_.state_) {
      case State::kBetween:
        throw StateError("no record was begun",
                         {.path = path, .remedy = "Call `begin_record` first"});
      case State::kInRecord:
        throw StateError("a record is being written in pieces",
                         {.path = path, .remedy = "End that record before writing the next one"});
      case State::kFailed:
        throw StateError("an earlier write failed, so the file cannot be completed",
                         {.path = path, .remedy = "Write the file again"});
      case State::kFinished:
        break;
    }
    throw StateError("the file is finished; nothing more can be written", {.path = path});
  }

  FileWriter& writer_;
  State to_;
};

void FileWriter::adopt(uint64_t length, uint32_t crc) {
  Step step(*this, State::kBetween, State::kBetween);
  offsets_.push_back(adopted_);
  crcs_.push_back(crc);
  adopted_ += length;
  step.done();
}

uint64_t FileWriter::append(Bytes record, uint32_t crc) {
  Step step(*this, State::kBetween, State::kBetween);
  offsets_.push_back(sink_.position());
  sink_.write(record);
  crcs_.push_back(crc);
  step.done();
  return crcs_.size() - 1;
}

void FileWriter::begin_record() {
  Step step(*this, State::kBetween, State::kInRecord);
  offsets_.push_back(sink_.position());
  open_crc_ = 0;
  step.done();
}

void FileWriter::add(Bytes piece) {
  Step step(*this, State::kInRecord, State::kInRecord);
  sink_.write(piece);
  open_crc_ = crc32(piece, open_crc_);
  step.done();
}

uint64_t FileWriter::end_record() {
  Step step(*this, State::kInRecord, State::kBetween);
  crcs_.push_back(open_crc_);
  step.done();
  return crcs_.size() - 1;
}

void FileWriter::finish() {
  Step step(*this, State::kBetween, State::kFinished);
  if (const uint64_t first = table_bytes(records()); first != first_) move_records(first);
  write_table();
  step.done();
}

// Moves the blocks in such an order that each is read before it is overwritten.
void FileWriter::move_records(uint64_t to) {
  const uint64_t begin = first_;
  const uint64_t length = sink_.position() - begin;
  std::vector<std::byte> block(std::min(length, kMovedAtOnce));
  const auto move = [&](uint64_t at, uint64_t bytes) {
    const MutableBytes now = MutableBytes(block).first(bytes);
    sink_.read_back(begin + at, now);
    sink_.rewrite(to + at, now);
  };
  if (to < begin) {
    for (uint64_t at = 0; at < length; at += kMovedAtOnce) {
      move(at, std::min(kMovedAtOnce, length - at));
    }
    sink_.truncate(to + length);
  } else {
    append_zeros(sink_, to - begin);
    for (uint64_t left = length; left > 0;) {
      const uint64_t now = std::min(kMovedAtOnce, left);
      left -= now;
      move(left, now);
    }
  }
  for (uint64_t& offset : offsets_) offset = offset - begin + to;
  first_ = to;
}

void FileWriter::write_table() {
  TableWriter table(sink_);
  table.put(static_cast<int64_t>(records()));
  for (const uint32_t crc : crcs_) table.put(crc);
  for (const uint64_t offset : offsets_) table.put(static_cast<int64_t>(offset));
  std::array<std::byte, sizeof(uint32_t)> crc;
  store_le(crc.data(), table.finish());
  sink_.rewrite(0, crc);
}

// A kill between the two steps leaves the old file's sidecar, which is ignored because the new
// file's table differs and its records are intact. In this order, a file never loses its own
// sidecar.
void commit_without_sidecar(Sink& sink) {
  sink.commit();
  remove_foreign_sidecar(sink.uri());
}

}  // namespace fuelrail::ffrecord
