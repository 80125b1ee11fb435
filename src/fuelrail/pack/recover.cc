#include "fuelrail/pack/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/record_stream.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/storage/block_reader.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

void check_recovered_names(const std::string& source, const std::string& output) {
  const FileFormat& from = format_for(FormatWork::kSalvage, source);
  const FileFormat& to = format_for(FormatWork::kWrite, output);
  if (from.content != to.content) {
    throw InvalidArgumentError(
        "the records of the source cannot be copied to this format",
        {.path = output,
         .expected = fmt::format("a name that ends in {}", extensions_with(from.content)),
         .found = std::string(to.extension),
         .remedy = "Recover the file in its own format, then convert it"});
  }
  check_other_file(source, output);
}

// Copies the remaining records, and detects those whose checksums differ.
class Recoverer {
 public:
  // Lifetime: `from` and `lost` outlive the object.
  Recoverer(const Salvage& from, uint64_t max_payload_bytes, const ReportDamage& lost)
      : from_(from),
        max_payload_bytes_(max_payload_bytes),
        lost_(lost),
        reader_(*from_.file->source(), kCopyBlockBytes) {}

  // Requires: i is 0 in the first call, then one more in each call. Returns: the extent of the
  // record.
  Extent copy(uint64_t i, Part& to) {
    const RecordFile& file = *from_.file;
    Extent extent;
    try {
      extent = file.record_extent(i);
    } catch (const CorruptError& error) {
      lost_({.path = file.uri(),
             .offset = error.detail().offset.value_or(0),
             .record = i,
             .reason = error.failure()});
      return {.source = nullptr, .offset = end_, .length = 0};
    }
    end_ = extent.offset + extent.length;
    const uint64_t number = number_of(i, extent);
    const auto lose = [&](std::string reason) {
      lost_({.path = file.uri(),
             .offset = extent.offset,
             .skipped_bytes = extent.length,
             .record = number,
             .reason = std::move(reason)});
      return extent;
    };
    StreamedRecord record = read_record(file, i, reader_, max_payload_bytes_, storage_);
    if (file.payload_crc(i).value_or(record.crc) != record.crc) {
      return lose("the record's checksum is wrong");
    }
    uint64_t key = record.key.value_or(record.id.value_or(number));
    if (from_.key) key = from_.key(extent.offset, key);
    const uint64_t new_number = to.records();
    try {
      to.append(record.payload, record.crc, key, record.id);
    } catch (const InvalidArgumentError& error) {  // the bytes are not a record of the format
      const std::string& found = error.detail().found;
      return lose(error.failure() + (found.empty() ? "" : ": " + found));
    }
    try {
      file.check_record(i, record.payload, true);
    } catch (const CorruptError&) {
      ++contradictions_;
    }
    if (from_.own && from_.own->keeps_names()) {
      to.sidecar().add_name(from_.own->name(number), true);
    }
    new_numbers_.resize(i, kLost);
    new_numbers_.push_back(new_number);
    return extent;
  }

  // The number of copied records that contradict the file's tables.
  uint64_t contradictions() const { return contradictions_; }

  // The splits of the records that were copied.
  std::vector<RecordSplit> splits() {
    new_numbers_.resize(from_.file->size(), kLost);
    std::vector<RecordSplit> splits;
    try {
      splits = from_.file->splits();
    } catch (const CorruptError& error) {
      lost_splits(error);
    } catch (const TruncatedError& error) {
      lost_splits(error);
    } catch (const UnsupportedError& error) {  // the first bytes may be damaged
      lost_splits(error);
    }
    for (RecordSplit& split : splits) {
      for (uint64_t& record : split.records) record = new_numbers_[record];
      std::erase(split.records, kLost);
    }
    std::erase_if(splits, [](const RecordSplit& split) { return split.records.empty(); });
    return splits;
  }

  // Adds the sidecar's sections in the same order as packing.
  void finish(SidecarWriter& to) const {
    const Sidecar& known = from_.own ? *from_.own : from_.file->sidecar();
    to.set_payloads(known.payloads());
    if (from_.own) to.keep_sections_of(*from_.own, kKeysSection);
  }

 private:
  static constexpr uint64_t kLost = UINT64_MAX;

  void lost_splits(const Error& error) const {
    if (!from_.records_before) return;  // reported with the file's tables
    lost_({.path = from_.file->uri(),
           .offset = error.detail().offset.value_or(0),
           .reason = "the splits of the file cannot be read: " + error.failure()});
  }

  // The record's number in the undamaged file.
  uint64_t number_of(uint64_t i, const Extent& extent) {
    if (!from_.own || !from_.own->has_table()) return i;
    while (from_.own->record(number_).offset < extent.offset) ++number_;
    return number_;
  }

  const Salvage& from_;
  uint64_t max_payload_bytes_;
  const ReportDamage& lost_;
  BlockReader reader_;
  std::vector<std::byte> storage_;
  uint64_t number_ = 0;
  uint64_t contradictions_ = 0;
  uint64_t end_ = 0;                   // of the last extent
  std::vector<uint64_t> new_numbers_;  // of the records in the output, or kLost
};

}  // namespace

Recovery recover(const std::string& source, const std::string& output, const JobOptions& options,
                 const ReportDamage& lost) {
  check_recovered_names(source, output);
  if (!options.overwrite) refuse_existing(output);
  Recovery result;
  const ReportDamage counted = [&](const Damage& damage) {
    ++result.losses;
    if (lost) lost(damage);
  };
  std::optional<ProgressReporter> progress;
  uint64_t looked_through = 0;
  const ScanProgress first_reading = [&](uint64_t done, uint64_t total) {
    if (!progress) progress.emplace(options.progress, 2 * total);
    looked_through = total;
    progress->advance(done, 0);
    progress->report_when_due();
    return !options.keep_going || options.keep_going();
  };
  const Salvage from = given_by_row(source, [&] {
    return format_for(FormatWork::kSalvage, source)
        .open_damaged(source, counted, {.warn = options.warn}, first_reading);
  });
  const uint64_t bytes = looked_through + from.file->source()->size_bytes();
  if (!progress) progress.emplace(options.progress, bytes);
  Part part(output, from.file->size(), options.overwrite);
  Recoverer recoverer(from, format_for(FormatWork::kWrite, output).max_payload_bytes, counted);
  for (uint64_t i = 0; i < from.file->size(); ++i) {
    const Extent read = naming(
        source, [&] { return recoverer.copy(i, part); }, i);
    progress->advance(looked_through + read.offset + read.length, part.bytes());
    progress->report_when_due();
  }
  if (part.records() == 0) {
    throw CorruptError("no record of the file can be read, so no output is written",
                       {.path = source, .remedy = "Restore the file, or pack it again"});
  }
  if (recoverer.contradictions() > 0 && options.warn) {
    options.warn(fmt::format(
        "{}: labels in the file's tables that differ from those in the records: {}. The output has "
        "those in the records",
        source, recoverer.contradictions()));
  }
  recoverer.finish(part.sidecar());
  part.set_splits(recoverer.splits());
  progress->advance(bytes, part.bytes());
  progress->report();
  part.finish();
  part.commit();
  result.file = {part.uri(), part.records(), part.bytes()};
  if (from.records_before) result.lost_records = *from.records_before - part.records();
  result.checksums = from.file->verifies_checksums();
  return result;
}

}  // namespace fuelrail::pack
