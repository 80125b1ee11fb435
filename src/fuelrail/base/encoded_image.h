// An encoded image, with what is known of it beside its bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_format.h"

namespace fuelrail {

// How the images of a field are encoded, where the container says it and not each image itself.
// With a coded size, an image's own header is not looked at before it is decoded: it is upright and
// without alpha, in the channels and bits that stand here. Where headers know better, leave it out.
struct ImageCodec {
  const ImageFormat* format = nullptr;  // never null
  Size coded{};                         // of the picture; empty: each image's header says its own
  int channels = 3;                     // with a coded size: 1 to 4, as ImageInfo has them
  int bits = 8;                         // with a coded size: of a sample
  Bytes parameters{};  // what a decoder needs besides the image's bytes (HEVC: the hvcC)
};

// Lifetime: a view of the bytes, the codec and the hints.
struct EncodedImage {
  EncodedImage() = default;
  // An image of which only the bytes are known: they say the rest.
  EncodedImage(Bytes encoded) : bytes(encoded) {}
  EncodedImage(const std::vector<std::byte>& encoded) : bytes(encoded) {}

  Bytes bytes{};
  const ImageCodec* codec = nullptr;  // null: the bytes begin with their format's signature
  // The image, where it is the upper left part of the coded picture. Empty: all of it.
  // Requires, unless it is empty: has_coded_size(), or `probe` refuses the image.
  Size visible{};
  // For the decoder: what an index says of these bytes. To be used, never to be believed.
  Bytes hints{};

  bool has_coded_size() const { return codec != nullptr && codec->coded != Size{}; }
};

}  // namespace fuelrail
