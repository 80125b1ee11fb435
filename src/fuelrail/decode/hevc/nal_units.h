// The NAL units of a still in an MP4 file: its parameter sets, which the container stores once, and
// its slices (ISO/IEC 14496-15, sections 5 and 8).
#pragma once

#include <vector>

#include "fuelrail/base/bytes.h"

namespace fuelrail::hevc {

// The content of `hvcC` or `avcC`. The units are parts of the bytes that it was read from.
struct DecoderConfiguration {
  size_t length_bytes = 4;   // of the length before each unit of a sample: 1, 2 or 4
  std::vector<Bytes> units;  // parameter sets, in order
};

// Lifetime: `box` outlives the result. Errors: DecodeError for a damaged box.
DecoderConfiguration read_hvcc(Bytes box);
DecoderConfiguration read_avcc(Bytes box);

// Appends the units of a sample that a decoder needs: slices, and parameter sets. Others, such as
// SEI messages and delimiters, are left out. Lifetime: `sample` outlives the result. Errors:
// TruncatedError for a unit that extends beyond the sample; DecodeError for an empty unit, for an
// invalid header of a slice, and for a sample without slices or without its first; UnsupportedError
// for more than one picture, and for a picture that needs others.
void append_hevc_units(Bytes sample, size_t length_bytes, std::vector<Bytes>& units);
void append_h264_units(Bytes sample, size_t length_bytes, std::vector<Bytes>& units);

// Sorts the parameter sets of an H.265 picture by their type, in front of the slices, and removes
// repetitions: an SPS after its PPS would make a decoder drop the PPS.
void sort_sets(std::vector<Bytes>& units);

// Errors: DecodeError for a unit with the bytes of a start code, after which a decoder would see
// another unit, and for more than 1 GiB in total.
void check_units(const std::vector<Bytes>& units);

// Returns the SPS among the units of an H.265 picture. Errors: DecodeError if the units lack an SPS
// or a PPS, or have different SPSs.
Bytes find_sps(const std::vector<Bytes>& units);

}  // namespace fuelrail::hevc
