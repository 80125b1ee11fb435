// JPEGs made for tests by libjpeg-turbo, of every kind that the decoder must read, and the full
// decode by bare libjpeg-turbo for comparison with its crops.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"

namespace fuelrail {

struct MadeJpeg {
  enum class Colour { kGrey, kYcc, kRgb, kCmyk, kYcck };

  Size size{64, 64};
  Colour colour = Colour::kYcc;
  // Horizontal and vertical sampling factors of each component; missing components have 1 x 1.
  std::vector<std::array<int, 2>> sampling{};
  int quality = 90;
  int restart_interval = 0;  // in MCUs; 0 = none
  bool progressive = false;
  bool interleaved = true;   // false: each component in a scan of its own
  bool adobe_marker = true;  // only for colours that can have one
  uint64_t seed = 1;         // of the pixels: smooth shapes with edges and noise
  bool flat = false;         // one colour
  bool own_codes = false;    // Huffman codes made for the image, instead of the standard's examples
  // The number of AC codes of each length from 1 bit on, for the standard's 162 symbols in their
  // order. Empty: the standard's.
  std::vector<uint8_t> code_counts{};
};

std::vector<std::byte> make_jpeg(const MadeJpeg& wanted);
std::string describe(const MadeJpeg& jpeg);

// The image with all coefficients and quantisers multiplied, up to what baseline allows: pixels
// that no camera makes.
std::vector<std::byte> with_larger_coefficients(Bytes jpeg, int factor, int quantizer_factor);

// An image as a plain libjpeg program decodes it: all rows from the top.
struct PlainImage {
  Size size;
  int channels = 0;  // 3 RGB, 4 CMYK as stored
  std::vector<uint8_t> pixels;
};
PlainImage decode_plainly(Bytes jpeg);

// The pixels as RGB; CMYK is converted by definition, in exact arithmetic.
std::string rgb_of(const PlainImage& image);

// Random boxes, and boxes at the image's edges and corners.
std::vector<Box> boxes_in(Size size, std::mt19937_64& random, int count);

}  // namespace fuelrail
