// Computes blocks of adjacent pixels in steps, each a plain loop over the functions of
// still_pixels.h. Compilers vectorise these loops for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/transform/still_warp.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "fuelrail/transform/still_pixels.h"
#include "fuelrail/transform/still_warp.h"

#ifndef FUELRAIL_TRANSFORM_STILL_WARP_ONCE
#define FUELRAIL_TRANSFORM_STILL_WARP_ONCE
namespace fuelrail {
namespace {

template <typename Value>
struct MemoryPlane {
  explicit MemoryPlane(const Plane& plane) : first(plane.first), stride(plane.stride_bytes) {}
  const Value* row(int y) const { return reinterpret_cast<const Value*>(first + y * stride); }
  float at(int x, int y) const { return static_cast<float>(row(y)[x]); }

  const std::byte* first;
  ptrdiff_t stride;
};

template <typename Value>
using MemoryPicture = still::Picture<MemoryPlane<Value>>;

template <typename Value>
MemoryPicture<Value> picture_of(const Planes& planes, Size visible, StillOptions::Bounds bounds) {
  const bool is_frame = bounds == StillOptions::Bounds::kFrame;
  const Size size = is_frame ? planes.planes[0].size : visible;
  return {.luma = MemoryPlane<Value>(planes.planes[0]),
          .cb = MemoryPlane<Value>(planes.planes[1]),
          .cr = MemoryPlane<Value>(planes.planes[2]),
          .has_chroma = planes.chroma != 0,
          .neutral = static_cast<float>(1 << (planes.bits - 1)),
          .chroma_x = planes.chroma == 3 ? 1.0f : 0.5f,
          .chroma_y = planes.chroma == 1 ? 0.5f : 1.0f,
          .width = static_cast<int>(size.width),
          .height = static_cast<int>(size.height),
          .tolerance = is_frame ? 0.0f : 0.5f};
}

constexpr int kStillBlock = 32;

struct PointBlock {
  alignas(64) float x[kStillBlock];
  alignas(64) float y[kStillBlock];
};

struct SampleBlock {
  alignas(64) float luma[kStillBlock];
  alignas(64) float cb[kStillBlock];
  alignas(64) float cr[kStillBlock];
};

struct CornerBlock {
  alignas(64) int left[kStillBlock];
  alignas(64) int right[kStillBlock];
  alignas(64) int top[kStillBlock];
  alignas(64) int bottom[kStillBlock];
  alignas(64) float across[kStillBlock];
  alignas(64) float down[kStillBlock];
};

struct GridBlock {
  alignas(64) int across[kStillBlock];
  alignas(64) int down[kStillBlock];
  still::Grid largest;
};

}  // namespace
}  // namespace fuelrail
#endif

