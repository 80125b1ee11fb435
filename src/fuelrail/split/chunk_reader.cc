#include "fuelrail/split/chunk_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/split/text_lines.h"

namespace fuelrail::split {
namespace {

using recordio::kHeadBytes;
using recordio::PartHead;

bool begins_record_at(Bytes bytes, size_t at) {
  const PartHead head(bytes.data() + at);
  return head.valid() && head.starts_record();
}

// The position after the last line end; 0 if there is none.
size_t last_line_end(Bytes text) {
  size_t at = text.size();
  while (at > 0 && !is_line_end(text[at - 1])) --at;
  return at;
}

// The position at which the last record begins; 0 if no record begins after the first.
size_t last_record_begin(Bytes records) {
  if (records.size() < kHeadBytes) return 0;
  size_t at = (records.size() - kHeadBytes) / 4 * 4;
  while (at > 0 && !begins_record_at(records, at)) at -= 4;
  return at;
}

}  // namespace

SubParts::SubParts(std::shared_ptr<const SplitFiles> files, PartRange numbers, uint64_t nsplit,
                   DmlcShuffle* shuffle, std::vector<uint64_t>& order)
    : files_(std::move(files)),
      numbers_(numbers),
      nsplit_(nsplit),
      shuffle_(shuffle),
      order_(order) {}

PartRange SubParts::visited(uint64_t n) const {
  const uint64_t number = shuffle_ == nullptr ? n : order_[static_cast<size_t>(n)];
  return files_->part(numbers_.begin + number, nsplit_);
}

void SubParts::draw_order() {
  if (shuffle_ != nullptr) shuffle_->shuffle(order_);
}

RunReader::RunReader(PartBytes& bytes, SubParts parts, const std::atomic<uint64_t>& chunk_bytes)
    : bytes_(bytes), parts_(std::move(parts)), chunk_bytes_(chunk_bytes) {}

bool RunReader::next(SplitChunk& chunk) {
  chunk.clear();
  if (!go_to_bytes()) return false;
  uint64_t end = left_.begin;  // of the bytes in the chunk
  // The limit is in whole words and grows as in dmlc-core, so that chunks end where dmlc-core's do.
  for (uint64_t limit = (chunk_bytes_ + 3) / 4 * 4;; limit = 2 * limit + 4) {
    const uint64_t read_to = left_.begin + std::min(limit, left_.length());
    bytes_.append({end, read_to}, chunk);
    end = read_to;
    const size_t cut = end - left_.begin < limit ? 0 : records_end(chunk);
    if (cut == 0 && end < left_.end) {
      check_may_grow(chunk);
      continue;
    }
    if (cut != 0 && cut < chunk.size()) {
      const SplitChunk::Piece& piece = chunk.piece_at(cut);
      end = piece.place + (cut - piece.at);
      chunk.truncate(cut);
    }
    left_.begin = end;
    return true;
  }
}

// Goes to the next sub-part that has unread bytes. Returns: false if there is none.
bool RunReader::go_to_bytes() {
  while (left_.empty()) {
    if (visited_ == parts_.count()) return false;
    left_ = parts_.visited(visited_);
    ++visited_;
  }
  return true;
}

size_t RunReader::records_end(const SplitChunk& chunk) const {
  const bool text = bytes_.files().type() == SplitType::kText;
  return text ? last_line_end(chunk.bytes()) : last_record_begin(chunk.bytes());
}

// A line may have any length, but a record must begin with a valid head and has a maximum length.
void RunReader::check_may_grow(const SplitChunk& chunk) const {
  if (bytes_.files().type() == SplitType::kText || chunk.size() < kHeadBytes) return;
  const SplitChunk::Piece& first = chunk.pieces().front();
  const bool begins = begins_record_at(chunk.bytes(), 0);
  if (begins && chunk.size() < recordio::kMaxFramedBytes) return;
  throw CorruptError(
      begins ? "the record is longer than RecordIO allows" : "the record's magic number is wrong",
      {.path = bytes_.files().info(first.file).uri, .offset = first.offset});
}

void RunReader::rewind(uint64_t missing) {
  static_cast<void>(missing);
  parts_.draw_order();
  visited_ = 0;
  left_ = {};
}

IndexReader::IndexReader(PartBytes& bytes, std::vector<uint64_t> places, uint64_t batch_size,
                         DmlcShuffle* shuffle)
    : bytes_(bytes), places_(std::move(places)), batch_size_(batch_size), shuffle_(shuffle) {
  if (shuffle_ != nullptr) order_ = shuffle_->permutation(records());
}

bool IndexReader::next(SplitChunk& chunk) {
  chunk.clear();
  const uint64_t wanted = missing_ != 0 ? missing_ : batch_size_;
  missing_ = 0;
  const uint64_t count = std::min(wanted, records() - read_);
  if (count == 0) return false;
  std::vector<PartRange> ranges;
  const auto range_of = [&](uint64_t record, uint64_t end) {
    return PartRange{places_[static_cast<size_t>(record)], places_[static_cast<size_t>(end)]};
  };
  if (shuffle_ == nullptr) {
    ranges.push_back(range_of(read_, read_ + count));
  } else {
    for (uint64_t n = 0; n < count; ++n) {
      const uint64_t record = order_[static_cast<size_t>(read_ + n)];
      ranges.push_back(range_of(record, record + 1));
    }
  }
  bytes_.append_all(ranges, chunk);
  read_ += count;
  chunk.missing_records = wanted - count;
  return true;
}

void IndexReader::rewind(uint64_t missing) {
  if (shuffle_ != nullptr) order_ = shuffle_->permutation(records());
  read_ = 0;
  missing_ = missing;
}

}  // namespace fuelrail::split
