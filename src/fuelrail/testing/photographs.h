// Small JPEG "photographs" for tests: smooth colours with some texture, encoded by libjpeg. The
// same seed gives the same bytes. A test that includes this links fuelrail_dep::jpeg.
#pragma once

#include <jpeglib.h>
#include <stdio.h>  // jpeglib.h needs FILE

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/philox.h"

namespace fuelrail {

// height x width x 3, row-major RGB.
inline std::vector<uint8_t> make_pixels(int64_t height, int64_t width, uint64_t seed) {
  std::vector<uint8_t> pixels;
  pixels.reserve(static_cast<size_t>(height * width * 3));
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const Philox random(seed, 0, static_cast<uint64_t>(y * width + x));
      for (uint32_t c = 0; c < 3; ++c) {
        const uint64_t slope =
            (static_cast<uint64_t>(y) * (c + 1) + static_cast<uint64_t>(x) * (3 - c) + seed * 37) %
            224;
        pixels.push_back(static_cast<uint8_t>(slope + random.below(0, c, 32)));
      }
    }
  }
  return pixels;
}

inline std::vector<std::byte> make_jpeg(int64_t height, int64_t width, uint64_t seed,
                                        int quality = 90) {
  std::vector<uint8_t> pixels = make_pixels(height, width, seed);
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* encoded = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &encoded, &size);
  info.image_width = static_cast<JDIMENSION>(width);
  info.image_height = static_cast<JDIMENSION>(height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  jpeg_start_compress(&info, TRUE);
  for (int64_t y = 0; y < height; ++y) {
    JSAMPROW row = pixels.data() + y * width * 3;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  const auto* begin = reinterpret_cast<const std::byte*>(encoded);
  std::vector<std::byte> bytes(begin, begin + size);
  jpeg_destroy_compress(&info);
  std::free(encoded);
  return bytes;
}

}  // namespace fuelrail
