// Encodes pixels as H.265 stills with x265, which is in the plugin (base/hevc_library.h).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/image_view.h"

namespace fuelrail {

struct HevcSettings {
  double crf = 23;  // x265's constant rate factor, 0 (largest) to 51 (smallest)
  std::string preset =
      "medium";      // x265's: "ultrafast" to "placebo"; slower ones give smaller files
  int chroma = 420;  // 420, or 444 for chroma in full size
};

// The names of x265's presets, the fastest first.
const std::vector<std::string>& hevc_presets();

// An encoded still as an MP4 file stores it (ISO/IEC 14496-15).
struct HevcStill {
  std::vector<std::byte> bitstream;   // NAL units, each after its length in 4 bytes
  std::vector<std::byte> parameters;  // the content of the box hvcC
};

// Threads: one encoder for each thread.
class HevcEncoder {
 public:
  // Errors: InvalidArgumentError for invalid settings; MissingCodecError if there is no plugin.
  explicit HevcEncoder(const HevcSettings& settings);
  ~HevcEncoder();
  HevcEncoder& operator=(HevcEncoder&&) = delete;

  // Replaces `out` with a picture of the size `coded`, which has the image at its top left. The
  // image's last column and row are repeated to the right and bottom edges. Colours are stored as
  // YCbCr with the matrix of BT.601 in full range, like those of a JPEG; in 4:2:0 a chroma value is
  // the mean of four. The same pixels give the same bytes.
  // Requires: 1 or 3 channels; at least one pixel; `coded` is even, at least 32 x 32, and not
  // smaller than the image. Errors: UnsupportedError for a picture that x265 cannot encode.
  void encode(ConstImageView image, Size coded, HevcStill& out);

 private:
  class State;
  const std::unique_ptr<State> state_;
};

}  // namespace fuelrail
