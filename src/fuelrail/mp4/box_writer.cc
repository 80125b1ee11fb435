#include "fuelrail/mp4/box_writer.h"

namespace fuelrail::mp4 {
namespace {

constexpr uint64_t kEntriesAtOnce = 8192;
constexpr uint32_t kFixedOne = 0x10000;     // 1.0 as 16.16
constexpr uint32_t kUndetermined = 0x55c4;  // the language "und"
constexpr uint32_t kResolution = 72;        // dots per inch

std::string big_endian(uint64_t value, size_t bytes) {
  std::string text(bytes, '\0');
  for (size_t i = bytes; i-- > 0; value >>= 8) text[i] = static_cast<char>(value & 0xff);
  return text;
}

std::string be16(uint64_t value) { return big_endian(value, 2); }
std::string be32(uint64_t value) { return big_endian(value, 4); }
std::string be64(uint64_t value) { return big_endian(value, 8); }

// The body of a box that begins with a version and flags.
std::string full(uint8_t version, uint32_t flags, std::string_view content) {
  return be32(uint32_t{version} << 24 | flags) + std::string(content);
}

std::string zeros(size_t bytes) { return std::string(bytes, '\0'); }

// The times of creation and of the last change, which are not stored.
std::string no_times() { return zeros(16); }

// The rows of the identity matrix, whose last number is 2.30.
std::string unity_matrix() {
  return be32(kFixedOne) + zeros(12) + be32(kFixedOne) + zeros(12) + be32(0x40000000);
}

std::string text_of(const NewBox& box) {
  std::string text;
  box.write([&](Bytes piece) { text += as_text(piece); });
  return text;
}

uint64_t content_bytes(const NewBox& box) {
  uint64_t bytes = box.body.size() + box.entries * box.entry_bytes;
  for (const NewBox& inner : box.boxes) bytes += inner.bytes();
  return bytes;
}

NewBox movie_header(uint64_t duration, uint64_t tracks) {
  return {.type = BoxType("mvhd"),
          .body = full(1, 0,
                       no_times() + be32(kTimescale) + be64(duration) + be32(kFixedOne) +
                           be16(0) /* volume */ + zeros(10) + unity_matrix() + zeros(24) +
                           be32(tracks + 1))};
}

NewBox track_header(const NewTrack& track) {
  return {.type = BoxType("tkhd"),
          .body = full(1, track.flags,
                       no_times() + be32(track.id) + zeros(4) + be64(track.duration) + zeros(16) +
                           unity_matrix() + be32(static_cast<uint64_t>(track.size.width) << 16) +
                           be32(static_cast<uint64_t>(track.size.height) << 16))};
}

NewBox media_header(const NewTrack& track) {
  return {.type = BoxType("mdhd"),
          .body = full(1, 0,
                       no_times() + be32(kTimescale) + be64(track.duration) + be16(kUndetermined) +
                           zeros(2))};
}

NewBox handler(const NewTrack& track) {
  return {.type = BoxType("hdlr"),
          .body = full(0, 0,
                       zeros(4) + be32(track.handler.value()) + zeros(12) + track.name + zeros(1))};
}

// All data are in this file.
NewBox data_information() {
  const NewBox here{.type = BoxType("url "), .body = full(0, 1, "")};
  return {.type = BoxType("dinf"),
          .boxes = {{.type = BoxType("dref"), .body = full(0, 0, be32(1)), .boxes = {here}}}};
}

// The table of chunks, of one sample each: a run of chunks has the same sample entry.
NewBox chunk_runs(const NewTrack& track) {
  const auto entry_of = [&](uint64_t i) {
    return track.entry_of ? uint64_t{track.entry_of(i)} : uint64_t{0};
  };
  // Of each run: the first chunk, 1 sample, the entry; from 1 on. Copies of the box share them.
  const auto numbers = std::make_shared<std::vector<uint64_t>>();
  for (uint64_t i = 0; i < track.samples; ++i) {
    if (i > 0 && (!track.entry_of || entry_of(i) == entry_of(i - 1))) continue;
    numbers->insert(numbers->end(), {i + 1, 1, entry_of(i) + 1});
  }
  return {.type = BoxType("stsc"),
          .body = full(0, 0, be32(numbers->size() / 3)),
          .entries = numbers->size(),
          .entry_bytes = 4,
          .entry = [numbers](uint64_t i) { return (*numbers)[i]; }};
}

NewBox descriptions(const NewTrack& track) {
  std::string body = be32(track.entries.size());
  for (const std::string& entry : track.entries) body += entry;
  return {.type = BoxType("stsd"), .body = full(0, 0, body)};
}

NewBox sample_tables(const NewTrack& track) {
  const uint64_t n = track.samples;
  const std::string one_run = n == 0 ? be32(0) : be32(1) + be32(n) + be32(track.sample_duration);
  bool large = false;
  for (uint64_t i = 0; i < n && !large; ++i) large = track.offset(i) > UINT32_MAX;
  return {.type = BoxType("stbl"),
          .boxes = {descriptions(track),
                    {.type = BoxType("stts"), .body = full(0, 0, one_run)},
                    {.type = BoxType("stsz"),
                     .body = full(0, 0, be32(0) + be32(n)),
                     .entries = n,
                     .entry_bytes = 4,
                     .entry = track.bytes},
                    chunk_runs(track),
                    {.type = large ? BoxType("co64") : BoxType("stco"),
                     .body = full(0, 0, be32(n)),
                     .entries = n,
                     .entry_bytes = large ? uint64_t{8} : uint64_t{4},
                     .entry = track.offset}}};
}

NewBox track_box(const NewTrack& track) {
  const bool video = track.handler == BoxType("vide");
  const NewBox header = video ? NewBox{.type = BoxType("vmhd"), .body = full(0, 1, zeros(8))}
                              : NewBox{.type = BoxType("nmhd"), .body = full(0, 0, "")};
  const NewBox information{.type = BoxType("minf"),
                           .boxes = {header, data_information(), sample_tables(track)}};
  const NewBox media{.type = BoxType("mdia"),
                     .boxes = {media_header(track), handler(track), information}};
  return {.type = BoxType("trak"), .boxes = {track_header(track), media}};
}

}  // namespace

NewBox file_type_box() { return {.type = BoxType("ftyp"), .body = "isom" + be32(0) + "bznaisom"}; }

std::string data_header(uint64_t content_bytes, bool is_long) {
  const std::string type = be32(BoxType("mdat").value());
  if (is_long || kHeaderBytes + content_bytes > UINT32_MAX) {
    return be32(1) + type + be64(kLongHeaderBytes + content_bytes);
  }
  return be32(kHeaderBytes + content_bytes) + type;
}

uint64_t NewBox::bytes() const {
  const uint64_t content = content_bytes(*this);
  return content + (content + kHeaderBytes > UINT32_MAX ? kLongHeaderBytes : kHeaderBytes);
}

void NewBox::write(const Emit& emit) const {
  const uint64_t all = bytes();
  const bool is_long = all > UINT32_MAX;
  std::string piece = be32(is_long ? 1 : all) + be32(type.value());
  if (is_long) piece += be64(all);
  piece += body;
  for (uint64_t i = 0; i < entries; ++i) {
    if (i % kEntriesAtOnce == 0) {
      emit(as_bytes(piece));
      piece.clear();
    }
    piece += big_endian(entry(i), entry_bytes);
  }
  emit(as_bytes(piece));
  for (const NewBox& box : boxes) box.write(emit);
}

NewBox movie_box(uint64_t duration, const std::vector<NewTrack>& tracks) {
  NewBox movie{.type = BoxType("moov"), .boxes = {movie_header(duration, tracks.size())}};
  for (const NewTrack& track : tracks) movie.boxes.push_back(track_box(track));
  return movie;
}

std::string metadata_entry(std::string_view mime) {
  const std::string encoding = zeros(1);  // none
  return text_of({.type = BoxType("mett"),
                  .body = zeros(6) + be16(1) + encoding + std::string(mime) + zeros(1)});
}

std::string hevc_entry(BoxType type, Size coded, Bytes parameters, Size visible) {
  const auto height = static_cast<uint64_t>(coded.height);
  const auto width = static_cast<uint64_t>(coded.width);
  const std::string resolution = be32(kResolution << 16);
  const std::string frames_per_sample = be16(1);
  const std::string no_name = zeros(32);
  const std::string depth = be16(0x18);
  const std::string no_colour_table = be16(UINT16_MAX);
  NewBox entry{.type = type,
               .body = zeros(6) + be16(1) + zeros(16) + be16(width) + be16(height) + resolution +
                       resolution + zeros(4) + frames_per_sample + no_name + depth +
                       no_colour_table,
               .boxes = {{.type = BoxType("hvcC"), .body = std::string(as_text(parameters))}}};
  if (visible != Size{}) {
    // Fractions: width, height, and the centre's distance from that of the picture.
    const auto shift = [](int64_t part, int64_t whole) {
      return be32(static_cast<uint64_t>(part - whole) & UINT32_MAX) + be32(2);
    };
    entry.boxes.push_back({.type = BoxType("clap"),
                           .body = be32(static_cast<uint64_t>(visible.width)) + be32(1) +
                                   be32(static_cast<uint64_t>(visible.height)) + be32(1) +
                                   shift(visible.width, coded.width) +
                                   shift(visible.height, coded.height)});
  }
  return text_of(entry);
}

}  // namespace fuelrail::mp4
