// The tracks of an MP4 file, with the location of each sample and the configuration of a video's
// decoder (ISO/IEC 14496-12, chapter 8; ISO/IEC 14496-15 for `hvcC` and `avcC`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/mp4/boxes.h"

namespace fuelrail::mp4 {

// The location of each sample of a track. Immutable. Memory: at most three times the bytes of the
// tables in the file.
class SampleTable {
 public:
  struct Place {
    uint64_t offset = 0;  // in the file
    uint64_t bytes = 0;
  };

  SampleTable() = default;
  // Requires: every sample has fewer than 2^32 bytes.
  explicit SampleTable(const std::vector<Place>& samples);

  uint64_t size() const { return samples_; }
  // Requires: i < size().
  Place operator[](uint64_t i) const;

 private:
  friend class SampleTableReader;

  // From the first chunk of a run on, each chunk has the same number of samples.
  struct Run {
    uint64_t first_chunk = 0;
    uint64_t samples_per_chunk = 0;
    uint64_t first_sample = 0;
  };

  uint64_t samples_ = 0;
  uint64_t equal_bytes_ = 0;       // the size of every sample, if `bytes_` is empty
  std::vector<uint32_t> bytes_;    // of each sample
  std::vector<uint64_t> offsets_;  // of each sample; if all are equally long, of each chunk
  std::vector<Run> runs_;          // of chunks, if all samples are equally long
};

// How a sample of a video track is encoded.
struct VideoEntry {
  BoxType type{};           // "hvc1", "hev1", "avc1", or that of another format
  Size coded{};             // of the coded picture, as the entry states it
  uint64_t parameters = 0;  // offset of the content of `hvcC` or `avcC`; 0: there is neither
  uint64_t parameters_bytes = 0;
};

struct Track {
  std::string name{};  // of its handler, without the NUL at its end: "bzna_input"
  BoxType handler{};   // "vide", "meta"
  Size visible{};      // the whole part of the track's width and height
  Mp4Box samples{};    // the `stbl` box; its parent is null
};

// The tracks of a file, in order; none if it has no `moov` box. Errors: CorruptError, with the path
// and the offset of the box; those of the source.
std::vector<Track> read_tracks(Mp4Bytes& file);

// Returns the first track with this name, or null. Lifetime: that of `tracks`.
const Track* find_track(const std::vector<Track>& tracks, std::string_view name);

// Reads the tables of a track. Errors: CorruptError for tables whose counts contradict each other
// or their length, and for samples outside the file; UnsupportedError for a table of sizes of less
// than 32 bits (`stz2`); those of the source.
SampleTable read_samples(Mp4Bytes& file, const Track& track);

// The type of the first entry of the track's descriptions: "hvc1", "mett". Errors: as for
// read_video_entry.
BoxType read_entry_type(Mp4Bytes& file, const Track& track);

// The first entry of the track's descriptions. Errors: CorruptError for a track without
// descriptions and for one that is too short; those of the source.
VideoEntry read_video_entry(Mp4Bytes& file, const Track& track);

}  // namespace fuelrail::mp4
