// Hue, lightness and saturation of 8-bit images equal to `cvtColor` of OpenCV 3.4.2, which is in
// MXNet 1.9.1, for programs whose pixels must be MXNet's. It rounds the saturation of a few colours
// otherwise in the last width % 4 columns; where later versions do that depends on the processor.
#pragma once

#include "fuelrail/base/image_view.h"

namespace fuelrail {

// COLOR_RGB2HLS: hue in steps of two degrees (0 to 179), lightness and saturation 0 to 255.
// Threads: any. Requires: equal sizes, 3 channels each; `hls` is `rgb` itself or does not overlap.
void cv_rgb_to_hls(ConstImageView rgb, ImageView hls);

// COLOR_HLS2RGB; a hue of 180 and more goes round again. Threads, requires: as above.
void cv_hls_to_rgb(ConstImageView hls, ImageView rgb);

}  // namespace fuelrail
