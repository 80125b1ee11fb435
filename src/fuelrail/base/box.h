// Sizes and boxes of images, in whole pixels. Inside fuelrail, height always comes before width.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fuelrail {

struct Size {
  int64_t height = 0;
  int64_t width = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

// Whether images of these sizes may show the same scene: one, scaled to the height or the width of
// the other, differs by at most a pixel of the larger. Requires: no side is 0.
constexpr bool same_aspect(Size a, Size b) {
  const int64_t difference = a.height * b.width - a.width * b.height;
  const int64_t most = std::min(std::max(a.height, b.height), std::max(a.width, b.width));
  return difference <= most && -difference <= most;
}

// Rows [top, top + height) and columns [left, left + width).
struct Box {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t bottom() const { return top + height; }
  int64_t right() const { return left + width; }
  Size size() const { return {height, width}; }
  bool inside(Size image) const {
    return top >= 0 && left >= 0 && height >= 0 && width >= 0 && bottom() <= image.height &&
           right() <= image.width;
  }
  bool contains(Box inner) const {
    return inner.top >= top && inner.left >= left && inner.bottom() <= bottom() &&
           inner.right() <= right();
  }
  friend bool operator==(const Box&, const Box&) = default;
};

// The size of an image decoded at `eighths` / 8 of its size, rounded up to whole pixels.
inline Size at_eighths(Size image, int eighths) {
  return {(image.height * eighths + 7) / 8, (image.width * eighths + 7) / 8};
}

// The box that covers an image of this size.
inline Box whole(Size image) { return {0, 0, image.height, image.width}; }

// The four numbers of an object's box: two corners; the upper left corner, width and height; or the
// middle, width and height. Frozen: sample records store the format's number.
enum class BoxFormat : uint8_t { kXyxy, kXywh, kCxcywh };

}  // namespace fuelrail
