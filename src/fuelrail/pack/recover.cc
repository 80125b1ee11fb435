#include "fuelrail/pack/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/image_format.h"
#include "fuelrail/container/ffrecord/ffrecord_container.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/index_file.h"
#include "fuelrail/container/recordio/record_table.h"
#include "fuelrail/container/recordio/recordio_container.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/container/sidecar/sidecar_writer.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/output/record_format.h"
#include "fuelrail/pack/output/record_stream.h"
#include "fuelrail/pack/progress_reporter.h"
#include "fuelrail/storage/block_reader.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

constexpr uint64_t kRecoveryBlockBytes = uint64_t{1} << 20;
constexpr const char* kWrongChecksum = "the record's checksum is wrong";

using TellLoss = std::function<void(const Loss&)>;

// What is left of one file, from front to back. Threads: one at a time.
class Salvage {
 public:
  virtual ~Salvage() = default;
  Salvage(const Salvage&) = delete;
  Salvage& operator=(const Salvage&) = delete;

  // Records that `next` will try.
  virtual uint64_t size() const = 0;
  // How many the file had before the damage; empty where nothing says it.
  virtual std::optional<uint64_t> records_before() const = 0;
  // Whether their checksums are known.
  virtual bool has_checksums() const = 0;
  // The file's own sidecar; null without one.
  virtual const Sidecar* own() const = 0;
  // Of all records, once all were read; empty where they are no images with labels.
  virtual std::optional<LabelSummary> labels() const = 0;
  // The next record, with its key; empty when it is lost, which was told. Requires: called `size`
  // times at most.
  virtual std::optional<StreamedRecord> next() = 0;
  // Bytes of the source that were read, of `bytes_in_all`.
  virtual uint64_t bytes_read() const = 0;
  virtual uint64_t bytes_in_all() const = 0;

 protected:
  Salvage() = default;
};

// --- RecordIO ---

// The keys of an index that may be damaged or cut, by the offsets of their records.
class KeysByOffset {
 public:
  void read(const std::string& uri, const std::function<void(const std::string&)>& warn) {
    if (!is_file(uri)) return;
    try {
      const std::vector<std::byte> text = read_whole(*file_system_for(uri).open(uri));
      recordio::IndexReader entries(text, uri);
      while (const auto entry = entries.next()) add(*entry, uri);
    } catch (const CorruptError& error) {
      keys_.clear();
      if (warn) warn(fmt::format("the keys of an index are not kept: {}", error.what()));
    }
    std::sort(keys_.begin(), keys_.end());
  }

  // `wanted`: the key of a record that the index does not name; where that is another's, one above
  // all of the index that no record has.
  uint64_t at(uint64_t offset, uint64_t wanted) {
    const auto found = std::lower_bound(keys_.begin(), keys_.end(), std::pair{offset, uint64_t{0}});
    if (found != keys_.end() && found->first == offset) return found->second;
    if (keys_.empty()) return wanted;
    if (taken_.empty()) {
      for (const auto& [of, key] : keys_) taken_.insert(key);
      above_ = *taken_.rbegin();
    }
    while (!taken_.insert(wanted).second) wanted = ++above_;
    return wanted;
  }

 private:
  void add(const recordio::IndexEntry& entry, const std::string& uri) {
    uint64_t key = 0;
    const char* end = entry.key.data() + entry.key.size();
    const auto parsed = std::from_chars(entry.key.data(), end, key);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
      throw CorruptError("a key is no whole number",
                         {.path = uri, .found = fmt::format("{:?}", entry.key.substr(0, 60))});
    }
    keys_.emplace_back(entry.offset, key);
  }

  std::vector<std::pair<uint64_t, uint64_t>> keys_;
  std::set<uint64_t> taken_;  // once a record is not in the index
  uint64_t above_ = 0;
};

class RecordIoSalvage final : public Salvage {
 public:
  RecordIoSalvage(const std::string& uri, const RecoverOptions& options, const TellLoss& tell,
                  const ScanProgress& progress)
      : source_(file_system_for(uri).open(uri)),
        tell_(tell),
        reader_(*source_, kRecoveryBlockBytes) {
    SidecarStore store(source_, options.warn);
    SidecarRules rules = recordio::sidecar_recipe(source_, options.warn).rules;
    rules.accept = [fits = rules.accept](const Sidecar& sidecar) {
      fits(sidecar);
      sidecar.verify();
    };
    own_ = store.find(rules, CutFile::kUsed);
    const SidecarWriter table = recordio::recover_table(
        source_,
        [&](const recordio::Damage& damage) {
          tell({damage.offset, damage.skipped_bytes, std::nullopt, damage.reason});
        },
        own(), progress);
    table_ = sidecar_in_memory(table, store.identity());
    tell_of_missing_end();
    const std::string index = index_uri_of(uri, record_format_of(uri));
    const bool is_next = own_ && own_->location.uri == next_uri(sidecar_uri(uri));
    keys_.read(is_next ? next_uri(index) : index, options.warn);
  }

