// Rasterises polygons exactly as pycocotools does: the same pixels for the same coordinates.
// Source of the method: pycocotools 2.0.11, common/maskApi.c (rleFrPoly).
//
// The corners are rounded to a grid that is five times finer than the pixels. Each edge is walked
// there in steps of one along its longer side, the other coordinate rounded. Where the walk crosses
// the middle of a column of pixels, the pixels of that column change between outside and inside,
// from the first row whose middle is not above the crossing on. A polygon may cross itself.
#pragma once

#include <cstdint>
#include <span>

#include "fuelrail/base/box.h"
#include "fuelrail/pack/annotations/rle.h"

namespace fuelrail::pack {

// The largest coordinate of a corner, and the smallest with a minus sign, in pixels: twice the
// largest side of an image. The time to rasterise an edge grows with its length.
inline constexpr double kFarthestCorner = 131072;

// The length of the longest outline, in pixels, an edge counted along its longer side.
inline constexpr int64_t kLongestOutline = int64_t{1} << 26;

// `xy`: x and y of each corner, in turn. Requires: an even number of coordinates within
// kFarthestCorner; an image of 1 to 2^32 - 1 pixels. Memory: a bit for each pixel of the columns
// that the polygon covers, and the result. Errors: CorruptError for an outline that is longer than
// kLongestOutline.
RunLengths rasterise(std::span<const double> xy, Size image);

}  // namespace fuelrail::pack
