// The encoded images of samples that are to be packed: from files, and from arrays of pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuelrail/base/raw_view.h"

namespace fuelrail::pack {

enum class ArrayEncoding : uint8_t { kJpeg, kPng, kNpy };

struct ArrayEncoder {
  ArrayEncoding encoding = ArrayEncoding::kPng;
  int quality = 95;  // of a JPEG, 1 to 100
};

// Replaces `out` with the encoded pixels. The same pixels give the same bytes. Requires: at least
// one pixel; for kJpeg, uint8 with 1 or 3 channels; for kPng, uint8 with 1, 3 or 4 channels, or
// uint16 with 1; for kNpy, an element type of encode_npy. Errors: UnsupportedError for an image
// that the format cannot hold.
void encode_array(ConstRawView pixels, const ArrayEncoder& encoder, std::vector<std::byte>& out);

// Replaces `out` with the bytes of a file. Errors: NotFoundError; IoError; UnsupportedError, before
// memory is allocated, for a file that is too long for a record.
void read_whole(const std::string& uri, std::vector<std::byte>& out);

}  // namespace fuelrail::pack
