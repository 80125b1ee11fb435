#include "fuelrail/mp4/movie.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fuelrail/base/endian.h"

namespace fuelrail::mp4 {
namespace {

constexpr uint64_t kPieceBytes = 1 << 20;   // of a table, read at once
constexpr uint64_t kFullBytes = 4;          // version and flags, before the content of many boxes
constexpr uint64_t kVisualEntryBytes = 78;  // of a visual sample entry, before its boxes

// The version of a box that has one.
uint8_t version_of(Mp4Bytes& file, const Mp4Box& box) {
  return static_cast<uint8_t>(file.body(box, 0, kFullBytes)[0]);
}

// A table of `count` entries of `entry_bytes`, which fills the rest of a box after `begin` bytes.
void check_fills(const Mp4Bytes& file, const Mp4Box& box, uint64_t begin, uint64_t count,
                 uint64_t entry_bytes) {
  const uint64_t room = box.body_bytes() - begin;
  if (room == count * entry_bytes) return;  // both below 2^36
  file.refuse(box, "does not have the length that its number of entries requires",
              {.expected = fmt::format("{} bytes for {} entries", count * entry_bytes, count),
               .found = fmt::to_string(room)});
}

// Calls `take` with pieces of whole entries of the table.
template <typename Take>
void read_table(Mp4Bytes& file, const Mp4Box& box, uint64_t begin, uint64_t entry_bytes,
                const Take& take) {
  for (uint64_t at = box.body + begin; at < box.end;) {
    const uint64_t piece = std::min(box.end - at, kPieceBytes / entry_bytes * entry_bytes);
    take(file.at(at, piece));
    at += piece;
  }
}

Size read_visible(Mp4Bytes& file, const Mp4Box& header) {
  const uint64_t at = version_of(file, header) == 1 ? 88 : 76;
  const Bytes sides = file.body(header, at, 8);
  return {.height = load_be<uint16_t>(sides.data() + 4), .width = load_be<uint16_t>(sides.data())};
}

// The handler's type and the name that follows it.
void read_handler(Mp4Bytes& file, const Mp4Box& box, Track& track) {
  constexpr uint64_t kNameAt = 24;
  constexpr uint64_t kMaxName = 256;
  const Bytes content =
      file.body(box, 0, std::clamp(box.body_bytes(), kNameAt, kNameAt + kMaxName));
  track.handler = BoxType(load_be<uint32_t>(content.data() + 8));
  track.name = as_text(content.subspan(kNameAt));
  if (track.name.ends_with('\0')) track.name.pop_back();
}

Track read_track(Mp4Bytes& file, const Mp4Box& box) {
  Track track;
  track.visible = read_visible(file, child(file, box, BoxType("tkhd")));
  const Mp4Box media = child(file, box, BoxType("mdia"));
  read_handler(file, child(file, media, BoxType("hdlr")), track);
  const Mp4Box information = child(file, media, BoxType("minf"));
  track.samples = child(file, information, BoxType("stbl"));
  track.samples.parent = nullptr;
  track.samples.within = "moov/trak/mdia/minf";
  return track;
}

}  // namespace

SampleTable::SampleTable(const std::vector<Place>& samples) : samples_(samples.size()) {
  bytes_.reserve(samples.size());
  offsets_.reserve(samples.size());
  for (const Place& sample : samples) {
    bytes_.push_back(static_cast<uint32_t>(sample.bytes));
    offsets_.push_back(sample.offset);
  }
}

SampleTable::Place SampleTable::operator[](uint64_t i) const {
  if (!bytes_.empty()) return {offsets_[i], bytes_[i]};
  const auto after =
      std::upper_bound(runs_.begin(), runs_.end(), i,
                       [](uint64_t sample, const Run& run) { return sample < run.first_sample; });
  const Run& run = *(after - 1);
  const uint64_t in_run = i - run.first_sample;
  const uint64_t chunk = run.first_chunk + in_run / run.samples_per_chunk;
  return {offsets_[chunk] + in_run % run.samples_per_chunk * equal_bytes_, equal_bytes_};
}

// Reads the boxes stsz, stsc, and stco or co64, in this order.
class SampleTableReader {
 public:
  SampleTableReader(Mp4Bytes& file, const Mp4Box& table) : file_(file), table_(table) {}

  SampleTable read() {
    read_sizes();
    check_total();
    read_chunk_offsets();
    read_runs();
    if (!result_.bytes_.empty()) place_each_sample();
    check_inside();
    return std::move(result_);
  }

