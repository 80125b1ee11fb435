// One axis of a resampling: the input pixels and weights of each output pixel. Repeats the
// arithmetic of Pillow's Resample.c (and of torch's interpolate without antialias) in double,
// operation by operation, so that boxes and weights equal Pillow's bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/transform/geometry.h"

namespace fuelrail {

// Weights are integers in units of 2^-22: Pillow's fixed point for 8-bit images.
inline constexpr int kWeightBits = 22;

// `input` pixels become `output` pixels.
struct Axis {
  int64_t input = 0;
  int64_t output = 0;
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
  bool mirrored = false;  // resample the mirrored axis, and mirror the result
  // The part of the input that becomes the output; length 0: all of it.
  double begin = 0;
  double length = 0;
  bool copies() const { return input == output && length == 0; }
};

Axis vertical_axis(const ResampleStep& step);
Axis horizontal_axis(const ResampleStep& step);

// Input pixels [begin, end).
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

// The input pixels from which outputs [outputs.begin, outputs.end) are computed.
// Requires: 0 <= outputs.begin < outputs.end <= axis.output.
Span footprint(const Axis& axis, Span outputs);

// The taps of a run of outputs. Output i of the run has the taps spans[i], in ascending order, and
// spans[i].size() weights at weights[i * stride]. The weights of an output sum to about 2^22, and
// each is below 2^23.
struct Taps {
  std::vector<Span> spans;
  std::vector<int32_t> weights;
  int64_t stride = 0;
  std::vector<double> exact;  // scratch: one output's weights before rounding
};

// Fills `taps`, reusing its memory. Requires: as for footprint.
void compute_taps(const Axis& axis, Span outputs, Taps& taps);

// The taps of a run of outputs with weights in double, which sum to 1. Output i of the run has
// spans[i].size() weights at weights[i * stride].
struct ExactTaps {
  std::vector<Span> spans;
  std::vector<double> weights;
  int64_t stride = 0;
};

// As above. Requires: !takes_nearest(axis.interpolation).
void compute_taps(const Axis& axis, Span outputs, ExactTaps& taps);

// Fills `places` with the place in [0, length) that each place of `window` shows; -1: a constant
// border. Returns: the places that are shown, from the first to the last; size 0 or less: none.
Span compute_places(Span window, int64_t length, PaddingMode mode, std::vector<int64_t>& places);

}  // namespace fuelrail
