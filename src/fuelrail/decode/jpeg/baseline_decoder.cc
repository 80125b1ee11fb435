#include "fuelrail/decode/jpeg/baseline_decoder.h"

#include <algorithm>

#include "fuelrail/decode/job.h"
#include "fuelrail/decode/jpeg/entry_points.h"
#include "fuelrail/decode/jpeg/scan_bytes.h"

namespace fuelrail::jpeg {
namespace {

constexpr int kRst0 = 0xd0, kEoi = 0xd9, kFill = 0xff;
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
  tables_.prepare(header_);
  job.way = DecodeWay::kIndexed;
  const bool has_hints = !job.encoded.hints.empty();
  if (has_hints && decode_indexed(job)) return true;
  job.way = header_.restart_interval > 0 ? DecodeWay::kRestarts : DecodeWay::kGuessed;
  if (!decode_scan(job)) {
    job.way = DecodeWay::kSuspect;
    return false;
  }
  job.hints_refused = has_hints;
  return true;
}

// Decodes the segments that the box needs, row by row. Their data are what was checked when the
// entry points were made, so damage elsewhere cannot be missed.
bool BaselineDecoder::decode_indexed(const DecodeJob& job) {
  const auto points = EntryPoints::read(job.encoded.hints, header_, job.encoded.bytes);
  if (!points) return false;
  rows_.begin(header_, job.box, job.output);
  const Bytes scan = job.encoded.bytes.subspan(header_.scan_begin);
  const McuWindow& window = rows_.window();
  const int64_t spacing = points->spacing();
  const int64_t first_of_row = window.left / spacing;
  const int64_t last_of_row = (window.right - 1) / spacing;
  const auto most =
      static_cast<size_t>(SegmentDecoder::most_segments(spacing, header_.blocks_of_mcu));
  // Ascending entry points have no more bytes in total than the scan. Up to two bytes behind each
  // segment are copied, too: the byte in which it ends may be an FF, followed by a zero.
  uint8_t* to = unstuffed_.take(scan.size() + most * (kZeroBytes + kBytesBehindSegment));
  uint8_t* const begin = to;
  int64_t passed = 0;
  batch_.clear();
  for (int64_t row = window.top; row < window.bottom; ++row) {
    for (int64_t k = first_of_row; k <= last_of_row; ++k) {
      const int64_t i = row * points->entries_of_row() + k;
      const auto point = points->at(i);
      const auto next =
          i + 1 < points->count() ? points->at(i + 1) : EntryPoint{.bit = points->end_bit()};
      if (!point || !next || point->bit < passed || next->bit < point->bit) return false;
      passed = next->bit;
      const int64_t mcus = std::min(spacing, header_.mcus.width - k * spacing);
      const auto first_byte = static_cast<size_t>(point->bit / 8);
      const auto last_byte = static_cast<size_t>(next->bit / 8);
      const DataEnd end = unstuff(scan.subspan(first_byte, last_byte - first_byte), to);
      const DataEnd rest = unstuff(
          scan.subspan(last_byte).first(std::min(kBytesBehindSegment, scan.size() - last_byte)),
          to + end.unstuffed);
      Segment segment{
          .data = to,
          .bytes = static_cast<int64_t>(end.unstuffed + std::min<size_t>(1, rest.unstuffed)),
          .first = row * header_.mcus.width + k * spacing,
          .mcus = mcus,
          .wanted = std::min(mcus, window.right - k * spacing),
          .between_entry_points = true,
          .bit = static_cast<int>(point->bit % 8),
          .predictors = point->predictors};
      if (segment.wanted == mcus) {
        segment.end_bit = static_cast<int64_t>(8 * end.unstuffed) + next->bit % 8;
        if (i + 1 < points->count()) segment.end_predictors = next->predictors;
      }
      batch_.push_back(segment);
      to += end.unstuffed + rest.unstuffed + kZeroBytes;
      if (batch_.size() < most && (row + 1 < window.bottom || k < last_of_row)) continue;
      if (!segments_.decode(tables_, header_.blocks_of_mcu, batch_, rows_, job.stop)) return false;
      batch_.clear();
      to = begin;
    }
  }
  return true;
}

bool BaselineDecoder::decode_scan(const DecodeJob& job) {
  const BaselineHeader& header = header_;
  rows_.begin(header, job.box, job.output);
  const int64_t all = header.mcus.height * header.mcus.width;
  const int64_t wanted = rows_to_decode(header, job) * header.mcus.width;
  const int64_t interval = header.restart_interval > 0 ? header.restart_interval : all;
  const auto most = static_cast<size_t>(
      SegmentDecoder::most_segments(std::min(interval, all), header.blocks_of_mcu));
  Bytes scan = job.encoded.bytes.subspan(header.scan_begin);

  int number = 0;  // of the next restart marker
  for (int64_t first = 0; first < wanted;) {
    uint8_t* to = unstuffed_.take(scan.size() + most * kZeroBytes);
    batch_.clear();
    while (first < wanted && batch_.size() < most) {
      const DataEnd end = unstuff(scan, to);
      const int64_t mcus = std::min(interval, all - first);
      batch_.push_back({.data = to,
                        .bytes = static_cast<int64_t>(end.unstuffed),
                        .ends_at_marker = end.marker != -1 && end.marker != kFill,
                        .first = first,
                        .mcus = mcus,
                        .wanted = std::min(mcus, wanted - first)});
      to += end.unstuffed + kZeroBytes;
      first += mcus;
      batch_.back().is_read_to_end = first < wanted || wanted == all;
      if (batch_.back().is_read_to_end) {
        const int expected = first == all ? kEoi : kRst0 + number++ % 8;
        if (end.marker != expected) return false;
        scan = scan.subspan(end.stored + 2);
      }
    }
    if (!segments_.decode(tables_, header.blocks_of_mcu, batch_, rows_, job.stop)) return false;
  }
  return true;
}

}  // namespace fuelrail::jpeg
