#include "fuelrail/container/bzna/file_scan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/bzna/still_table.h"
#include "fuelrail/container/container.h"
#include "fuelrail/mp4/boxes.h"
#include "fuelrail/mp4/nested_file.h"
#include "fuelrail/storage/block_reader.h"

namespace fuelrail::bzna {
namespace {

constexpr uint64_t kScanBlockBytes = 1 << 20;
constexpr int kMostBoxes = 16;  // at the top of a record

// Whether a record may have a box of this type at its top.
bool is_part_of_record(mp4::BoxType type) {
  constexpr std::array kTypes{mp4::BoxType("mdat"), mp4::BoxType("moov"), mp4::BoxType("free"),
                              mp4::BoxType("skip")};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

class RecordSearch {
 public:
  RecordSearch(const Source& source, const ReportDamage& report, const ScanProgress& progress)
      : source_(source),
        report_(report),
        reader_(source, kScanBlockBytes),
        reporter_(source, progress) {}

  RecordTable run() {
    uint64_t at = first_record();
    begin_ = at;
    while (at < source_.size_bytes()) {
      const std::optional<uint64_t> end = end_of_record(at);
      if (end) {
        at = *end;
      } else {
        const uint64_t next = next_record(at + 1);
        if (next == source_.size_bytes()) break;  // the labels, the names and the tables follow
        report_(
            {.path = source_.uri(),
             .offset = at,
             .skipped_bytes = next - at,
             .record = std::exchange(lost_, true) ? std::nullopt : std::optional(places_.size()),
             .reason = "these bytes are not a whole record"});
        at = next;
      }
      reporter_.advance(places_.size(), at - begin_);
    }
    reporter_.finish();
    report_({.path = source_.uri(),
             .offset = at,
             .skipped_bytes = source_.size_bytes() - at,
             .reason =
                 "the file's tables are missing or damaged, so its records were searched for; any "
                 "splits, and any records after this offset, are lost"});
    table_.records = mp4::SampleTable(places_);
    return std::move(table_);
  }

 private:
  // The offset of the byte after the header of the file's data: the first record begins there. If
  // the file's beginning is damaged, it has the documented length.
  uint64_t first_record() {
    constexpr uint64_t kMostTypeBytes = 1024;
    const auto type = box_at(0);
    const bool is_known = type && type->type == mp4::BoxType("ftyp") && type->end <= kMostTypeBytes;
    const uint64_t data = is_known ? type->end : 24;
    if (source_.size_bytes() < data + mp4::kLongHeaderBytes) return source_.size_bytes();
    const bool is_short =
        is_known && load_be<uint32_t>(reader_.at(data, mp4::kHeaderBytes).data()) != 1;
    return data + (is_short ? mp4::kHeaderBytes : mp4::kLongHeaderBytes);
  }

  // If a whole record begins at `at`, adds it and returns its end.
  std::optional<uint64_t> end_of_record(uint64_t at) {
    uint64_t end = at;
    bool has_tables = false, has_data = false;
    for (int boxes = 0; !has_tables || !has_data; ++boxes) {
      const auto box = box_at(end);
      if (!box || boxes == kMostBoxes) return std::nullopt;
      if (end == at ? box->type != mp4::BoxType("ftyp") : !is_part_of_record(box->type)) break;
      end = box->end;
      has_tables = has_tables || box->type == mp4::BoxType("moov");
      has_data = has_data || box->type == mp4::BoxType("mdat");
    }
    if (!has_tables || !has_data || end - at > kDefaultMaxRecordBytes) return std::nullopt;
    if (tried_bytes_ > 2 * source_.size_bytes()) return std::nullopt;  // false records overlap
    tried_bytes_ += end - at;
    try {
      const mp4::NestedFile nested =
          mp4::read_nested_file(reader_.at(at, end - at), source_.uri(), at);
      if (!nested.input && !nested.thumb) return std::nullopt;
      table_.labels.push_back(nested.label.value_or(mp4::kNoLabel));
    } catch (const CorruptError&) {
      return std::nullopt;
    } catch (const UnsupportedError&) {
      return std::nullopt;
    }
    places_.push_back({at, end - at});
    return end;
  }

  std::optional<mp4::Mp4Box> box_at(uint64_t at) {
    const uint64_t room = source_.size_bytes() - at;
    if (room < mp4::kHeaderBytes) return std::nullopt;
    const Bytes header = reader_.at(at, mp4::kHeaderBytes);
    const mp4::BoxType type(load_be<uint32_t>(header.data() + 4));
    uint64_t length = load_be<uint32_t>(header.data());
    uint64_t least = mp4::kHeaderBytes;
    if (length == 1) {
      least = mp4::kLongHeaderBytes;
      if (room < least) return std::nullopt;
      length = load_be<uint64_t>(reader_.at(at + mp4::kHeaderBytes, 8).data());
    }
    if (length < least || length > room) return std::nullopt;
    return mp4::Mp4Box{.type = type, .offset = at, .end = at + length};
  }

  // The offset of the next box `ftyp`, or the file's size.
  uint64_t next_record(uint64_t at) {
    constexpr std::string_view kType = "ftyp";
    constexpr uint64_t kTypeAt = 4;  // after the length
    const uint64_t size = source_.size_bytes();
    while (at + mp4::kHeaderBytes <= size) {
      const uint64_t bytes = std::min(kScanBlockBytes, size - at);
      const std::string_view text = as_text(reader_.at(at, bytes));
      const size_t found = text.find(kType, kTypeAt);
      if (found != std::string_view::npos) return at + found - kTypeAt;
      at += bytes - (mp4::kHeaderBytes - 1);
      reporter_.advance(places_.size(), at - begin_);
    }
    return size;
  }

  const Source& source_;
  const ReportDamage& report_;
  BlockReader reader_;
  ScanReporter reporter_;
  std::vector<mp4::SampleTable::Place> places_;
  RecordTable table_;
  bool lost_ = false;         // so that the numbers of later records are unknown
  uint64_t begin_ = 0;        // of the first record
  uint64_t tried_bytes_ = 0;  // of all that began like a record
};

}  // namespace

SidecarWriter scan_records(const Source& source, const mp4::SampleTable& records,
                           const ScanProgress& progress) {
  SidecarWriter sidecar;
  StillTableWriter stills;
  BlockReader reader(source, kScanBlockBytes);
  ScanReporter reporter(source, progress);
  uint64_t done_bytes = 0;
  for (uint64_t i = 0; i < records.size(); ++i) {
    const mp4::SampleTable::Place at = records[i];
    try {
      check_length({.source = nullptr, .offset = at.offset, .length = at.bytes});
      const Bytes record = reader.at(at.offset, at.bytes);
      const mp4::NestedFile nested = mp4::read_nested_file(record, source.uri(), at.offset);
      sidecar.add_length(at.bytes, crc32(record));
      sidecar.add_name(nested.name);
      stills.add(record, at.offset, nested);
    } catch (Error& error) {
      error.add({.path = source.uri(), .record = i, .offset = at.offset});
      throw;
    }
    done_bytes += at.bytes;
    reporter.advance(i + 1, done_bytes);
  }
  reporter.finish();
  stills.add_to(sidecar);
  return sidecar;
}

RecordTable find_records(const Source& source, const ReportDamage& report,
                         const ScanProgress& progress) {
  return RecordSearch(source, report, progress).run();
}

}  // namespace fuelrail::bzna
