#include "fuelrail/decode/jpeg/baseline_decoder.h"

#include <algorithm>

#include "fuelrail/decode/job.h"
#include "fuelrail/decode/jpeg/scan_bytes.h"

namespace fuelrail::jpeg {
namespace {

constexpr int kRst0 = 0xd0, kEoi = 0xd9, kFill = 0xff;

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

bool BaselineDecoder::decode(const DecodeJob& job) {
  if (job.eighths != 8 || job.output.channels == 4) return false;
  if (!read_baseline_header(job.encoded.bytes, header_)) return false;
  return header_.size == job.info.stored && header_.size == coded_size(job) && decode_scan(job);
}

bool BaselineDecoder::decode_scan(const DecodeJob& job) {
  const BaselineHeader& header = header_;
  tables_.prepare(header);
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
      if (first < wanted || first == all) {
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
