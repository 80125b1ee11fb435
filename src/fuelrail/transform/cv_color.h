// Conversion between RGB and hue, lightness, saturation, equal to `cvtColor` of OpenCV 3.4.2, the
// version in MXNet 1.9.1, for programs whose pixels must equal MXNet's. This version rounds the
// saturation of a few colours differently in the last width % 4 columns; in later versions, the
// affected columns depend on the processor.
#pragma once

#include "fuelrail/base/image_view.h"

namespace fuelrail {

// COLOR_RGB2HLS: hue in steps of two degrees (0 to 179), lightness and saturation 0 to 255.
// Threads: any. Requires: both images have the same size and 3 channels; they are the same image or
// do not overlap.
void cv_rgb_to_hls(ConstImageView rgb, ImageView hls);

// COLOR_HLS2RGB; hues of 180 and more wrap around. Threads, Requires: as for cv_rgb_to_hls.
void cv_hls_to_rgb(ConstImageView hls, ImageView rgb);

}  // namespace fuelrail
