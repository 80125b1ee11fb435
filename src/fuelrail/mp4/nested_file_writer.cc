#include "fuelrail/mp4/nested_file_writer.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/mp4/box_writer.h"
#include "fuelrail/mp4/nested_file.h"

namespace fuelrail::mp4 {
namespace {

constexpr uint32_t kPlayed = 3;  // flags of a track
constexpr uint64_t kMaxDataBytes = uint64_t{2} << 30;
constexpr int64_t kMaxSide = UINT16_MAX;

void check_sides(Size coded) {
  if (coded.height <= kMaxSide && coded.width <= kMaxSide) return;
  throw InvalidArgumentError(
      "the picture is too large for a `.bzna` file",
      {.expected = fmt::format("at most {} pixels per side", kMaxSide),
       .found = fmt::format("{} x {} (height x width)", coded.height, coded.width)});
}

void check_name(std::string_view name) {
  if (name.size() < kMaxNameBytes) return;
  throw InvalidArgumentError("the name is too long for a `.bzna` file",
                             {.expected = fmt::format("fewer than {} bytes", kMaxNameBytes),
                              .found = fmt::to_string(name.size())});
}

bool same(Bytes a, Bytes b) { return a.data() == b.data() && a.size() == b.size(); }

class RecordWriter {
 public:
  explicit RecordWriter(std::vector<std::byte>& out) : out_(out) {}

  void write(const NewRecord& record) {
    check_sides(record.input.coded);
    if (record.thumb) check_sides(record.thumb->coded);
    check_name(record.name);
    const bool shared = record.thumb && same(record.thumb->bitstream, record.input.bitstream);
    std::array<std::byte, 8> label{};
    if (record.label) store_le(label.data(), *record.label);
    const std::string name = std::string(record.name) + '\0';
    const uint64_t data = record.input.bitstream.size() +
                          (record.thumb && !shared ? record.thumb->bitstream.size() : 0) +
                          (record.label ? label.size() : 0) +
                          (record.name.empty() ? 0 : name.size());
    const uint64_t parameters =
        record.input.parameters.size() + (record.thumb ? record.thumb->parameters.size() : 0);
    if (data + parameters > kMaxDataBytes) {
      throw InvalidArgumentError("the record's data are too long for a `.bzna` file",
                                 {.expected = fmt::format("at most {} bytes", kMaxDataBytes),
                                  .found = fmt::to_string(data + parameters)});
    }
    out_.clear();
    file_type_box().write([&](Bytes piece) { append_bytes(out_, piece); });
    append_bytes(out_, as_bytes(data_header(data, false)));

    const uint64_t input = add(record.input.bitstream);
    add_video(kInputTrack, 0, record.input, input);
    if (record.thumb) {
      add_video(kThumbTrack, kPlayed, *record.thumb, shared ? input : add(record.thumb->bitstream));
    }
    if (record.label) {
      add_data(kTargetTrack, 0, "application/octet-stream", add(label), label.size());
    }
    if (!record.name.empty()) {
      add_data(kNameTrack, kPlayed, "text/plain", add(as_bytes(name)), name.size());
    }
    movie_box(kTimescale, tracks_).write([&](Bytes piece) { append_bytes(out_, piece); });
  }

 private:
  // Returns the offset.
  uint64_t add(Bytes sample) {
    const uint64_t at = out_.size();
    append_bytes(out_, sample);
    return at;
  }

  NewTrack& add_track(std::string_view name, uint32_t flags, uint64_t offset, uint64_t bytes) {
    tracks_.push_back({.id = static_cast<uint32_t>(tracks_.size() + 1),
                       .flags = flags,
                       .name = std::string(name),
                       .duration = kTimescale,
                       .sample_duration = kTimescale,
                       .samples = 1,
                       .bytes = [bytes](uint64_t) { return bytes; },
                       .offset = [offset](uint64_t) { return offset; }});
    return tracks_.back();
  }

  void add_video(std::string_view name, uint32_t flags, const NewStill& still, uint64_t offset) {
    NewTrack& track = add_track(name, flags, offset, still.bitstream.size());
    track.handler = BoxType("vide");
    track.size = still.visible;
    track.entries = {hevc_entry(still.type, still.coded, still.parameters, still.visible)};
  }

  void add_data(std::string_view name, uint32_t flags, std::string_view mime, uint64_t offset,
                uint64_t bytes) {
    NewTrack& track = add_track(name, flags, offset, bytes);
    track.handler = BoxType("meta");
    track.entries = {metadata_entry(mime)};
  }

  std::vector<std::byte>& out_;
  std::vector<NewTrack> tracks_;
};

}  // namespace

void write_nested_file(const NewRecord& record, std::vector<std::byte>& out) {
  RecordWriter(out).write(record);
}

}  // namespace fuelrail::mp4
