#include "fuelrail/container/bzna/outer_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/mp4/boxes.h"
#include "fuelrail/mp4/nested_file.h"

namespace fuelrail::bzna {
namespace {

// The major brand of the file's first box, if that is `ftyp`.
std::optional<mp4::BoxType> brand_of(mp4::Mp4Bytes& file) {
  if (file.size() < mp4::kHeaderBytes + 4) return std::nullopt;
  const Bytes head = file.at(0, mp4::kHeaderBytes + 4);
  if (mp4::BoxType(load_be<uint32_t>(head.data() + 4)) != mp4::BoxType("ftyp")) return std::nullopt;
  return mp4::BoxType(load_be<uint32_t>(head.data() + mp4::kHeaderBytes));
}

// Whether the file begins with a box that an MP4 file may begin with.
bool begins_like_mp4(mp4::Mp4Bytes& file) {
  constexpr std::array kFirst{mp4::BoxType("ftyp"), mp4::BoxType("moov"), mp4::BoxType("mdat"),
                              mp4::BoxType("free"), mp4::BoxType("skip"), mp4::BoxType("wide")};
  if (file.size() < mp4::kHeaderBytes) return false;
  const mp4::BoxType first(load_be<uint32_t>(file.at(0, mp4::kHeaderBytes).data() + 4));
  return std::find(kFirst.begin(), kFirst.end(), first) != kFirst.end();
}

std::string entry_text(mp4::Mp4Bytes& file, const mp4::Track& track) {
  try {
    return mp4::read_entry_type(file, track).text();
  } catch (const CorruptError&) {
    return "no format";
  }
}

// "the tracks 'VideoHandler' (hvc1), 'SoundHandler' (mp4a)".
std::string describe(mp4::Mp4Bytes& file, const std::vector<mp4::Track>& tracks) {
  constexpr size_t kMostTracks = 8;
  std::string text = tracks.size() == 1 ? "the track" : "the tracks";
  for (size_t i = 0; i < std::min(tracks.size(), kMostTracks); ++i) {
    text +=
        fmt::format("{} '{}' ({})", i == 0 ? "" : ",", tracks[i].name, entry_text(file, tracks[i]));
  }
  if (tracks.size() > kMostTracks) text += ", ...";
  return text;
}

[[noreturn]] void refuse_other_type(const Source& source, std::string found) {
  throw UnsupportedError(
      "the file is not a `.bzna` file",
      {.path = source.uri(),
       .expected = fmt::format("an MP4 file with a track '{}'", mp4::kInputTrack),
       .found = std::move(found)});
}

// Reads the tracks of the file.
std::vector<mp4::Track> read_outer_tracks(const Source& source, mp4::Mp4Bytes& file) {
  if (!begins_like_mp4(file)) refuse_other_type(source, "a file that is not an MP4 file");
  const std::optional<mp4::BoxType> brand = brand_of(file);
  for (const char* const still : {"heic", "heix", "mif1", "avif"}) {
    if (brand && brand->text() == still) {
      refuse_other_type(source, fmt::format("a HEIF image (brand '{}')", still));
    }
  }
  std::vector<mp4::Track> tracks = mp4::read_tracks(file);
  if (!tracks.empty()) return tracks;
  throw TruncatedError("the file has no table of its records",
                       {.path = source.uri(),
                        .expected = "a box moov with tracks at the end of the file",
                        .remedy = "Restore the file"});
}

const mp4::Track& input_track(const Source& source, mp4::Mp4Bytes& file,
                              const std::vector<mp4::Track>& tracks) {
  const mp4::Track* const input = mp4::find_track(tracks, mp4::kInputTrack);
  if (input != nullptr && input->handler == mp4::BoxType("vide")) {
    refuse_other_type(source, "a single record of a `.bzna` file");
  }
  if (input != nullptr) return *input;
  refuse_other_type(source, "an MP4 file with " + describe(file, tracks));
}

constexpr uint64_t kLabelBlockBytes = 64 << 10;

std::vector<int64_t> read_labels(mp4::Mp4Bytes& file, const mp4::Track& track, uint64_t records) {
  const mp4::SampleTable samples = mp4::read_samples(file, track);
  std::vector<int64_t> labels(std::min(samples.size(), records));
  for (uint64_t i = 0; i < labels.size(); ++i) {
    const mp4::SampleTable::Place at = samples[i];
    if (at.bytes != mp4::kLabelBytes) {
      file.refuse(track.samples, "has a label of the wrong length",
                  {.expected = fmt::format("{} bytes", mp4::kLabelBytes),
                   .found = fmt::format("{} bytes for record {}", at.bytes, i)});
    }
    const bool is_next = i > 0 && at.offset == samples[i - 1].offset + mp4::kLabelBytes;
    file.set_block_bytes(is_next ? kLabelBlockBytes : mp4::kLabelBytes);
    labels[i] = mp4::label_in(file.at(at.offset, at.bytes));
  }
  return labels;
}

// Finds records by their offsets.
class RecordFinder {
 public:
  explicit RecordFinder(const mp4::SampleTable& records)
      : records_(records), by_offset_(records.size()) {
    std::iota(by_offset_.begin(), by_offset_.end(), 0);
    std::sort(by_offset_.begin(), by_offset_.end(), [&](uint64_t a, uint64_t b) {
      return std::tuple(records_[a].offset, records_[a].bytes, a) <
             std::tuple(records_[b].offset, records_[b].bytes, b);
    });
  }