  uint64_t size() const override { return table().records(); }
  std::optional<uint64_t> records_before() const override {
    return own_ ? std::optional(own_->sidecar->records()) : std::nullopt;
  }
  bool has_checksums() const override { return table().has_checksums(); }
  const Sidecar* own() const override { return own_ ? own_->sidecar.get() : nullptr; }
  std::optional<LabelSummary> labels() const override {
    return own_ ? own_->sidecar->labels() : table().labels();
  }

  std::optional<StreamedRecord> next() override {
    const uint64_t i = next_++;
    const RecordEntry entry = table().record(i);
    const uint64_t number = own_ ? number_of(entry) : i;
    const Bytes framed = reader_.at(entry.offset, entry.length);
    StreamedRecord record{.payload = recordio::unframe(framed, assembled_, entry.offset).payload};
    record.crc = crc32(record.payload);
    if (has_checksums() && table().payload_crc(i) != record.crc) {
      tell_({entry.offset, entry.length, number, kWrongChecksum});
      return std::nullopt;
    }
    if (labels().has_value() && has_image_prefix(record.payload)) {
      record.id = parse_image_record(record.payload).id;
    }
    record.key = keys_.at(entry.offset, record.id.value_or(number));
    return record;
  }

  uint64_t bytes_read() const override {
    const RecordEntry entry = table().record(next_ - 1);
    return source_->size_bytes() + entry.offset + entry.length;
  }
  uint64_t bytes_in_all() const override { return 2 * source_->size_bytes(); }

 private:
  const Sidecar& table() const { return *table_.sidecar; }

  // Records that the file has lost with its end.
  void tell_of_missing_end() const {
    if (!own_) return;
    uint64_t first = own_->sidecar->records();
    const uint64_t end = source_->size_bytes();
    while (first > 0 && own_->sidecar->record(first - 1).offset >= end) --first;
    const uint64_t missing = own_->sidecar->records() - first;
    if (missing == 0) return;
    tell_({end, 0, first,
           fmt::format("the file ends here, and {} more of its records are missing", missing)});
  }

  // Asked for from front to back. Requires: `own_`, which has all records of the table.
  uint64_t number_of(const RecordEntry& entry) {
    while (own_->sidecar->record(number_).offset < entry.offset) ++number_;
    return number_;
  }

  std::shared_ptr<const Source> source_;
  const TellLoss& tell_;
  std::optional<StoredSidecar> own_;
  StoredSidecar table_;
  BlockReader reader_;
  std::vector<std::byte> assembled_;
  KeysByOffset keys_;
  uint64_t next_ = 0;
  uint64_t number_ = 0;  // in `own_`
};

// --- FFRecord ---

class FfrecordSalvage final : public Salvage {
 public:
  FfrecordSalvage(const std::string& uri, const RecordFormat& to, const RecoverOptions& options,
                  const TellLoss& tell)
      : to_(to),
        source_(file_system_for(uri).open(uri)),
        tell_(tell),
        table_(ffrecord::RecordTable::read_of_cut_file(*source_, options.warn)),
        reader_(*source_, kRecoveryBlockBytes) {
    own_ = SidecarStore(source_, options.warn)
               .find(ffrecord::sidecar_rules(*source_, table_), CutFile::kUsed);
    const uint64_t bytes = source_->size_bytes();
    while (there_ < table_.size() && table_.offset(there_) + table_.length(there_) <= bytes) {
      ++there_;
    }
    if (there_ == table_.size()) return;
    const uint64_t offset = std::min(table_.offset(there_), bytes);
    tell({offset, bytes - offset, there_,
          fmt::format("the file ends too early: {} of its records are cut or missing",
                      table_.size() - there_)});
  }

  uint64_t size() const override { return there_; }
  std::optional<uint64_t> records_before() const override { return table_.size(); }
  bool has_checksums() const override { return true; }
  const Sidecar* own() const override { return own_ ? own_->sidecar.get() : nullptr; }
  std::optional<LabelSummary> labels() const override {
    return own_ ? own_->sidecar->labels() : tally_.labels();
  }

