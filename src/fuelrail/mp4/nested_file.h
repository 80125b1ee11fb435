// A record of a `.bzna` file: an MP4 file that contains an image as one or two H.265 stills, its
// label and its name. The layout is that of Benzina's documentation (benzina.readthedocs.io) and of
// its writer, pybenzinaconcat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/mp4/boxes.h"
#include "fuelrail/mp4/movie.h"

namespace fuelrail::mp4 {

// The names of tracks, of the whole file and of each record.
inline constexpr std::string_view kInputTrack = "bzna_input";
inline constexpr std::string_view kThumbTrack = "bzna_thumb";
inline constexpr std::string_view kTargetTrack = "bzna_target";
inline constexpr std::string_view kNameTrack = "bzna_fname";

inline constexpr uint64_t kLabelBytes = 8;  // of the sample of a target track
inline constexpr int64_t kNoLabel = -1;     // stands for the label of a record that has none
inline constexpr uint64_t kMaxNameBytes = 64 << 10;

// An image in a record. Offsets count from the beginning of the record.
struct Still {
  uint64_t offset = 0;  // of the bitstream
  uint64_t bytes = 0;
  Size visible{};  // the upper left part of the coded picture that is the image
  VideoEntry entry{};
};

struct NestedFile {
  std::optional<Still> input{};    // the image in full size
  std::optional<Still> thumb{};    // at most 512 x 512; may be the same bitstream as `input`
  std::optional<int64_t> label{};  // empty: the record has none
  std::string_view name{};         // the source file's name; empty: the record has none
};

// Parses a record. `uri` and `offset`: the record's file and place in it, for errors. Lifetime: the
// result refers to `record`. Errors: CorruptError, with the path and the offset of the box, for
// boxes that contradict the format, for a track without a sample or with more than one, and for a
// label that does not have 8 bytes; UnsupportedError for sample sizes in `stz2`.
NestedFile read_nested_file(Bytes record, const std::string& uri, uint64_t offset);

// Whether a file can be a record: its boxes have lengths of their own (a box of size 0 would extend
// over the records after it), the first and only the first is `ftyp`, and one is `moov`. Without
// this, a search (file_scan.h) would miss the record or the one after it. Errors: CorruptError for
// a box that is shorter than its header or longer than the file.
bool can_be_record(Bytes file);

// The label in a sample of a target track: int64, little-endian. Requires: 8 bytes.
int64_t label_in(Bytes sample);

// The name in a sample of a name track, without the NUL at its end.
std::string_view name_in(Bytes sample);

}  // namespace fuelrail::mp4
