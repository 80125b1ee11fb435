// The golden images of tests/golden/images, with their pixels as decoded by Pillow.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::testing {

struct GoldenImage {
  std::string name;
  std::string encoded;
  Size stored;
  int channels = 0;
  int orientation = 1;
  int tolerance = 0;    // levels
  std::string dtype;    // of `values`: "uint8" or "uint16"; "-" for an image without values
  std::string rgb;      // as stored
  std::string upright;  // after ImageOps.exif_transpose; empty for orientation 1
  std::string values;   // little-endian: numpy.array of the opened image
  Bytes bytes() const { return as_bytes(encoded); }
};

inline std::string read_golden_image_file(const std::string& name) {
  return file_contents(std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/images/" + name);
}

// Lifetime: until the program ends.
inline const std::vector<GoldenImage>& golden_images() {
  static const std::vector<GoldenImage> kImages = [] {
    std::vector<GoldenImage> images;
    std::istringstream manifest(read_golden_image_file("manifest.tsv"));
    GoldenImage image;
    while (manifest >> image.name >> image.channels >> image.orientation >> image.stored.height >>
           image.stored.width >> image.tolerance >> image.dtype) {
      image.encoded = read_golden_image_file(image.name);
      image.rgb = read_golden_image_file(image.name + ".rgb");
      image.upright.clear();
      if (image.orientation != 1) {
        image.upright = read_golden_image_file(image.name + ".upright.rgb");
      }
      image.values.clear();
      if (image.dtype != "-") image.values = read_golden_image_file(image.name + ".values");
      images.push_back(image);
    }
    return images;
  }();
  return kImages;
}

inline const GoldenImage& golden_image(const std::string& name) {
  for (const GoldenImage& image : golden_images()) {
    if (image.name == name) return image;
  }
  throw std::runtime_error("no golden image " + name);
}

}  // namespace fuelrail::testing
