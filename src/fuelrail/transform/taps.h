// One axis of a resampling: which input pixels an output pixel is made of, and with which weights.
// The arithmetic of Pillow's Resample.c (and of torch's interpolate without antialias), in double,
// operation by operation, so that boxes and weights are Pillow's to the bit.
#pragma once

#include <cstdint>
#include <vector>

#include "fuelrail/transform/geometry.h"

namespace fuelrail {

// Weights are whole numbers of 2^-22: Pillow's fixed point for 8-bit images.
inline constexpr int kWeightBits = 22;

// `input` pixels become `output` pixels.
struct Axis {
  int64_t input = 0;
  int64_t output = 0;
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;
  bool mirrored = false;  // the mirror image of resampling the mirrored axis
  // The part of the input that becomes the output, where it is not all; length 0: all.
  double begin = 0;
  double length = 0;
  bool copies() const { return input == output && length == 0; }
};

// Requires of a step with a region: not kNearest, and antialias.
Axis vertical_axis(const ResampleStep& step);
Axis horizontal_axis(const ResampleStep& step);

// Input pixels [begin, end).
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

// The input pixels that outputs [outputs.begin, outputs.end) are made of.
// Requires: 0 <= outputs.begin < outputs.end <= axis.output.
Span footprint(const Axis& axis, Span outputs);

// The taps of a run of outputs. Output i of the run has taps spans[i], ascending, and
// spans[i].size() weights at weights[i * stride], which sum to about 2^22 and are all below 2^23.
struct Taps {
  std::vector<Span> spans;
  std::vector<int32_t> weights;
  int64_t stride = 0;
  std::vector<double> exact;  // one output's weights before they are rounded; scratch
};

// Fills `taps`, keeping its memory. Requires: as footprint.
void compute_taps(const Axis& axis, Span outputs, Taps& taps);

}  // namespace fuelrail
