#include "fuelrail/decode/jpeg/baseline_decoder.h"

#include <algorithm>

#include "fuelrail/decode/job.h"
#include "fuelrail/decode/jpeg/scan_bytes.h"

namespace fuelrail::jpeg {
namespace {

constexpr size_t kBytesBehindSegment = 2;

// The number of rows of MCUs that libjpeg-turbo decodes for a box, which are those whose damage it
// reports. It decodes whole rows of iMCUs and, for chroma of half the rows, the next one before the
// last two rows of pixels of an iMCU.
int64_t rows_to_decode(const BaselineHeader& header, const DecodeJob& job) {
  const bool chroma = job.output.channels == 3 && header.components == 3;
  const int64_t mcu_rows = 8 * header.v();
  const int64_t last = job.box.bottom() - 1 + (chroma && header.v() == 2 ? 2 : 0);
  const int64_t imcu = last / (mcu_rows * header.mcu_rows_of_imcu) + 1;
  return std::min(header.mcus.height, imcu * header.mcu_rows_of_imcu);
}

}  // namespace

bool BaselineDecoder::decode(DecodeJob& job) {
  job.way = DecodeWay::kLibjpeg;
  if (job.eighths != 8 || job.output.channels == 4) return false;
  if (!read_baseline_header(job.encoded.bytes, header_)) return false;
  if (header_.size != job.info.stored || header_.size != coded_size(job)) return false;
  // libjpeg-turbo repeats chroma samples if a row has one or two of them.
  if (job.output.channels == 3 && header_.h() == 2 && header_.size.width <= 4) return false;
  scan_ = job.encoded.bytes.subspan(header_.scan_begin);
  tables_.prepare(header_);
  job.way = DecodeWay::kIndexed;
  if (!job.encoded.hints.empty() && decode_indexed(job)) return true;
  job.way = header_.restart_interval > 0 ? DecodeWay::kRestarts : DecodeWay::kGuessed;
  if (decode_scan(job)) return true;
  job.way = DecodeWay::kSuspect;
  return false;
}

// Decodes the segments that the box needs, row by row. Their data are those that were checked when
// the entry points were made, so no damage elsewhere is missed.
bool BaselineDecoder::decode_indexed(const DecodeJob& job) {
  const auto points = EntryPoints::read(job.encoded.hints, header_, job.encoded.bytes);
  if (!points) return false;
  rows_.begin(header_, job.box, job.output);
  const McuWindow& window = rows_.window();
  const int64_t first_of_row = window.left / points->spacing();
  const int64_t last_of_row = (window.right - 1) / points->spacing();
  const size_t most = SegmentDecoder::most_segments(header_, points->spacing());
  // Ascending entry points have no more bytes in total than the scan.
  uint8_t* const memory = unstuffed_.take(scan_.size() + most * (kZeroBytes + kBytesBehindSegment));
  uint8_t* to = memory;
  int64_t passed = 0;
  batch_.clear();
  for (int64_t row = window.top; row < window.bottom; ++row) {
    for (int64_t k = first_of_row; k <= last_of_row; ++k) {
      const auto piece = points->piece(row, k);
      if (!piece || piece->begin.bit < passed) return false;
      passed = piece->end.bit;
      batch_.push_back(segment_of(*piece, window.right, to));
      to += batch_.back().bytes + kZeroBytes;
      if (batch_.size() < most && (row + 1 < window.bottom || k < last_of_row)) continue;
      go_on(job);
      if (!segments_.decode_each(tables_, header_, batch_, rows_)) return false;
      batch_.clear();
      to = memory;
    }
  }
  return true;
}

// The segment of the MCUs from one entry point to the next, up to column `right` of MCUs.
Segment BaselineDecoder::segment_of(const EntryPoints::Piece& piece, int64_t right, uint8_t* to) {
  const auto first_byte = static_cast<size_t>(piece.begin.bit / 8);
  const auto last_byte = static_cast<size_t>(piece.end.bit / 8);
  const Bytes before = scan_.subspan(first_byte, last_byte - first_byte);
  const size_t unstuffed = unstuff(before, to).unstuffed;
  // The byte in which the piece ends may be an FF, followed by a zero.
  const size_t stored_rest = std::min(kBytesBehindSegment, scan_.size() - last_byte);
  const size_t rest = unstuff(scan_.subspan(last_byte, stored_rest), to + unstuffed).unstuffed;
  Segment segment{.data = to,
                  .bytes = static_cast<int64_t>(unstuffed + rest),
                  .first = piece.first,
                  .mcus = piece.mcus,
                  .wanted = std::min(piece.mcus, right - piece.first % header_.mcus.width),
                  .bit = static_cast<int>(piece.begin.bit % 8),
                  .predictors = piece.begin.predictors};
  if (segment.wanted == piece.mcus) {
    segment.end_bit = static_cast<int64_t>(8 * unstuffed) + piece.end.bit % 8;
    if (!piece.is_last) segment.end_predictors = piece.end.predictors;
  }
  return segment;
}

bool BaselineDecoder::decode_scan(const DecodeJob& job) {
  rows_.begin(header_, job.box, job.output);
  const int64_t all = header_.mcus.height * header_.mcus.width;
  const int64_t wanted = rows_to_decode(header_, job) * header_.mcus.width;
  const int64_t interval = header_.restart_interval > 0 ? header_.restart_interval : all;
  const size_t most =
      interval < all ? SegmentDecoder::most_segments(header_, interval) : 0;  // 0: one, by guesses
  Bytes scan = scan_;
  int number = 0;  // of the next restart marker
  for (int64_t first = 0; first < wanted;) {
    uint8_t* to = unstuffed_.take(scan.size() + std::max<size_t>(1, most) * kZeroBytes);
    batch_.clear();
    do {
      const DataEnd end = unstuff(scan, to);
      const int64_t mcus = std::min(interval, all - first);
      Segment segment{.data = to,
                      .bytes = static_cast<int64_t>(end.unstuffed),
                      .ends_at_marker = end.marker != -1,
                      .first = first,
                      .mcus = mcus,
                      .wanted = std::min(mcus, wanted - first)};
      to += end.unstuffed + kZeroBytes;
      first += mcus;
      segment.is_read_to_end = first < wanted || wanted == all;
      batch_.push_back(segment);
      if (!segment.is_read_to_end) break;
      if (end.marker != (first < all ? kRst0 + number++ % 8 : kEoi)) return false;
      scan = scan.subspan(end.next);
    } while (first < wanted && batch_.size() < most);
    go_on(job);
    const bool fine =
        most > 0 ? segments_.decode_each(tables_, header_, batch_, rows_)
                 : segments_.decode_by_guesses(tables_, header_, batch_.front(), rows_, job.stop);
    if (!fine) return false;
  }
  return true;
}

}  // namespace fuelrail::jpeg
