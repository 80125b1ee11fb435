#include "fuelrail/decode/orientation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

// An orientation as steps from the upright to the stored image: an optional transposition, then
// mirrors.
struct Turn {
  bool transposed;
  bool mirrored_rows;     // rows are stored from bottom to top
  bool mirrored_columns;  // columns are stored from right to left
};

Turn turn_of(int orientation) {
  constexpr Turn kTurns[] = {
      {false, false, false},  // 1: stored upright
      {false, false, true},   // 2: mirrored left-right
      {false, true, true},    // 3: turned by 180 degrees
      {false, true, false},   // 4: mirrored top-bottom
      {true, false, false},   // 5: transposed
      {true, true, false},    // 6: upright after a clockwise turn
      {true, true, true},     // 7: transposed across the other diagonal
      {true, false, true},    // 8: upright after an anticlockwise turn
  };
  if (orientation < 1 || orientation > 8) {
    throw InvalidArgumentError("the EXIF orientation is out of range",
                               {.expected = "1 to 8", .found = std::to_string(orientation)});
  }
  return kTurns[orientation - 1];
}

// Copies `width` pixels that are `step` bytes apart.
template <int kChannels>
void copy_row(const uint8_t* from, int64_t step, int64_t width, uint8_t* to) {
  for (int64_t x = 0; x < width; ++x, from += step, to += kChannels) {
    for (int c = 0; c < kChannels; ++c) to[c] = from[c];
  }
}

void copy_row(const uint8_t* from, int64_t step, int64_t width, int64_t channels, uint8_t* to) {
  for (int64_t x = 0; x < width; ++x, from += step, to += channels) {
    std::memcpy(to, from, static_cast<size_t>(channels));
  }
}

}  // namespace

Box to_stored(Box upright, Size stored, int orientation) {
  const Turn turn = turn_of(orientation);
  Box box = upright;
  if (turn.transposed) box = {upright.left, upright.top, upright.width, upright.height};
  if (turn.mirrored_rows) box.top = stored.height - box.bottom();
  if (turn.mirrored_columns) box.left = stored.width - box.right();
  return box;
}

namespace {

std::string describe(Size size, int64_t channels) {
  return fmt::format("{} x {} (height x width), {} channels", size.height, size.width, channels);
}

}  // namespace

void turn_upright(ConstImageView from, int orientation, ImageView to) {
  const Turn turn = turn_of(orientation);
  const Size upright =
      turn.transposed ? Size{from.width, from.height} : Size{from.height, from.width};
  if (to.size() != upright || to.channels != from.channels) {
    throw InvalidArgumentError(
        "the output has the wrong size or number of channels",
        {.expected = describe(upright, from.channels), .found = describe(to.size(), to.channels)});
  }
  if (to.height == 0 || to.width == 0) return;
  // The strides in the stored image for one step down and one step right in the upright image.
  const int64_t row = turn.mirrored_rows ? -from.row_stride_bytes : from.row_stride_bytes;
  const int64_t column = turn.mirrored_columns ? -from.channels : from.channels;
  const int64_t down = turn.transposed ? column : row;
  const int64_t right = turn.transposed ? row : column;
  const uint8_t* start = from.row(turn.mirrored_rows ? from.height - 1 : 0) +
                         (turn.mirrored_columns ? from.width - 1 : 0) * from.channels;

  // A transposition reads down columns. Blocks keep the rows that it crosses in the cache.
  const int64_t block = turn.transposed ? 32 : to.width;
  for (int64_t left = 0; left < to.width; left += block) {
    const int64_t width = std::min(block, to.width - left);
    for (int64_t y = 0; y < to.height; ++y) {
      const uint8_t* source = start + y * down + left * right;
      uint8_t* target = to.row(y) + left * to.channels;
      if (right == to.channels) {
        std::memcpy(target, source, static_cast<size_t>(width * to.channels));
      } else if (to.channels == 3) {
        copy_row<3>(source, right, width, target);
      } else {
        copy_row(source, right, width, to.channels, target);
      }
    }
  }
}

}  // namespace fuelrail