  std::optional<StreamedRecord> next() override {
    const uint64_t i = next_++;
    check_length(i);
    StreamedRecord record{.payload = reader_.at(table_.offset(i), table_.length(i))};
    record.crc = crc32(record.payload);
    if (record.crc != table_.crc(i)) {
      tell_({table_.offset(i), table_.length(i), i, kWrongChecksum});
      return std::nullopt;
    }
    if (is_image(record.payload)) record.id = parse_image_record(record.payload).id;
    tally_.add(record.id ? record.payload : Bytes());
    const bool has_key = own_ && own_->sidecar->has_keys();
    record.key = has_key ? own_->sidecar->key(i) : record.id.value_or(i);
    return record;
  }

  uint64_t bytes_read() const override {
    return table_.offset(next_ - 1) + table_.length(next_ - 1);
  }
  uint64_t bytes_in_all() const override { return source_->size_bytes(); }

 private:
  void check_length(uint64_t i) const {
    try {
      check_payload_bytes(table_.length(i), to_);
    } catch (Error& error) {
      error.add({.path = source_->uri(), .record = i});
      throw;
    }
  }

  // As FfrecordContainer has it.
  bool is_image(Bytes payload) const {
    if (!has_image_prefix(payload)) return false;
    if (own_) return own_->sidecar->labels().has_value();
    return announced_format(parse_image_record(payload).image) != nullptr;
  }

  const RecordFormat& to_;
  std::shared_ptr<const Source> source_;
  const TellLoss& tell_;
  ffrecord::RecordTable table_;
  std::optional<StoredSidecar> own_;
  BlockReader reader_;
  ImageRecordTally tally_;
  uint64_t there_ = 0;  // records that lie in what is left of the file
  uint64_t next_ = 0;
};

// --- Either ---

void check_recovered_names(const std::string& source, const std::string& output) {
  record_format_of(source);
  record_format_of(output);
  if (identity_of_name(source) != identity_of_name(output)) return;
  throw InvalidArgumentError(
      "source and output are the same file",
      {.path = output, .remedy = "Give the output another name: the source stays as it is"});
}

// In the order in which packing tells the sidecar.
void tell_sidecar(const Salvage& from, SidecarWriter& to) {
  if (const auto labels = from.labels()) to.set_labels(*labels);
  if (from.own() != nullptr) to.keep_sections_of(*from.own(), kKeysSection);
}

}  // namespace

Recovery recover(const std::string& source, const std::string& output,
                 const RecoverOptions& options) {
  check_recovered_names(source, output);
  if (!options.overwrite) refuse_existing(output);
  Recovery result;
  const TellLoss tell = [&](const Loss& loss) {
    ++result.losses;
    if (options.lost) options.lost(loss);
  };
  std::optional<ProgressReporter> progress;
  const ScanProgress scanned = [&](uint64_t done, uint64_t total) {
    if (!progress) progress.emplace(options.progress, 2 * total);
    progress->advance(done, 0);
    progress->report_when_due();
    return true;
  };
  std::unique_ptr<Salvage> from;
  if (record_format_of(source).extension == ".rec") {
    from = std::make_unique<RecordIoSalvage>(source, options, tell, scanned);
  } else {
    from = std::make_unique<FfrecordSalvage>(source, record_format_of(output), options, tell);
  }
  if (!progress) progress.emplace(options.progress, from->bytes_in_all());
  Part part(output, from->size(), options.overwrite);
  for (uint64_t i = 0; i < from->size(); ++i) {
    if (const auto record = from->next()) {
      part.append(record->payload, record->crc, *record->key, record->id);
    }
    progress->advance(from->bytes_read(), part.bytes());
    progress->report_when_due();
  }
  if (part.records() == 0) {
    throw CorruptError("no record of the file can be read, so nothing is written",
                       {.path = source, .remedy = "Restore the file, or pack it anew"});
  }
  tell_sidecar(*from, part.sidecar());
  progress->advance(from->bytes_in_all(), part.bytes());
  progress->report();
  part.finish();
  part.commit();
  result.file = {part.uri(), part.records(), part.bytes()};
  if (const auto before = from->records_before()) result.lost_records = *before - part.records();
  result.checksums = from->has_checksums();
  return result;
}

}  // namespace fuelrail::pack
