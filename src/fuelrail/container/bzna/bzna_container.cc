#include "fuelrail/container/bzna/bzna_container.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/bzna/file_scan.h"
#include "fuelrail/container/bzna/file_writer.h"
#include "fuelrail/container/bzna/outer_file.h"
#include "fuelrail/container/bzna/still_table.h"
#include "fuelrail/container/fingerprint.h"
#include "fuelrail/container/subset.h"
#include "fuelrail/mp4/nested_image.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::bzna {
namespace {

constexpr size_t kImageField = 0;
constexpr size_t kLabelField = 1;
constexpr size_t kNameField = 2;

const Schema& bzna_schema() {
  static const Schema schema{
      {image_field("image"), label_field("label"), {.name = "name", .kind = FieldKind::kBytes}}};
  return schema;
}

Fingerprint fingerprint_of(const mp4::SampleTable& records) {
  FingerprintBuilder builder;
  for (uint64_t i = 0; i < records.size(); ++i) builder.add(records[i].bytes);
  return builder.result();
}

// A codec with the parameters that it refers to.
struct OwnedCodec {
  std::vector<std::byte> parameters;
  ImageCodec codec;
};

// Errors: those of codec_of.
std::unique_ptr<const OwnedCodec> make_codec(mp4::BoxType entry, Size coded, Bytes parameters) {
  auto owned = std::make_unique<OwnedCodec>();
  owned->parameters.assign(parameters.begin(), parameters.end());
  owned->codec = mp4::codec_of(entry, coded, owned->parameters);
  return owned;
}

constexpr size_t kMaxCodecs = 8192;  // about as many as a sidecar can store

// The codecs of records that are read without the sidecar: equal ones are one object.
class SeenCodecs {
 public:
  // Lifetime: that of this object. Errors: those of make_codec.
  const ImageCodec& get(const mp4::VideoEntry& entry, Bytes parameters) {
    const Key key{entry.type.value(), entry.coded.height, entry.coded.width,
                  std::string(as_text(parameters))};
    const std::lock_guard lock(mutex_);
    if (const auto found = codecs_.find(key); found != codecs_.end()) return found->second->codec;
    if (codecs_.size() == kMaxCodecs) {
      throw DecodeError("the file's records have too many different codecs",
                        {.expected = fmt::format("at most {}", kMaxCodecs)});
    }
    auto made = make_codec(entry.type, entry.coded, parameters);
    return codecs_.emplace(key, std::move(made)).first->second->codec;
  }

 private:
  using Key = std::tuple<uint32_t, int64_t, int64_t, std::string>;
  std::mutex mutex_;
  std::map<Key, std::unique_ptr<const OwnedCodec>> codecs_;
};

class OpenedBzna final : public RecordFile {
 public:
  OpenedBzna(std::shared_ptr<const Source> source, RecordTable table, StoredSidecar sidecar,
             const std::string& track)
      : RecordFile(std::move(source), std::move(sidecar)),
        table_(std::move(table)),
        uses_thumb_(track != mp4::kInputTrack),
        uses_input_(track != mp4::kThumbTrack),
        stills_(StillTable::open(this->sidecar())) {
    if (!stills_) return;
    for (const StillCodec& codec : stills_->codecs()) codecs_.push_back(try_make(codec));
  }

  const RecordTable& table() const { return table_; }
  uint64_t size() const override { return table_.size(); }
  const Schema& schema() const override { return bzna_schema(); }
  const char* format() const override { return "Benzina"; }
  bool verifies_checksums() const override { return sidecar().has_checksums(); }

  Extent extent(uint64_t i) const override {
    if (const auto still = stored_still(i)) return {source(), still->offset, still->bytes};
    return record_extent(i);
  }

  Extent record_extent(uint64_t i) const override {
    const mp4::SampleTable::Place at = table_.records[i];
    if (at.bytes > kDefaultMaxRecordBytes) {
      throw CorruptError("the record is longer than its format allows",
                         {.path = uri(),
                          .record = i,
                          .offset = at.offset,
                          .expected = fmt::format("at most {} bytes", kDefaultMaxRecordBytes),
                          .found = fmt::to_string(at.bytes)});
    }
    return {source(), at.offset, at.bytes};
  }

