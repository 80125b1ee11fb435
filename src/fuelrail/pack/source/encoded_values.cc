#include "fuelrail/pack/source/encoded_values.h"

#include <memory>

#include "fuelrail/encode/jpeg_encoder.h"
#include "fuelrail/encode/npy_writer.h"
#include "fuelrail/encode/png_encoder.h"
#include "fuelrail/pack/source/pack_source.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

// Requires: uint8.
ConstImageView levels_of(ConstRawView pixels) {
  return {reinterpret_cast<const uint8_t*>(pixels.data), pixels.height, pixels.width,
          pixels.channels, pixels.row_stride_bytes};
}

}  // namespace

void encode_array(ConstRawView pixels, const ArrayEncoder& encoder, std::vector<std::byte>& out) {
  switch (encoder.encoding) {
    case ArrayEncoding::kJpeg:
      return encode_jpeg(levels_of(pixels), encoder.quality, out);
    case ArrayEncoding::kPng:
      if (pixels.channels == 1) return encode_values_png(pixels, out);
      return encode_png(levels_of(pixels), kDefaultPngLevel, out);
    case ArrayEncoding::kNpy:
      return encode_npy(pixels, out);
  }
}

void read_whole(const std::string& uri, std::vector<std::byte>& out) {
  const std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
  check_record_length(source->size_bytes());
  out.resize(source->size_bytes());
  source->read(0, out);
}

}  // namespace fuelrail::pack
