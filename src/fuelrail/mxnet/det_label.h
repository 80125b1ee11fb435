// The objects of a detection label, and how mirroring, padding and cropping change them. All
// arithmetic is float32, as in MXNet. Private to the module.
#pragma once

#include <span>
#include <vector>

#include "fuelrail/mxnet/det_options.h"

namespace fuelrail::mxnet {

// A box, in fractions of an image's sides.
struct DetBox {
  float left = 0;
  float top = 0;
  float width = 0;
  float height = 0;

  float area() const { return width * height; }
};

// The area of the intersection of two boxes; 0 if they do not intersect.
float common_area(const DetBox& a, const DetBox& b);

// The limits of one crop sampler. A minimum of 0 with a maximum of 1, as by default, limits
// nothing.
struct CropLimits {
  float min_overlap = 0;
  float max_overlap = 1;
  float min_sample_coverage = 0;
  float max_sample_coverage = 1;
  float min_object_coverage = 0;
  float max_object_coverage = 1;
};

// Reuses its memory between labels. Threads: one at a time.
class DetLabel {
 public:
  // Reads the label in `row` and skips objects without area. Errors: those of check_det_label
  // (det_augmenter.h).
  void read(std::span<const float> row);

  // Replaces `row` with the label.
  void write(std::vector<float>& row) const;

  size_t objects() const { return objects_.size(); }

  void mirror();

  // Changes the label to that of an enlarged image. `box`: the extent of the enlarged image, in
  // fractions of the present image's sides.
  void enlarge(const DetBox& box);

  // Changes the label to that of the crop `box`, with only the objects that `mode` keeps. If no
  // object is within the limits, or the crop would keep no object, returns false and leaves the
  // label unchanged. A label without objects accepts every crop.
  bool crop(const DetBox& box, const CropLimits& limits, CropEmitMode mode,
            float emit_overlap_thresh);

 private:
  struct Object {
    float id = 0;
    float left = 0;
    float top = 0;
    float right = 0;
    float bottom = 0;
    size_t extra = 0;  // index in extras_ of its first further value

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
