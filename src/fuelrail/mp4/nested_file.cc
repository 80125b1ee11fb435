#include "fuelrail/mp4/nested_file.h"

#include <fmt/format.h>

#include "fuelrail/base/endian.h"

namespace fuelrail::mp4 {
namespace {

class RecordParser {
 public:
  RecordParser(Bytes record, const std::string& uri, uint64_t offset)
      : record_(record), file_(record, uri, offset), tracks_(read_tracks(file_)) {}

  NestedFile parse() {
    NestedFile result;
    result.input = still(find_track(tracks_, kInputTrack));
    result.thumb = still(find_track(tracks_, kThumbTrack));
    if (const Track* target = find_track(tracks_, kTargetTrack)) {
      const Bytes bytes = sample(*target);
      if (bytes.size() != kLabelBytes) {
        file_.refuse(target->samples, "has a label of the wrong length",
                     {.expected = fmt::format("{} bytes", kLabelBytes),
                      .found = fmt::to_string(bytes.size())});
      }
      result.label = label_in(bytes);
    }
    if (const Track* name = find_track(tracks_, kNameTrack)) {
      const Bytes bytes = sample(*name);
      if (bytes.size() > kMaxNameBytes) {
        file_.refuse(name->samples, "has a name that is too long",
                     {.expected = fmt::format("at most {} bytes", kMaxNameBytes),
                      .found = fmt::to_string(bytes.size())});
      }
      result.name = name_in(bytes);
    }
    return result;
  }

 private:
  SampleTable::Place place(const Track& track) {
    const SampleTable samples = read_samples(file_, track);
    if (samples.size() == 1) return samples[0];
    file_.refuse(track.samples, "does not have exactly one sample",
                 {.expected = "1 sample in each track of a record",
                  .found = fmt::to_string(samples.size())});
  }

  Bytes sample(const Track& track) {
    const SampleTable::Place at = place(track);
    return record_.subspan(at.offset, at.bytes);
  }

  std::optional<Still> still(const Track* track) {
    if (track == nullptr) return std::nullopt;
    const SampleTable::Place at = place(*track);
    return Still{.offset = at.offset,
                 .bytes = at.bytes,
                 .visible = track->visible,
                 .entry = read_video_entry(file_, *track)};
  }

  Bytes record_;
  Mp4Bytes file_;
  std::vector<Track> tracks_;
};

}  // namespace

NestedFile read_nested_file(Bytes record, const std::string& uri, uint64_t offset) {
  return RecordParser(record, uri, offset).parse();
}

bool can_be_record(Bytes file) {
  Mp4Bytes bytes(file, "", 0);
  BoxWalk boxes(bytes);
  bool is_first = true;
  int tables = 0;
  for (Mp4Box box; boxes.next(box); is_first = false) {
    const bool is_open = load_be<uint32_t>(file.data() + box.offset) == 0;
    if (is_open || (box.type == BoxType("ftyp")) != is_first) return false;
    if (box.type == BoxType("moov")) ++tables;
  }
  return tables == 1;
}

int64_t label_in(Bytes sample) { return load_le<int64_t>(sample.data()); }

std::string_view name_in(Bytes sample) {
  std::string_view name = as_text(sample);
  if (name.ends_with('\0')) name.remove_suffix(1);
  return name;
}

}  // namespace fuelrail::mp4
