// An encoded image: its bytes, and the metadata that its container stores about it.
#pragma once

#include <cstddef>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/image_format.h"

namespace fuelrail {

// How all images of a field are encoded, for containers that store this once instead of in each
// image. If a coded size is set, the image's own header is not read before decoding: the image
// counts as upright and without alpha, with the channels and bits given here. Leave the coded size
// empty if the headers are more exact.
struct ImageCodec {
  const ImageFormat* format = nullptr;  // never null
  Size coded{};        // of the coded picture; empty: read from each image's header
  int channels = 3;    // used with a coded size: 1 to 4, as in ImageInfo
  int bits = 8;        // used with a coded size: bits of one channel value
  Bytes parameters{};  // data that the decoder needs besides the image's bytes (HEVC: the hvcC)
};

// A view. Lifetime: the bytes, the codec and the hints must outlive it.
struct EncodedImage {
  EncodedImage() = default;
  // An image without metadata: size, channels and format are read from the bytes.
  EncodedImage(Bytes encoded) : bytes(encoded) {}
  EncodedImage(const std::vector<std::byte>& encoded) : bytes(encoded) {}

  Bytes bytes{};
  const ImageCodec* codec = nullptr;  // null: the bytes begin with their format's signature
  // The image's size, if the image is only the upper left part of the coded picture. Empty: the
  // whole picture. Requires: empty, or has_coded_size() (else `probe` refuses the image).
  Size visible{};
  // For the decoder: information from an index about these bytes. May be wrong: check before use.
  Bytes hints{};

  // Whether the bytes are an image on their own, without `codec`.
  bool stands_alone() const {
    return codec == nullptr || (!codec->format->signatures.front().empty() &&
                                codec->coded == Size{} && codec->parameters.empty());
  }

  bool has_coded_size() const { return codec != nullptr && codec->coded != Size{}; }
};

}  // namespace fuelrail