  std::optional<uint64_t> find(const mp4::SampleTable::Place& place) const {
    const auto key = [](const mp4::SampleTable::Place& at) {
      return std::pair(at.offset, at.bytes);
    };
    const auto at = std::lower_bound(
        by_offset_.begin(), by_offset_.end(), key(place),
        [&](uint64_t record, const auto& wanted) { return key(records_[record]) < wanted; });
    if (at == by_offset_.end() || key(records_[*at]) != key(place)) return std::nullopt;
    return *at;
  }

 private:
  const mp4::SampleTable& records_;
  std::vector<uint64_t> by_offset_;
};

std::vector<uint64_t> records_of_track(mp4::Mp4Bytes& file, const mp4::Track& track,
                                       const mp4::SampleTable& records) {
  const mp4::SampleTable samples = mp4::read_samples(file, track);
  const RecordFinder finder(records);
  std::vector<uint64_t> found(samples.size());
  for (uint64_t i = 0; i < samples.size(); ++i) {
    const std::optional<uint64_t> record = finder.find(samples[i]);
    if (!record) {
      file.refuse(track.samples,
                  fmt::format("of the track '{}' has a sample that is not a record", track.name),
                  {.expected = fmt::format("a sample of the track '{}'", mp4::kInputTrack),
                   .found = fmt::format("{} bytes at offset {} (sample {})", samples[i].bytes,
                                        samples[i].offset, i)});
    }
    found[i] = *record;
  }
  return found;
}

std::vector<uint64_t> range(uint64_t begin, uint64_t end) {
  std::vector<uint64_t> numbers(end - begin);
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

// The parts of ImageNet (ILSVRC 2012), in the order of Benzina's files.
// `stored`: the names of the splits that the file has instead.
std::vector<uint64_t> records_of_imagenet(const std::string& uri, uint64_t records,
                                          std::string_view split, const std::string& stored) {
  constexpr uint64_t kDocumentedRecords = 1'431'086;
  const bool documented = records == kDocumentedRecords;
  const uint64_t test = documented ? 99'993 : 100'000;
  const uint64_t validation = documented ? 49'999 : 50'000;
  if (!stored.empty() || records <= test + validation) {
    throw InvalidArgumentError(
        fmt::format("the file has no split '{}'", split),
        {.path = uri,
         .expected = fmt::format("a track '{}_{}', or more than 150000 records (ImageNet)",
                                 mp4::kInputTrack, split),
         .found = stored.empty() ? fmt::format("{} records", records) : "the splits " + stored,
         .remedy = "Open the whole file, without `split`"});
  }
  const uint64_t end_of_training = records - test - validation;
  if (split == "train") return range(0, end_of_training);
  if (split == "test") return range(records - test, records);
  return range(end_of_training, records - test);
}

}  // namespace

RecordTable read_record_table(const Source& source) {
  mp4::Mp4Bytes file(source);
  const std::vector<mp4::Track> tracks = read_outer_tracks(source, file);
  RecordTable table{.records = mp4::read_samples(file, input_track(source, file, tracks))};
  if (const mp4::Track* target = mp4::find_track(tracks, mp4::kTargetTrack)) {
    table.labels = read_labels(file, *target, table.size());
  }
  return table;
}

std::string track_of(std::string_view track, std::string_view split) {
  return fmt::format("{}_{}", track, split);
}

std::vector<std::string_view> split_names() { return {"train", "validation", "val", "test"}; }

std::vector<RecordSplit> stored_splits(const Source& source, const RecordTable& table) {
  mp4::Mp4Bytes file(source);
  const std::vector<mp4::Track> tracks = read_outer_tracks(source, file);
  std::vector<RecordSplit> splits;
  for (const std::string_view split : split_names()) {
    if (split == "val") continue;  // its track is that of "validation"
    const mp4::Track* const track = mp4::find_track(tracks, track_of(mp4::kInputTrack, split));
    if (track == nullptr) continue;
    splits.push_back({std::string(split), records_of_track(file, *track, table.records)});
  }
  return splits;
}

std::vector<uint64_t> records_of_split(const Source& source, const RecordTable& table,
                                       std::string_view split) {
  if (split == "val") split = "validation";
  mp4::Mp4Bytes file(source);
  const std::vector<mp4::Track> tracks = read_outer_tracks(source, file);
  if (const auto* track = mp4::find_track(tracks, track_of(mp4::kInputTrack, split))) {
    return records_of_track(file, *track, table.records);
  }
  std::string stored;
  for (const std::string_view name : split_names()) {
    if (mp4::find_track(tracks, track_of(mp4::kInputTrack, name)) == nullptr) continue;
    stored += fmt::format("{}{}", stored.empty() ? "" : ", ", name);
  }
  return records_of_imagenet(source.uri(), table.size(), split, stored);
}

}  // namespace fuelrail::bzna
