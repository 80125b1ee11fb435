// What the transforms do to the images and objects of one sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/loader/loss_warnings.h"
#include "fuelrail/loader/sample_program.h"
#include "fuelrail/sampler/sampler.h"
#include "fuelrail/transform/coordinates.h"
#include "fuelrail/transform/geometry.h"
#include "fuelrail/transform/plan.h"

namespace fuelrail {

// The numbers of a tensor, in memory that is aligned for them. Lifetime: until the next call, or as
// long as `bytes`.
template <typename Number>
class AlignedNumbers {
 public:
  std::span<const Number> of(Bytes bytes);

 private:
  std::vector<Number> copy_;
};

// Draws the random numbers of a sample, and computes each result when a column first needs it.
// Errors of all functions: Errors of the sample's images and boxes; they name the field. Threads:
// one at a time.
class SampleMotion {
 public:
  struct Leader {
    ImageInfo info;  // orientation 1 if it is not applied
    Plan plan;
    Motion motion;  // if LeaderProgram::moves
  };

  // Lifetime: the parameters must outlive the object.
  SampleMotion(const Schema& schema, const SampleProgram& program, uint64_t seed,
               LossWarnings& losses);

  // Lifetime: the sample must not change until the next call.
  void begin(const Sample& sample, const Entry& entry);

  // The results are valid until the next `begin`.
  Leader& leader(size_t leader);
  // Of an item of a list of images. Valid until the next call for this leader.
  Leader& leader(size_t leader, const EncodedImage& item);

  // Probes an image; with orientation 1 if it is not applied.
  ImageInfo look_at(const EncodedImage& image) const;

  // Whether each of the objects stays.
  std::span<const uint8_t> kept(size_t objects);
  // The moved boxes of all objects.
  std::span<const Corners> boxes(size_t boxes);

  // The moved points of all objects, as elements of the field's type. Valid until the next call of
  // `points` or `kept`.
  Bytes points(const PointsProgram& program);

 private:
  struct LeaderState : Leader {
    bool ready = false;
  };
  struct BoxesState {
    bool read = false;
    bool moved = false;
    size_t first = 0;  // in the boxes given to `resolve`
    std::vector<Corners> boxes;
    std::vector<uint8_t> kept;
  };
  struct ObjectsState {
    bool ready = false;
    std::vector<uint8_t> kept;
  };

  void prepare(LeaderState& state, const LeaderProgram& program, const EncodedImage& image);
  void read(size_t boxes, Size image);
  BoxesState& moved(size_t boxes);
  template <typename Number>
  Bytes moved(const PointsProgram& program, std::vector<Number>& memory);

  const Schema& schema_;
  const SampleProgram& program_;
  const uint64_t seed_;
  LossWarnings& losses_;
  const Sample* sample_ = nullptr;
  Entry entry_{};
  std::vector<LeaderState> leaders_;
  std::vector<BoxesState> boxes_;
  std::vector<ObjectsState> objects_;
  std::vector<Corners> needed_boxes_;  // of one leader
  std::vector<uint8_t> shown_;         // of one field of points
  std::vector<float> float_points_;    // likewise
  std::vector<double> double_points_;  // likewise
  AlignedNumbers<float> floats_;
  AlignedNumbers<double> doubles_;
};

}  // namespace fuelrail
