// Makes the records of `.bzna` files: MP4 files that contain an image as H.265 stills
// (mp4/nested_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/encode/hevc_encoder.h"
#include "fuelrail/mp4/nested_file_writer.h"
#include "fuelrail/pack/image/quality.h"
#include "fuelrail/pack/image/record_maker.h"
#include "fuelrail/pack/image/stage_runner.h"
#include "fuelrail/transform/pixel_buffer.h"

namespace fuelrail::pack {

// Frames have sides of multiples of this number of pixels, and a thumbnail is a frame of at most
// one of them (Benzina's documentation, "Benzina dataset specification").
inline constexpr int64_t kFrameSide = 512;

// The frame for an image: each side rounded up to a multiple of kFrameSide.
Size frame_for(Size image);

// The size of an image's thumbnail: reduced, with its proportions, until both sides are at most
// kFrameSide; sides are rounded down, but not to 0. Smaller images keep their size.
Size thumbnail_of(Size image);

// Threads: one maker for each thread.
class StillMaker final : public RecordMaker {
 public:
  // Requires: check(steps) has passed. Lifetime: `steps` outlives the maker.
  explicit StillMaker(const ImageSteps& steps) : steps_(steps), pipeline_(steps) {}

  // Requires: the image is encoded (SourceImage::encoded). One that is such an MP4 file already
  // keeps its stills, if ImageSteps::keep is kAll, and gets a thumbnail if it has none; it is not
  // measured. Errors besides those of RecordMaker::make: those of HevcEncoder; if
  // ImageSteps::measure is set, those of decoding the still.
  MadeRecord make(const SourceImage& image, uint64_t place,
                  std::vector<std::byte>& payload) override;

 private:
  // `pixels`: returns those of the image; called only if its still is too large for a thumbnail.
  mp4::NewStill thumbnail(const mp4::NewStill& image,
                          const std::function<ConstImageView()>& pixels);
  mp4::NewStill encode_still(ConstImageView image, HevcStill& still);
  MeasuredStill measured(ConstImageView image, const mp4::NewStill& still);

  const ImageSteps& steps_;
  ImagePipeline pipeline_;
  StageRunner shrinker_;
  std::unique_ptr<HevcEncoder> encoder_;  // made at the first image that is encoded
  HevcStill input_;
  HevcStill thumb_;
  std::unique_ptr<Decoder> decoder_;  // made at the first image that is measured
  PixelBuffer decoded_;
  QualityMeter meter_;
};

}  // namespace fuelrail::pack
