#include "fuelrail/container/ffrecord/record_scan.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/base/image_format.h"
#include "fuelrail/container/ffrecord/record_pieces.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/payload.h"
#include "fuelrail/container/sidecar/sidecar_format.h"
#include "fuelrail/storage/read_queue.h"

namespace fuelrail::ffrecord {
namespace {

// The bytes read of each record: enough for the header, a few labels and the image's first bytes.
// Grows after a record with more labels.
constexpr uint64_t kBeginBytes = 128;
constexpr uint64_t kMaxBeginBytes = 8 * 1024;
constexpr uint64_t kMaxPrefixBytes = kImageHeaderBytes + uint64_t{frx::kMaxLabels} * sizeof(float);

constexpr uint64_t kPieceBytes = uint64_t{1} << 20;  // for records that are read completely

constexpr size_t kWindow = 2048;  // records in flight, in groups so that neighbours share reads
constexpr size_t kGroup = 256;
constexpr int kThreads = 16;
constexpr uint64_t kFewRecords = 64;  // start no threads for these

class Scan {
 public:
  Scan(const Source& source, const RecordTable& table, const ScanProgress& progress,
       uint64_t records)
      : source_(source),
        table_(table),
        records_(std::min(records, table.size())),
        reporter_(source, progress),
        slots_(std::min<uint64_t>(kWindow, table.size())),
        completions_(kGroup),
        queue_(make_read_queue({.threads = records_ <= kFewRecords ? 0 : kThreads})) {
    for (size_t slot = 0; slot < slots_.size(); ++slot) free_.push_back(slot);
  }

  SidecarWriter run() {
    while (tally_.records() < records_) {
      if (next_ < records_ && free_.size() >= std::min(kGroup, slots_.size())) submit();
      const size_t got = queue_->wait(completions_, 1);
      for (const Completion& completion : std::span(completions_).first(got)) finish(completion);
      reporter_.advance(tally_.records(), done_bytes_);
    }
    reporter_.finish();
    SidecarWriter sidecar;
    for (uint64_t i = 0; i < records_; ++i) sidecar.add_length(table_.length(i));
    sidecar.set_payloads(tally_.kind());
    return sidecar;
  }

 private:
  struct Slot {
    uint64_t record = 0;
    std::vector<std::byte> bytes;
  };

  void submit() {
    std::vector<ReadRequest> requests;
    while (!free_.empty() && next_ < records_) {
      const size_t number = free_.back();
      free_.pop_back();
      Slot& slot = slots_[number];
      slot.record = next_++;
      slot.bytes.resize(std::min(begin_bytes_, table_.length(slot.record)));
      requests.push_back({.source = &source_,
                          .offset = table_.offset(slot.record),
                          .into = slot.bytes,
                          .tag = number});
    }
    queue_->submit(requests);
  }

  void finish(const Completion& completion) {
    const Slot& slot = slots_[completion.tag];
    try {
      if (completion.error) std::rethrow_exception(completion.error);
      const Bytes begin = known_begin(slot.record, slot.bytes);
      const bool doubtful = tally_.would_change(begin) && !is_sound(slot.record);
      tally_.add(doubtful ? Bytes() : begin);
    } catch (Error& error) {
      error.add(
          {.path = source_.uri(), .record = slot.record, .offset = table_.offset(slot.record)});
      throw;
    }
    done_bytes_ += table_.length(slot.record);
    free_.push_back(completion.tag);
  }

  // Returns header and labels if an image begins after them, or header and descriptors of a sample
  // record, else nothing. Allocates nothing for a number of labels or descriptors that does not fit
  // into the record, or for labels that are not followed by an image.
  Bytes known_begin(uint64_t i, Bytes begin) {
    if (begin.size() < kPayloadHeadBytes) return {};
    const uint64_t prefix = payload_prefix_bytes(begin);
    if (prefix > kMaxPrefixBytes || prefix > table_.length(i)) return {};
    if (!announces_sample(begin) &&
        !announced_format(range(i, begin, prefix, kImageSignatureBytes))) {
      return {};
    }
    begin_bytes_ = std::max(begin_bytes_, std::min(prefix + kImageSignatureBytes, kMaxBeginBytes));
    return range(i, begin, 0, prefix);
  }

  // Whether the checksum of record i is right. Reads the whole record, which may take long.
  bool is_sound(uint64_t i) {
    RecordPieces pieces(source_, table_, i);
    piece_.resize(kPieceBytes);
    try {
      for (uint64_t bytes = done_bytes_;; reporter_.advance(tally_.records(), bytes)) {
        const Bytes piece = pieces.next(piece_);
        if (piece.empty()) return true;
        bytes += piece.size();
      }
    } catch (const CorruptError&) {
      return false;
    }
  }

  // A part of record i, whose first bytes are `begin`; shorter if the record ends. Requires: from
  // <= its length. Lifetime: until the next call.
  Bytes range(uint64_t i, Bytes begin, uint64_t from, uint64_t length) {
    length = std::min(length, table_.length(i) - from);
    if (from + length <= begin.size()) return begin.subspan(from, length);
    further_.resize(length);
    source_.read(table_.offset(i) + from, further_);
    return further_;
  }

  const Source& source_;
  const RecordTable& table_;
  const uint64_t records_;
  ScanReporter reporter_;
  PayloadTally tally_;
  uint64_t begin_bytes_ = kBeginBytes;
  uint64_t next_ = 0;        // next record to submit
  uint64_t done_bytes_ = 0;  // of records
  std::vector<std::byte> further_;
  std::vector<std::byte> piece_;
  std::vector<Slot> slots_;
  std::vector<size_t> free_;  // slots
  std::vector<Completion> completions_;
  std::unique_ptr<ReadQueue> queue_;  // last member: it writes into the slots until destroyed
};

}  // namespace

SidecarWriter scan_records(const Source& source, const RecordTable& table,
                           const ScanProgress& progress, uint64_t records) {
  return Scan(source, table, progress, records).run();
}

}  // namespace fuelrail::ffrecord
