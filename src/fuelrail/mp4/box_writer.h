// Writes the boxes of an MP4 file (ISO/IEC 14496-12), large tables entry by entry.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/mp4/boxes.h"

namespace fuelrail::mp4 {

// Receives the bytes of a box in order, in pieces.
using Emit = std::function<void(Bytes piece)>;

// A box to be written: its own bytes, then a table, then the boxes inside it.
struct NewBox {
  BoxType type{};
  std::string body{};
  uint64_t entries = 0;      // of the table
  uint64_t entry_bytes = 0;  // 4 or 8, big-endian
  std::function<uint64_t(uint64_t i)> entry{};
  std::vector<NewBox> boxes{};

  // Of the whole box. A box of 4 GiB or more has a 64-bit length.
  uint64_t bytes() const;
  // Errors: those of `emit`.
  void write(const Emit& emit) const;
};

// The box `ftyp`: the file is an ISO media file, and a reader of `.bzna` files can read it.
NewBox file_type_box();

// The header of an `mdat` box with this many bytes of content. With `is_long`, the length has 64
// bits even if it is small, so that it can be written before it is known.
std::string data_header(uint64_t content_bytes, bool is_long);

// A track and the samples that it consists of. Requires: sides, the number of samples and their
// lengths fit the format, which has 16 bits for sides and 32 bits for the others.
struct NewTrack {
  uint32_t id = 0;        // from 1 on
  uint32_t flags = 0;     // 3: the track is played; 0: it is not
  std::string name{};     // of the handler
  BoxType handler{};      // "vide" or "meta"
  Size size{};            // of a video
  uint64_t duration = 0;  // in twentieths of a second
  uint64_t sample_duration = 0;
  std::vector<std::string> entries{};  // the whole boxes of its sample entries
  uint64_t samples = 0;
  std::function<uint64_t(uint64_t i)> bytes{};     // of sample i
  std::function<uint64_t(uint64_t i)> offset{};    // of sample i in the file
  std::function<uint32_t(uint64_t i)> entry_of{};  // its number in `entries`; default: always 0
};

// Times are in twentieths of a second, as the documentation of Benzina has them.
inline constexpr uint32_t kTimescale = 20;

// A `moov` box. Offsets have 64 bits (`co64`) in a track in which one of them needs more than 32.
NewBox movie_box(uint64_t duration, const std::vector<NewTrack>& tracks);

// The sample entry of data that is not played, with this MIME type ("mett").
std::string metadata_entry(std::string_view mime);

// The sample entry of H.265 stills, of this type ("hvc1" or "hev1"): the size of the coded picture,
// the decoder's parameters (the content of `hvcC`), and the visible size, which is the upper left
// part of the picture (`clap`); an empty visible size writes no `clap`.
std::string hevc_entry(BoxType type, Size coded, Bytes parameters, Size visible);

}  // namespace fuelrail::mp4
