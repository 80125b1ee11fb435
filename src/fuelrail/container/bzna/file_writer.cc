#include "fuelrail/container/bzna/file_writer.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/bzna/outer_file.h"
#include "fuelrail/container/bzna/still_table.h"
#include "fuelrail/mp4/box_writer.h"
#include "fuelrail/mp4/nested_file.h"

namespace fuelrail::bzna {
namespace {

constexpr uint32_t kPlayed = 3;  // flags of a track
constexpr uint64_t kMaxRecords = UINT32_MAX;
constexpr size_t kMaxFilmEntries = 1000;

class Writer final : public RecordFileWriter {
 public:
  explicit Writer(const RecordFileSinks& sinks) : data_(sinks.data), sidecar_(sinks.sidecar) {
    mp4::file_type_box().write([&](Bytes piece) { head_ += as_text(piece); });
    data_at_ = head_.size();
    // Until `finish`, the length is one that no file has, so that a reader of an unfinished file
    // sees that it is truncated.
    head_ += mp4::data_header(INT64_MAX - mp4::kLongHeaderBytes, true);
    if (data_.position() > 0 && data_.position() < head_.size()) data_.truncate(0);
    if (data_.position() == 0) data_.write(as_bytes(head_));
    next_ = head_.size();
  }

  void append(Bytes payload, uint32_t crc, uint64_t) override {
    const mp4::NestedFile nested = parse(payload);
    data_.write(payload);
    add(payload, crc, nested);
  }

  std::optional<Bytes> payload_of(Bytes framed) override {
    try {
      parse(framed);
      return framed;
    } catch (const InvalidArgumentError&) {
      return std::nullopt;
    }
  }

  void adopt(uint64_t, Bytes payload, uint32_t crc, uint64_t) override {
    add(payload, crc, parse(payload));
  }

  uint64_t first_offset() const override { return head_.size(); }
  void set_splits(std::vector<RecordSplit> splits) override { splits_ = std::move(splits); }

  void finish() override {
    const uint64_t labels_at = data_.position();
    if (has_labels_) write_labels();
    const uint64_t names_at = data_.position();
    if (has_names_) data_.write(as_bytes(names_));
    const std::string header =
        mp4::data_header(data_.position() - data_at_ - mp4::kLongHeaderBytes, true);
    data_.rewrite(data_at_, as_bytes(header));
    mp4::movie_box(mp4::kTimescale * size(), tracks(labels_at, names_at)).write([&](Bytes piece) {
      data_.write(piece);
    });
    stills_.add_to(sidecar_);
  }

 private:
  struct Film {
    uint64_t offset = 0;
    uint32_t bytes = 0;
    uint32_t entry = 0;  // its number in `film_entries_`
  };

  static bool is_hevc(const std::optional<mp4::Still>& still) {
    return !still || still->entry.type == mp4::BoxType("hvc1") ||
           still->entry.type == mp4::BoxType("hev1");
  }

  // Errors: InvalidArgumentError.
  mp4::NestedFile parse(Bytes payload) const {
    if (size() == kMaxRecords) {
      throw InvalidArgumentError("the file has too many records for its format",
                                 {.expected = fmt::format("at most {}", kMaxRecords)});
    }
    if (payload.size() > kDefaultMaxRecordBytes) {
      throw InvalidArgumentError(
          "the record is too long for a `.bzna` file",
          {.expected = fmt::format("at most {} bytes", kDefaultMaxRecordBytes),
           .found = fmt::to_string(payload.size())});
    }
    std::string found;
    try {
      mp4::NestedFile nested = mp4::read_nested_file(payload, "", 0);
      if (!is_hevc(nested.input) || !is_hevc(nested.thumb)) {
        found = "an image in another format";
      } else if (!nested.input && !nested.thumb) {
        found = "an MP4 file without an image";
      } else if (!mp4::can_be_record(payload)) {
        found = "boxes that a search for records would not find";
      } else {
        return nested;
      }
    } catch (const Error& error) {
      found = error.failure();
    }
    throw InvalidArgumentError(
        "the record cannot be stored in a `.bzna` file",
        {.expected = "an MP4 file with an H.265 image", .found = std::move(found)});
  }

  void add(Bytes payload, uint32_t crc, const mp4::NestedFile& nested) {
    const uint64_t offset = next_;
    places_.push_back({offset, payload.size()});
    has_labels_ = has_labels_ || nested.label;
    labels_.push_back(nested.label.value_or(mp4::kNoLabel));
    has_names_ = has_names_ || !nested.name.empty();
    names_ += nested.name;
    names_ += '\0';
    name_ends_.push_back(names_.size());
    const mp4::Still& still = nested.thumb ? *nested.thumb : *nested.input;
    film_.push_back({.offset = offset + still.offset,
                     .bytes = static_cast<uint32_t>(still.bytes),
                     .entry = film_entry(payload, still)});
    sidecar_.add_length(payload.size(), crc);
    sidecar_.add_name(nested.name);
    stills_.add(payload, offset, nested);
    next_ += payload.size();
  }

