// The table of image formats and their decoders.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_format.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/decode/decoder.h"

namespace fuelrail {

struct Decoding {
  const ImageFormat* format = nullptr;
  // Reads an image's header. Requires: the bytes begin with a signature of the format. Null if the
  // container always declares the image's properties, and if `find_inner` is given. Errors: as for
  // fuelrail::probe, which also checks the size.
  ImageInfo (*probe)(Bytes encoded) = nullptr;
  // Called by each worker for its first image of the format. Errors: MissingCodecError if this
  // machine cannot decode the format; it becomes the error of all images of the format, and no
  // error policy skips them. Returning null has the same effect. Any other exception becomes the
  // error of this image only, and the function is called again for the next image.
  std::unique_ptr<Decoder> (*make_decoder)() = nullptr;
  int64_t max_side = kMaxSide;
  bool has_planes = false;  // the decoder can return luma and chroma (DecodeJob::take_planes)
  // For files that contain an image of another format: finds that image, and assigns its codec to
  // `codec`. Lifetime: file and codec outlive the result. Errors: as for fuelrail::probe.
  EncodedImage (*find_inner)(Bytes file, ImageCodec& codec) = nullptr;
  // For a format whose files hold pixels as they are: the pixels of the box, in the file. No value
  // if they have another number of channels. Requires: the box is inside the image's `info.stored`.
  // Lifetime: that of `encoded`. Errors: TruncatedError.
  std::optional<ConstImageView> (*pixels_in_file)(Bytes encoded, Box box,
                                                  int64_t channels) = nullptr;
};

// The row of `format`; null if the format has no decoder. Lifetime: the process.
const Decoding* decoding_of(const ImageFormat* format);

// The row of the format whose signature the bytes begin with; null if no signature matches.
const Decoding* announced_decoding(Bytes encoded);

// Whether the bytes end inside the signature of a format. Requires: announced_decoding returns
// null.
bool is_cut_signature(Bytes encoded);

// Errors: DecodeError for an image that does not begin with a signature of its codec's format. An
// image without a codec, or of a format without signatures, is not checked.
void require_described_format(const EncodedImage& image);

std::string decoded_formats();  // "JPEG, PNG, WebP, BMP or TIFF", for messages

// For tests: the table contains `row` as long as the object lives. Requires: one object at a time,
// created and destroyed while no other thread decodes. Lifetime: the row must outlive the object.
class LentDecoding {
 public:
  explicit LentDecoding(const Decoding& row);
  ~LentDecoding();
  LentDecoding& operator=(LentDecoding&&) = delete;
};

}  // namespace fuelrail