  Place place(uint64_t i) const override { return {uri(), i, table_.records[i].offset}; }

  void parse(uint64_t i, Bytes framed, Sample& out) const override {
    try {
      out.fields.resize(schema().fields.size());
      out.id = i;
      out.storage.clear();
      const bool is_whole = framed.size() == table_.records[i].bytes;
      const auto still = is_whole ? std::nullopt : stored_still(i);
      if (still) {
        parse_still(i, *still, framed, out);
      } else {
        parse_whole(i, framed, out);
      }
      store_le(out.scalars.data(), table_.label(i));
      set(out.fields[kLabelField], Bytes(out.scalars).first(sizeof(int64_t)));
    } catch (Error& error) {
      if (error.detail().path.empty()) error.add(place(i).detail());
      throw;
    }
  }

  Bytes payload(uint64_t i, Bytes framed, std::vector<std::byte>&) const override {
    check_bytes(table_.records[i].bytes, framed);
    return framed;
  }

  void check_record(uint64_t i, Bytes payload, bool copied) const override {
    if (i >= table_.labels.size()) return;  // only the record can have a label
    const std::optional<int64_t> own =
        mp4::read_nested_file(payload, uri(), table_.records[i].offset).label;
    const int64_t label = table_.labels[i];
    if (own.value_or(mp4::kNoLabel) == label || (!own && !copied)) return;
    throw CorruptError("the record's own label differs from its label in the file's tables",
                       {.path = uri(),
                        .record = i,
                        .expected = own ? fmt::to_string(*own) : "no label",
                        .found = fmt::to_string(label),
                        .remedy = "Restore the file, or convert it to a .rec file, which gets the "
                                  "labels of the tables"});
  }

  std::optional<Size> image_size(uint64_t i) const override {
    const auto still = stored_still(i);
    const bool is_known = still && still->visible.height > 0 && still->visible.width > 0;
    return is_known ? std::optional(still->visible) : std::nullopt;
  }

  std::vector<RecordSplit> splits() const override { return stored_splits(*source(), table_); }

  std::optional<uint32_t> payload_crc(uint64_t i) const override {
    return sidecar().has_checksums() ? std::optional(sidecar().payload_crc(i)) : std::nullopt;
  }

 private:
  static void set(FieldValue& field, Bytes bytes) {
    static_cast<EncodedImage&>(field) = EncodedImage(bytes);
    field.shape.clear();
  }

  static void check_bytes(uint64_t expected, Bytes framed) {
    if (framed.size() == expected) return;
    throw TruncatedError(
        "the record does not have its length in the file's table",
        {.expected = fmt::format("{} bytes", expected), .found = fmt::to_string(framed.size())});
  }

  // A codec that cannot be made is an error of each record that has it.
  static std::unique_ptr<const OwnedCodec> try_make(const StillCodec& codec) {
    try {
      return make_codec(codec.type, codec.coded, codec.parameters);
    } catch (const Error&) {
      return nullptr;
    }
  }

  // Empty if the sidecar has no table of stills, or if the record does not have the still: then the
  // whole record is read.
  std::optional<StoredStill> stored_still(uint64_t i) const {
    if (!stills_) return std::nullopt;
    for (const auto& [is_used, kind] :
         {std::pair(uses_thumb_, StillKind::kThumb), {uses_input_, StillKind::kInput}}) {
      if (!is_used) continue;
      if (const StoredStill still = stills_->still(i, kind); still.bytes > 0) return still;
    }
    return std::nullopt;
  }

  void parse_still(uint64_t i, const StoredStill& still, Bytes bitstream, Sample& out) const {
    check_bytes(still.bytes, bitstream);
    check_record_crc(crc32(bitstream), still.crc);
    const std::unique_ptr<const OwnedCodec>& owned = codecs_[still.codec];
    if (!owned) {
      const StillCodec& codec = stills_->codecs()[still.codec];
      make_codec(codec.type, codec.coded, codec.parameters);  // throws its error
    }
    fill_image(bitstream, owned->codec, still.visible, out);
    if (sidecar().has_names()) sidecar().append_name(i, out.storage);
    set(out.fields[kNameField], out.storage);
  }

