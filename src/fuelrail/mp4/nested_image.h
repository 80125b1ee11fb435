// A still of a nested file (nested_file.h) as an encoded image.
#pragma once

#include "fuelrail/base/encoded_image.h"
#include "fuelrail/mp4/nested_file.h"

namespace fuelrail::mp4 {

// The codec of stills with this sample entry. Channels and bits are those of its hvcC (ISO/IEC
// 14496-15, section 8.3.3.1). Lifetime: `parameters` outlive the result. Errors: UnsupportedError
// for a format other than H.265 and H.264; DecodeError for parameters that are missing or longer
// than 64 KiB.
ImageCodec codec_of(BoxType entry, Size coded, Bytes parameters);

// Lifetime: bitstream and codec outlive the result. Errors: DecodeError for an empty bitstream, and
// for a visible part that is larger than the coded picture.
EncodedImage image_of(Bytes bitstream, const ImageCodec& codec, Size visible);

// The image of a nested file that is an image of its own: `bzna_input`, or the thumbnail if there
// is no other. Its codec is assigned to `codec`. Lifetime: file and codec outlive the result.
// Errors: those of read_nested_file, codec_of and image_of; UnsupportedError for another MP4 file.
EncodedImage read_nested_image(Bytes file, ImageCodec& codec);

}  // namespace fuelrail::mp4
