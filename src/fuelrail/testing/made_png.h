// PNGs made for tests: every colour type, depth and filter, and every way to cut the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"

namespace fuelrail::testing {

struct MadePng {
  Size size{8, 8};
  int type = 2;  // the colour type
  int bits = 8;
  std::optional<int> filter{};  // of all rows; default: another one for each row
  int level = 6;                // of compression; 0: stored
  size_t chunk_bytes = 0;       // of each IDAT chunk; 0: one chunk
  int colours = 0;              // of the palette; 0: as many as the depth has
  bool transparent = false;     // has a tRNS chunk, if the colour type may have one
  bool flat = false;            // few regions, as a mask
  uint64_t seed = 1;
};

std::vector<std::byte> make_png(const MadePng& made);

// Every colour type with every depth that it may have, with and without tRNS.
std::vector<MadePng> each_kind_of_png();
// A PNG of any kind, with sides of 1 to `most_side`.
MadePng random_png(std::mt19937_64& random, int64_t most_side);

std::string describe(const MadePng& made);

// What the filter Paeth predicts from the bytes at the left, above, and above at the left (PNG,
// third edition, section 9.4).
int paeth(int a, int b, int c);

struct PngChunk {
  std::string type;
  std::vector<std::byte> payload;
};

// The chunks of a PNG, to the first that is cut off.
std::vector<PngChunk> chunks_of(Bytes png);
// The PNG of these chunks, with right checksums.
std::vector<std::byte> png_of(const std::vector<PngChunk>& chunks);

// A zlib stream, and the data of one. Requires: `compressed` is valid.
std::vector<std::byte> zlib_stream(Bytes data, int level);
std::vector<std::byte> zlib_data(Bytes compressed, size_t bytes);

}  // namespace fuelrail::testing