HWY_BEFORE_NAMESPACE();
namespace fuelrail {
namespace HWY_NAMESPACE {
namespace {

// The points that the pixels from column `x` on show.
void find_sources(const float (&warp)[9], int x, int y, PointBlock& points) {
  for (int i = 0; i < kStillBlock; ++i) {
    const still::Point at =
        still::source_of(warp, static_cast<float>(x + i), static_cast<float>(y));
    points.x[i] = at.x;
    points.y[i] = at.y;
  }
}

template <typename Value>
void find_inside(const MemoryPicture<Value>& picture, const PointBlock& points, int* inside) {
  for (int i = 0; i < kStillBlock; ++i) {
    inside[i] = still::contains(picture, {points.x[i], points.y[i]});
  }
}

void find_corners(const PointBlock& points, int last_x, int last_y, CornerBlock& corners) {
  for (int i = 0; i < kStillBlock; ++i) {
    const still::Corners one = still::corners_of({points.x[i], points.y[i]}, last_x, last_y);
    corners.left[i] = one.left;
    corners.right[i] = one.right;
    corners.top[i] = one.top;
    corners.bottom[i] = one.bottom;
    corners.across[i] = one.across;
    corners.down[i] = one.down;
  }
}

template <typename Value>
void interpolate(const MemoryPlane<Value>& plane, const CornerBlock& at, float* values) {
  alignas(64) int top_left[kStillBlock], top_right[kStillBlock];
  alignas(64) int bottom_left[kStillBlock], bottom_right[kStillBlock];
  for (int i = 0; i < kStillBlock; ++i) {
    const Value* const top = plane.row(at.top[i]);
    const Value* const bottom = plane.row(at.bottom[i]);
    top_left[i] = top[at.left[i]];
    top_right[i] = top[at.right[i]];
    bottom_left[i] = bottom[at.left[i]];
    bottom_right[i] = bottom[at.right[i]];
  }
  for (int i = 0; i < kStillBlock; ++i) {
    values[i] = still::blend(static_cast<float>(top_left[i]), static_cast<float>(top_right[i]),
                             static_cast<float>(bottom_left[i]),
                             static_cast<float>(bottom_right[i]), at.across[i], at.down[i]);
  }
}

template <typename Value>
void move_inside(const MemoryPicture<Value>& picture, PointBlock& points) {
  for (int i = 0; i < kStillBlock; ++i) {
    const still::Point one = still::nearest_in(picture, {points.x[i], points.y[i]});
    points.x[i] = one.x;
    points.y[i] = one.y;
  }
}

template <typename Value>
void move_to_chroma(const MemoryPicture<Value>& picture, PointBlock& points) {
  for (int i = 0; i < kStillBlock; ++i) {
    const still::Point one = still::chroma_point(picture, {points.x[i], points.y[i]});
    points.x[i] = one.x;
    points.y[i] = one.y;
  }
}

template <typename Value>
void sample_points(const MemoryPicture<Value>& picture, const PointBlock& at,
                   SampleBlock& samples) {
  const int last_x = picture.width - 1;
  const int last_y = picture.height - 1;
  PointBlock points = at;
  CornerBlock corners;
  move_inside(picture, points);
  find_corners(points, last_x, last_y, corners);
  interpolate(picture.luma, corners, samples.luma);
  if (!picture.has_chroma) {
    std::fill_n(samples.cb, kStillBlock, picture.neutral);
    std::fill_n(samples.cr, kStillBlock, picture.neutral);
    return;
  }
  move_to_chroma(picture, points);
  find_corners(points, still::last_chroma(last_x, picture.chroma_x),
               still::last_chroma(last_y, picture.chroma_y), corners);
  interpolate(picture.cb, corners, samples.cb);
  interpolate(picture.cr, corners, samples.cr);
}

// Pixels that are out of bounds have a grid of one point.
void find_grids(const float (&warp)[9], int x, int y, const PointBlock& points, const int* inside,
                GridBlock& grids) {
  grids.largest = {};
  for (int i = 0; i < kStillBlock; ++i) {
    still::Grid grid;
    if (inside[i] != 0) {
      grid = still::grid_of(warp, static_cast<float>(x + i), static_cast<float>(y),
                            {points.x[i], points.y[i]});
    }
    grids.across[i] = grid.across;
    grids.down[i] = grid.down;
    grids.largest.across = std::max(grids.largest.across, grid.across);
    grids.largest.down = std::max(grids.largest.down, grid.down);
  }
}

// Point (i, j) of each grid. Pixels whose grid has no such point show any point.
void find_grid_sources(const float (&warp)[9], int x, int y, const GridBlock& grids, int i, int j,
                       PointBlock& points) {
  for (int k = 0; k < kStillBlock; ++k) {
    const still::Point at =
        still::source_of(warp, static_cast<float>(x + k) + still::place_of(i, grids.across[k]),
                         static_cast<float>(y) + still::place_of(j, grids.down[k]));
    points.x[k] = at.x;
    points.y[k] = at.y;
  }
}

void add_points(const SampleBlock& samples, const GridBlock& grids, int i, int j,
                SampleBlock& sums) {
  for (int k = 0; k < kStillBlock; ++k) {
    const bool exists = i < grids.across[k] && j < grids.down[k];
    sums.luma[k] += exists ? samples.luma[k] : 0;
    sums.cb[k] += exists ? samples.cb[k] : 0;
    sums.cr[k] += exists ? samples.cr[k] : 0;
  }
}

template <typename Value>
void sample_areas(const MemoryPicture<Value>& picture, const float (&warp)[9], int x, int y,
                  const PointBlock& points, const int* inside, SampleBlock& means) {
  GridBlock grids;
  find_grids(warp, x, y, points, inside, grids);
  means = {};
  SampleBlock samples;
  PointBlock grid_points;
  for (int j = 0; j < grids.largest.down; ++j) {
    for (int i = 0; i < grids.largest.across; ++i) {
      find_grid_sources(warp, x, y, grids, i, j, grid_points);
      sample_points(picture, grid_points, samples);
      add_points(samples, grids, i, j, means);
    }
  }
  for (int k = 0; k < kStillBlock; ++k) {
    const float count = static_cast<float>(grids.across[k] * grids.down[k]);
    means.luma[k] /= count;
    means.cb[k] /= count;
    means.cr[k] /= count;
  }
}

// Replaces the samples by channels.
template <still::Channels kConvert(const still::Colors&, const still::Sample&)>
void convert(const still::Colors& colors, SampleBlock& samples) {
  const still::Colors constant = colors;  // no write can change it
  for (int i = 0; i < kStillBlock; ++i) {
    const still::Channels one = kConvert(constant, {samples.luma[i], samples.cb[i], samples.cr[i]});
    samples.luma[i] = one.red;
    samples.cb[i] = one.green;
    samples.cr[i] = one.blue;
  }
}

void write_channel(const StillParameters& parameters, int c, const float* channel,
                   const int* inside, int64_t count, float* to) {
  alignas(64) float normalized[kStillBlock];
  for (int i = 0; i < kStillBlock; ++i) {
    normalized[i] = still::normalized(parameters, c, channel[i]);
  }
  const float outside = parameters.out_of_bounds[c];
  for (int64_t i = 0; i < count; ++i) to[i] = inside[i] != 0 ? normalized[i] : outside;
}

template <typename Value>
void warp_values(const Planes& planes, Size visible, const StillParameters& parameters,
                 const StillOptions& options, Size output, float* to) {
  const auto picture = picture_of<Value>(planes, visible, options.bounds);
  const still::Colors colors = still::colors_of(parameters.color, planes.bits);
  const int64_t plane = output.height * output.width;
  PointBlock points;
  SampleBlock samples;
  alignas(64) int inside[kStillBlock];
  for (int y = 0; y < static_cast<int>(output.height); ++y) {
    for (int x = 0; x < static_cast<int>(output.width); x += kStillBlock) {
      find_sources(parameters.warp, x, y, points);
      find_inside(picture, points, inside);
      if (options.antialias) {
        sample_areas(picture, parameters.warp, x, y, points, inside, samples);
      } else {
        sample_points(picture, points, samples);
      }
      if (colors.is_raw) {
        convert<still::raw_channels>(colors, samples);
      } else {
        convert<still::rgb_channels>(colors, samples);
      }
      float* const row = to + y * output.width + x;
      const int64_t count = std::min<int64_t>(kStillBlock, output.width - x);
      write_channel(parameters, 0, samples.luma, inside, count, row);
      write_channel(parameters, 1, samples.cb, inside, count, row + plane);
      write_channel(parameters, 2, samples.cr, inside, count, row + 2 * plane);
    }
  }
}

void WarpStill(const Planes& still, Size visible, const StillParameters& parameters,
               const StillOptions& options, Size output, float* to) {
  if (still.bits > 8) {
    warp_values<uint16_t>(still, visible, parameters, options, output, to);
  } else {
    warp_values<uint8_t>(still, visible, parameters, options, output, to);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuelrail {
namespace {

HWY_EXPORT(WarpStill);

}  // namespace

void warp_still(const Planes& still, Size visible, const StillParameters& parameters,
                const StillOptions& options, Size output, float* to) {
  HWY_DYNAMIC_DISPATCH(WarpStill)(still, visible, parameters, options, output, to);
}

}  // namespace fuelrail
#endif