  void parse_whole(uint64_t i, Bytes record, Sample& out) const {
    check_bytes(table_.records[i].bytes, record);
    if (const auto crc = payload_crc(i)) check_record_crc(crc32(record), *crc);
    const mp4::NestedFile nested = mp4::read_nested_file(record, uri(), table_.records[i].offset);
    std::optional<mp4::Still> still;
    if (uses_thumb_) still = nested.thumb;
    if (uses_input_ && !still) still = nested.input;
    if (!still) throw_no_track(nested);
    const Bytes parameters = record.subspan(still->entry.parameters, still->entry.parameters_bytes);
    const ImageCodec& codec = seen_.get(still->entry, parameters);
    fill_image(record.subspan(still->offset, still->bytes), codec, still->visible, out);
    set(out.fields[kNameField], as_bytes(nested.name));
  }

  static void fill_image(Bytes bitstream, const ImageCodec& codec, Size visible, Sample& out) {
    FieldValue& image = out.fields[kImageField];
    static_cast<EncodedImage&>(image) = mp4::image_of(bitstream, codec, visible);
    image.shape.clear();
  }

  [[noreturn]] void throw_no_track(const mp4::NestedFile& nested) const {
    std::string found = nested.input ? std::string(mp4::kInputTrack) : "";
    if (nested.thumb) found += (found.empty() ? "" : ", ") + std::string(mp4::kThumbTrack);
    const std::string_view wanted = uses_thumb_ ? mp4::kThumbTrack : mp4::kInputTrack;
    throw DecodeError(fmt::format("the record has no track '{}'", wanted),
                      {.found = found.empty() ? "no image" : "the image tracks " + found,
                       .remedy = found.empty() ? "" : "Choose another track with `track`"});
  }

  Fingerprint make_fingerprint(const KeepGoing&) const override { return sidecar().fingerprint(); }

  RecordTable table_;
  // The images that a sample may have; of both, the thumbnail if the record has one.
  bool uses_thumb_;
  bool uses_input_;
  std::optional<StillTable> stills_;
  std::vector<std::unique_ptr<const OwnedCodec>> codecs_;  // null: it cannot be made
  mutable SeenCodecs seen_;
};

// Whether the bitstream has its checksum. One that is too long to be read for this check has not.
bool is_sound(const Source& source, const StoredStill& still) {
  constexpr uint32_t kMaxReadBytes = 16 << 20;
  if (still.bytes == 0 || still.bytes > kMaxReadBytes) return false;
  std::vector<std::byte> bitstream(still.bytes);
  source.read(still.offset, bitstream);
  return crc32(bitstream) == still.crc;
}

// Whether any bitstream of a sample of records, spread over the file, has its checksum.
bool has_still_in_place(const Source& source, const Sidecar& sidecar) {
  constexpr uint64_t kSampled = 16;
  const std::optional<StillTable> stills = StillTable::open(sidecar);
  if (!stills || source.size_bytes() < sidecar.identity().size_bytes) return false;
  const uint64_t sampled = std::min(sidecar.records(), kSampled);
  for (uint64_t k = 0; k < sampled; ++k) {
    const uint64_t i = sampled == 1 ? 0 : k * (sidecar.records() - 1) / (sampled - 1);
    for (const StillKind kind : {StillKind::kThumb, StillKind::kInput}) {
      if (is_sound(source, stills->still(i, kind))) return true;
    }
  }
  return false;
}

// The sidecar has no table of records, but their fingerprint. Lifetime: `source` outlives the
// rules.
SidecarRules rules_for(const Source& source, const mp4::SampleTable& records) {
  return {.accept =
              [found = fingerprint_of(records)](const Sidecar& sidecar) {
                StillTable::open(sidecar);
                if (sidecar.fingerprint() == found) return;
                throw CorruptError("the sidecar does not match the file's tables",
                                   {.path = sidecar.uri(),
                                    .expected = to_string(found),
                                    .found = to_string(sidecar.fingerprint())});
              },
          .agrees =
              [&source](const Sidecar& sidecar, const ChangedEnds& changed) {
                try {
                  return !changed.both() || has_still_in_place(source, sidecar);
                } catch (const CorruptError&) {  // in the table itself
                  return false;
                }
              }};
}

SidecarWriter lengths_of(const mp4::SampleTable& records) {
  SidecarWriter sidecar;
  for (uint64_t i = 0; i < records.size(); ++i) sidecar.add_length(records[i].bytes);
  return sidecar;
}

std::shared_ptr<const OpenedBzna> open_whole(const std::string& uri, const OpenOptions& options) {
  const auto open = [&](const auto& source, SidecarStore& store) {
    RecordTable table = read_record_table(*source);
    std::optional<StoredSidecar> sidecar = store.find(rules_for(*source, table.records));
    if (!sidecar) {
      SidecarWriter lengths = lengths_of(table.records);
      if (options.ignore_sidecar) lengths.set_classes(options.classes);
      sidecar = sidecar_in_memory(lengths, store.identity());
    }
    return std::make_shared<const OpenedBzna>(source, std::move(table), *std::move(sidecar),
                                              options.track);
  };
  return open_with_store(uri, options.warn, open, options.ignore_sidecar);
}

std::shared_ptr<const Container> open_split(const std::string& uri, const OpenOptions& options) {
  const std::shared_ptr<const OpenedBzna> file = open_whole(uri, options);
  if (options.split.empty()) return file;
  return subset(file, records_of_split(*file->source(), file->table(), options.split));
}

SidecarRecipe sidecar_recipe(std::shared_ptr<const Source> source, const Warn&) {
  auto table = std::make_shared<const RecordTable>(read_record_table(*source));
  return {.rules = rules_for(*source, table->records),
          .make = [source, table](const BuildSidecarOptions& options) {
            return options.checksums ? scan_records(*source, table->records, options.progress)
                                     : lengths_of(table->records);
          }};
}

}  // namespace

