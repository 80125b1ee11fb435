// From an image file's bytes to those that are packed: the same bytes, or the image made smaller
// and encoded anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_view.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/transform/resize.h"

namespace fuelrail {

struct PrepareOptions {
  int64_t resize = 0;            // shorter side; 0 = leave
  std::optional<int> quality{};  // given: every image is encoded anew
  bool verify_images = true;     // probe what passes through untouched
};

// Without `resize` and `quality` every image passes through. With either, every image is decoded in
// full, so that damage is found, and then
//   - a JPEG whose shorter side is at most `resize` passes through, unless `quality` is given;
//   - any other image is turned upright, brought to the shorter side `resize` where its own is
//   longer
//     (antialiased bilinear, as transforms.Resize), and encoded as JPEG of `quality`.
// What an encoded image says beside its pixels (EXIF, ICC profile) is dropped.
// Threads: one preparer a thread; it keeps its working memory between calls.
class ImagePreparer {
 public:
  explicit ImagePreparer(const PrepareOptions& options);

  // Returns: the bytes to pack, a view of `encoded` or of memory that lives until the next call.
  // Errors: those of probe and of decoding, UnsupportedError when a side is too long for a JPEG.
  Bytes prepare(Bytes encoded);

 private:
  bool keeps_bytes(const ImageInfo& info) const;
  ConstImageView decode(Bytes encoded, const ImageInfo& info);
  ConstImageView upright(ConstImageView stored, const ImageInfo& info);
  ConstImageView resized(ConstImageView image);

  PrepareOptions options_;
  std::unique_ptr<Decoder> decoder_;
  Resampler resampler_;
  std::vector<uint8_t> stored_;
  std::vector<uint8_t> upright_;
  std::vector<uint8_t> resized_;
  std::vector<std::byte> jpeg_;
};

}  // namespace fuelrail