  uint32_t film_entry(Bytes payload, const mp4::Still& still) {
    const Bytes parameters = payload.subspan(still.entry.parameters, still.entry.parameters_bytes);
    if (film_entries_.size() > kMaxFilmEntries) return 0;  // there will be no film
    std::string entry = mp4::hevc_entry(still.entry.type, still.entry.coded, parameters, {});
    const auto [found, is_new] =
        film_numbers_.try_emplace(std::move(entry), static_cast<uint32_t>(film_entries_.size()));
    if (is_new && film_entries_.size() <= kMaxFilmEntries) {
      film_entries_.push_back(found->first);
      if (film_entries_.size() == 1) film_size_ = still.entry.coded;
    }
    return found->second;
  }

  uint64_t size() const { return places_.size(); }

  void write_labels() {
    std::array<std::byte, sizeof(int64_t)> bytes;
    for (const int64_t label : labels_) {
      store_le(bytes.data(), label);
      data_.write(bytes);
    }
  }

  uint64_t name_begin(uint64_t i) const { return i == 0 ? 0 : name_ends_[i - 1]; }

  mp4::NewTrack data_track(std::string_view name, uint32_t flags, std::string_view mime) const {
    return {.flags = flags,
            .name = std::string(name),
            .handler = mp4::BoxType("meta"),
            .duration = mp4::kTimescale * size(),
            .sample_duration = mp4::kTimescale,
            .entries = {mp4::metadata_entry(mime)},
            .samples = size()};
  }

  std::vector<mp4::NewTrack> tracks(uint64_t labels_at, uint64_t names_at) const {
    std::vector<mp4::NewTrack> tracks;
    mp4::NewTrack input = data_track(mp4::kInputTrack, 0, "video/mp4");
    input.bytes = [this](uint64_t i) { return places_[i].bytes; };
    input.offset = [this](uint64_t i) { return places_[i].offset; };
    tracks.push_back(std::move(input));
    if (has_labels_) {
      mp4::NewTrack target = data_track(mp4::kTargetTrack, 0, "application/octet-stream");
      target.bytes = [](uint64_t) { return sizeof(int64_t); };
      target.offset = [labels_at](uint64_t i) { return labels_at + i * sizeof(int64_t); };
      tracks.push_back(std::move(target));
    }
    if (has_names_) {
      mp4::NewTrack name = data_track(mp4::kNameTrack, kPlayed, "text/plain");
      name.bytes = [this](uint64_t i) { return name_ends_[i] - name_begin(i); };
      name.offset = [this, names_at](uint64_t i) { return names_at + name_begin(i); };
      tracks.push_back(std::move(name));
    }
    const size_t of_all = tracks.size();
    for (const RecordSplit& split : splits_) {
      for (size_t i = 0; i < of_all; ++i) tracks.push_back(part_of(tracks[i], split));
    }
    if (size() > 0 && film_entries_.size() <= kMaxFilmEntries) tracks.push_back(film_track());
    for (size_t i = 0; i < tracks.size(); ++i) tracks[i].id = static_cast<uint32_t>(i + 1);
    return tracks;
  }

  // A track of some of the samples of another.
  static mp4::NewTrack part_of(const mp4::NewTrack& track, const RecordSplit& split) {
    mp4::NewTrack part = track;
    const auto chosen = [&records = split.records](const auto& of) {
      return [of, &records](uint64_t i) { return of(records[i]); };
    };
    part.name = track_of(track.name, split.name);
    part.samples = split.records.size();
    part.duration = mp4::kTimescale * part.samples;
    part.bytes = chosen(track.bytes);
    part.offset = chosen(track.offset);
    return part;
  }

  mp4::NewTrack film_track() const {
    return {.flags = kPlayed,
            .name = "VideoHandler",
            .handler = mp4::BoxType("vide"),
            .size = film_size_,
            .duration = size(),
            .sample_duration = 1,
            .entries = film_entries_,
            .samples = size(),
            .bytes = [this](uint64_t i) { return film_[i].bytes; },
            .offset = [this](uint64_t i) { return film_[i].offset; },
            .entry_of = [this](uint64_t i) { return film_[i].entry; }};
  }

  Sink& data_;
  SidecarWriter& sidecar_;
  std::string head_;      // the bytes before the first record
  uint64_t data_at_ = 0;  // offset of the box mdat
  uint64_t next_ = 0;     // offset of the next record
  std::vector<mp4::SampleTable::Place> places_;
  std::vector<int64_t> labels_;
  bool has_labels_ = false;
  std::string names_;  // each with a NUL
  std::vector<uint64_t> name_ends_;
  bool has_names_ = false;
  std::vector<Film> film_;
  std::map<std::string, uint32_t> film_numbers_;  // by entry
  std::vector<std::string> film_entries_;
  Size film_size_{};
  StillTableWriter stills_;
  std::vector<RecordSplit> splits_;
};

}  // namespace

std::unique_ptr<RecordFileWriter> make_writer(const RecordFileSinks& sinks) {
  return std::make_unique<Writer>(sinks);
}

}  // namespace fuelrail::bzna
