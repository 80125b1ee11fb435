// The objects of a detection label, and what mirroring, padding and cropping do to them. All in
// float32, as MXNet computes it. Private to the module.
#pragma once

#include <span>
#include <vector>

#include "fuelrail/mxnet/det_options.h"

namespace fuelrail::mxnet {

// In fractions of an image's sides.
struct DetBox {
  float left = 0;
  float top = 0;
  float width = 0;
  float height = 0;

  float area() const { return width * height; }
};

// Of the part that two boxes have in common; 0 where there is none.
float common_area(const DetBox& a, const DetBox& b);

// What one crop sampler asks of a crop; a limit that is at its end (0 below, 1 above) asks nothing.
struct CropLimits {
  float min_overlap = 0;
  float max_overlap = 1;
  float min_sample_coverage = 0;
  float max_sample_coverage = 1;
  float min_object_coverage = 0;
  float max_object_coverage = 1;
};

// Keeps its memory between labels. Threads: one.
class DetLabel {
 public:
  // Objects without area are left out. Errors: CorruptError for a row that is no label: shorter
  // than 7 numbers, header or object widths that are no whole numbers from 2 or 5 on, numbers left
  // over.
  void read(std::span<const float> row);

  // The label as a row again.
  void write(std::vector<float>& row) const;

  size_t objects() const { return objects_.size(); }

  void mirror();

  // The label of an image that shows `box`, which lies around the image's own.
  void enlarge(const DetBox& box);

  // The label of the crop `box`: without the objects that `mode` takes away. A label without
  // objects takes every crop. Returns: false, having changed nothing, where no object is within the
  // limits or none stays.
  bool crop(const DetBox& box, const CropLimits& limits, CropEmitMode mode,
            float emit_overlap_thresh);

 private:
  struct Object {
    float id = 0;
    float left = 0;
    float top = 0;
    float right = 0;
    float bottom = 0;
    size_t extra = 0;  // where its further values begin in extras_

    DetBox box() const { return {left, top, right - left, bottom - top}; }
  };

  static Object seen_in(Object object, const DetBox& box);
  static bool within(const CropLimits& limits, const DetBox& crop, const DetBox& object);
  static bool stays(const Object& object, const DetBox& crop, CropEmitMode mode, float threshold);

  std::vector<float> header_;
  size_t extra_width_ = 0;
  std::vector<Object> objects_;
  std::vector<Object> kept_;
  std::vector<float> extras_;
};

}  // namespace fuelrail::mxnet