 private:
  void read_sizes() {
    const auto found = find_child(file_, table_, BoxType("stsz"));
    if (!found && find_child(file_, table_, BoxType("stz2"))) {
      ErrorDetail detail = file_.place(table_);
      detail.expected = "a table of 32-bit sizes (stsz)";
      throw UnsupportedError("compact tables of sample sizes (stz2) are not supported",
                             std::move(detail));
    }
    const Mp4Box box = found ? *found : child(file_, table_, BoxType("stsz"));
    const Bytes head = file_.body(box, kFullBytes, 8);
    result_.equal_bytes_ = load_be<uint32_t>(head.data());
    result_.samples_ = load_be<uint32_t>(head.data() + 4);
    constexpr uint64_t kTableAt = kFullBytes + 8;
    if (result_.equal_bytes_ != 0) return;
    check_fills(file_, box, kTableAt, result_.samples_, 4);
    result_.bytes_.reserve(result_.samples_);
    read_table(file_, box, kTableAt, 4, [&](Bytes piece) {
      for (size_t at = 0; at < piece.size(); at += 4) {
        result_.bytes_.push_back(load_be<uint32_t>(piece.data() + at));
      }
    });
  }

  // Samples of a track do not overlap, so a small file cannot have a huge number of them.
  void check_total() const {
    uint64_t bytes = result_.samples_ * result_.equal_bytes_;  // both below 2^32
    for (const uint32_t sample : result_.bytes_) bytes += sample;
    if (bytes <= file_.size()) return;
    file_.refuse(table_, "has samples that are longer in total than the file",
                 {.expected = fmt::format("at most {} bytes", file_.size()),
                  .found = fmt::to_string(bytes)});
  }

  void read_chunk_offsets() {
    constexpr uint64_t kTableAt = kFullBytes + 4;
    const auto large = find_child(file_, table_, BoxType("co64"));
    const Mp4Box box = large ? *large : child(file_, table_, BoxType("stco"));
    const uint64_t entry = large ? 8 : 4;
    const uint64_t chunks = load_be<uint32_t>(file_.body(box, kFullBytes, 4).data());
    check_fills(file_, box, kTableAt, chunks, entry);
    result_.offsets_.reserve(chunks);
    read_table(file_, box, kTableAt, entry, [&](Bytes piece) {
      for (size_t at = 0; at < piece.size(); at += entry) {
        result_.offsets_.push_back(large ? load_be<uint64_t>(piece.data() + at)
                                         : load_be<uint32_t>(piece.data() + at));
      }
    });
  }

  void read_runs() {
    constexpr uint64_t kTableAt = kFullBytes + 4;
    constexpr uint64_t kEntryBytes = 12;  // first chunk, samples per chunk, description
    const Mp4Box box = child(file_, table_, BoxType("stsc"));
    const uint64_t runs = load_be<uint32_t>(file_.body(box, kFullBytes, 4).data());
    check_fills(file_, box, kTableAt, runs, kEntryBytes);
    const uint64_t chunks = result_.offsets_.size();
    uint64_t samples = 0;
    result_.runs_.reserve(runs);
    read_table(file_, box, kTableAt, kEntryBytes, [&](Bytes piece) {
      for (size_t at = 0; at < piece.size(); at += kEntryBytes) {
        const uint64_t first = load_be<uint32_t>(piece.data() + at);
        const uint64_t each = load_be<uint32_t>(piece.data() + at + 4);
        const uint64_t least = result_.runs_.empty() ? 1 : result_.runs_.back().first_chunk + 2;
        const bool begins = result_.runs_.empty() ? first == 1 : first >= least;
        if (!begins || first > chunks || each == 0) {
          const uint64_t most = result_.runs_.empty() ? least : chunks;
          file_.refuse(
              box, "has an invalid entry",
              {.expected = least > most ? "no further entry"
                                        : fmt::format("a first chunk from {} to {}, and at least 1 "
                                                      "sample in each chunk",
                                                      least, most),
               .found = fmt::format("chunk {} and {} samples", first, each)});
        }
        samples += counted(first - 1);
        result_.runs_.push_back({first - 1, each, samples});
      }
    });
    samples += counted(chunks);
    if (samples == result_.samples_) return;
    file_.refuse(box, "contradicts the number of samples",
                 {.expected = fmt::format("{} samples, as in stsz", result_.samples_),
                  .found = fmt::format("{} samples in {} chunks", samples, chunks)});
  }

  // The samples of the last run, if it ends before chunk `end`. Below 2^64: 2^32 chunks of at most
  // 2^32 samples.
  uint64_t counted(uint64_t end) const {
    if (result_.runs_.empty()) return 0;
    const SampleTable::Run& last = result_.runs_.back();
    return (end - last.first_chunk) * last.samples_per_chunk;
  }

