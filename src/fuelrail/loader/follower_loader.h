// Decodes the masks, maps and partner images that move with a leader, and writes them into a batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "fuelrail/base/encoded_image.h"
#include "fuelrail/base/scratch.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/loader/sample_motion.h"
#include "fuelrail/loader/sample_program.h"
#include "fuelrail/loader/upright_decoder.h"
#include "fuelrail/transform/map_runner.h"
#include "fuelrail/transform/mask_runner.h"
#include "fuelrail/transform/pixel_buffer.h"
#include "fuelrail/transform/plan_runner.h"

namespace fuelrail {

// `info`: of the follower, as SampleMotion::look_at returns it. `to`: memory for a result of the
// size of the leader's, and of the follower's number of channels. Errors of all functions: those of
// decoding, of `follow` and of `move_vectors`; UnsupportedError for a mask whose numbers do not fit
// its column's type, and for a map with another number of channels than its column. Keeps its
// working memory between calls. Threads: one at a time.
class FollowerLoader {
 public:
  struct Image {
    EncodedImage encoded;
    ImageInfo info;
    std::stop_token stop{};
    WorkerCounts* counts = nullptr;  // is added to
  };

  void write(const PartnerPixels& program, const SampleMotion::Leader& leader, const Image& image,
             std::byte* to);
  void write(const MaskValues& program, const SampleMotion::Leader& leader, const Image& image,
             std::byte* to);
  void write(const MapValues& program, const SampleMotion::Leader& leader, const Image& image,
             std::byte* to);

  // A map that is a tensor of shape (H, W) or (H, W, C).
  void write(const MapValues& program, const SampleMotion::Leader& leader, ConstRawView tensor,
             std::byte* to);

 private:
  ConstRawView with_room_for(const MaskValues& program, ConstRawView mask);
  void run_map(const MapValues& program, const Motion& motion, Size map, ConstRawView values,
               Box box, std::byte* to);

  UprightDecoder decoder_;
  Plan plan_;
  PlanRunner pixels_;
  MaskRunner masks_;
  MapRunner maps_;
  Scratch input_;   // a map's values as float32 or turned, a mask that is widened for its `fill`
  Scratch output_;  // a mask before it is widened, a map before its channels are separated
};

}  // namespace fuelrail