std::shared_ptr<const RecordFile> open_bzna(const std::string& uri, const OpenOptions& options) {
  return open_whole(uri, options);
}

Salvage open_damaged(const std::string& uri, const ReportDamage& report, const OpenOptions& options,
                     const ScanProgress& progress) {
  const auto open = [&](const auto& source, SidecarStore& store) -> Salvage {
    std::optional<RecordTable> table;
    try {
      table = read_record_table(*source);
    } catch (const CorruptError&) {
    } catch (const TruncatedError&) {
    } catch (const UnsupportedError&) {  // the first bytes may be damaged
    }
    Salvage salvage;
    std::optional<StoredSidecar> own;
    if (table) {
      own = store.find(rules_for(*source, table->records), CutFile::kUsed);
      salvage.records_before = table->size();
    } else {
      table = find_records(*source, report, progress);
    }
    if (own) salvage.own = own->sidecar;
    StoredSidecar used =
        own ? *own : sidecar_in_memory(lengths_of(table->records), store.identity());
    salvage.file = std::make_shared<const OpenedBzna>(source, *std::move(table), std::move(used),
                                                      options.track);
    return salvage;
  };
  return open_with_store(uri, options.warn, open, options.ignore_sidecar);
}

constexpr FileFormat kFormat{
    .extension = ".bzna",
    .name = "Benzina",
    .signature = {.offset = 16, .bytes = "bzna"},
    .tracks =
        [] {
          return std::vector{mp4::kThumbTrack, mp4::kInputTrack};
        },
    .splits = split_names,
    .max_payload_bytes = kDefaultMaxRecordBytes,
    .content = RecordContent::kNestedFile,
    .open = open_split,
    .sidecar_recipe = sidecar_recipe,
    .make_writer = [](const RecordFileSinks& sinks, uint64_t) { return make_writer(sinks); },
    .open_stream =
        [](const std::string& uri, uint64_t max_payload_bytes, const OpenOptions& options) {
          return stream_of(open_whole(uri, options), max_payload_bytes);
        },
    .open_damaged = open_damaged,
};

}  // namespace fuelrail::bzna