  // The chunk after the last one of a run.
  uint64_t end_of(size_t run) const {
    return run + 1 < result_.runs_.size() ? result_.runs_[run + 1].first_chunk
                                          : result_.offsets_.size();
  }

  void place_each_sample() {
    std::vector<uint64_t> offsets(result_.samples_);
    for (size_t run = 0; run < result_.runs_.size(); ++run) {
      const SampleTable::Run& in = result_.runs_[run];
      const uint64_t end = end_of(run);
      uint64_t sample = in.first_sample;
      for (uint64_t chunk = in.first_chunk; chunk < end; ++chunk) {
        uint64_t at = result_.offsets_[chunk];
        for (uint64_t i = 0; i < in.samples_per_chunk; ++i, ++sample) {
          offsets[sample] = at;
          at += std::min(uint64_t{result_.bytes_[sample]}, UINT64_MAX - at);
        }
      }
    }
    result_.offsets_ = std::move(offsets);
    result_.runs_ = {};
  }

  void check_inside() const {
    if (!result_.bytes_.empty()) {
      for (uint64_t i = 0; i < result_.samples_; ++i) {
        check_inside(i, result_.offsets_[i], result_.bytes_[i]);
      }
      return;
    }
    for (size_t run = 0; run < result_.runs_.size(); ++run) {
      const SampleTable::Run& in = result_.runs_[run];
      const uint64_t end = end_of(run);
      for (uint64_t chunk = in.first_chunk; chunk < end; ++chunk) {
        // Below 2^64: both factors are below 2^32.
        check_inside(in.first_sample + (chunk - in.first_chunk) * in.samples_per_chunk,
                     result_.offsets_[chunk], in.samples_per_chunk * result_.equal_bytes_);
      }
    }
  }

  void check_inside(uint64_t sample, uint64_t offset, uint64_t bytes) const {
    if (offset <= file_.size() && bytes <= file_.size() - offset) return;
    file_.refuse(table_, "has a sample outside the file",
                 {.expected = fmt::format("samples that end at or before byte {}", file_.size()),
                  .found = fmt::format("{} bytes at offset {}, beginning with sample {}", bytes,
                                       offset, sample)});
  }

  Mp4Bytes& file_;
  const Mp4Box& table_;
  SampleTable result_;
};

std::vector<Track> read_tracks(Mp4Bytes& file) {
  std::vector<Track> tracks;
  BoxWalk boxes(file);
  for (Mp4Box box; boxes.next(box);) {
    if (box.type != BoxType("moov")) continue;
    BoxWalk inner(file, box);
    for (Mp4Box part; inner.next(part);) {
      if (part.type == BoxType("trak")) tracks.push_back(read_track(file, part));
    }
    break;
  }
  return tracks;
}

const Track* find_track(const std::vector<Track>& tracks, std::string_view name) {
  const auto found = std::find_if(tracks.begin(), tracks.end(),
                                  [&](const Track& track) { return track.name == name; });
  return found == tracks.end() ? nullptr : &*found;
}

SampleTable read_samples(Mp4Bytes& file, const Track& track) {
  return SampleTableReader(file, track.samples).read();
}

namespace {

// Calls use(entry) for the first entry of the track's descriptions.
template <typename Use>
auto with_first_entry(Mp4Bytes& file, const Track& track, const Use& use) {
  const Mp4Box descriptions = child(file, track.samples, BoxType("stsd"));
  BoxWalk entries(file, descriptions, kFullBytes + 4);
  Mp4Box entry;
  if (!entries.next(entry)) file.refuse(descriptions, "has no entry", {});
  return use(entry);
}

VideoEntry video_entry(Mp4Bytes& file, const Mp4Box& entry) {
  VideoEntry video{.type = entry.type};
  const Bytes sides = file.body(entry, 24, 4);
  video.coded = {.height = load_be<uint16_t>(sides.data() + 2),
                 .width = load_be<uint16_t>(sides.data())};
  BoxWalk parts(file, entry, kVisualEntryBytes);
  for (Mp4Box part; parts.next(part);) {
    if (part.type != BoxType("hvcC") && part.type != BoxType("avcC")) continue;
    video.parameters = part.body;
    video.parameters_bytes = part.body_bytes();
    break;
  }
  return video;
}

}  // namespace

BoxType read_entry_type(Mp4Bytes& file, const Track& track) {
  return with_first_entry(file, track, [](const Mp4Box& entry) { return entry.type; });
}

VideoEntry read_video_entry(Mp4Bytes& file, const Track& track) {
  return with_first_entry(file, track,
                          [&](const Mp4Box& entry) { return video_entry(file, entry); });
}

}  // namespace fuelrail::mp4
