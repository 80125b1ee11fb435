// The arithmetic of Benzina's pipeline: from the planes of a still to one pixel of an image.
//
// Only additions, subtractions, multiplications, divisions, comparisons and conversions, none of
// them fused, so that every processor computes the same bits. A compiler for GPUs can compile this
// header too: it uses neither the standard library nor exceptions.
//
// Source: the documentation of Benzina and the results of its version 0.0.5. A plain reference in
// NumPy is tests/golden/stills/make.py.
#pragma once

#include "fuelrail/transform/still_parameters.h"

#ifdef __CUDACC__
#define FUELRAIL_ON_GPU __host__ __device__
#else
#define FUELRAIL_ON_GPU
#endif

namespace fuelrail::still {

// A point in the still, in pixels: the centre of the first pixel is (0, 0).
struct Point {
  float x = 0, y = 0;
};

// Values in the units of the planes.
struct Sample {
  float luma = 0, cb = 0, cr = 0;
};

// A still, and the part of it that can be seen: its first `width` x `height` pixels. `Plane` is a
// type with `float at(int x, int y) const`, the value in column x and row y.
template <typename Plane>
struct Picture {
  Plane luma, cb, cr;
  bool has_chroma = true;
  float neutral = 128;  // the chroma of a still without chroma
  // Chroma values for each luma value, horizontally and vertically: 1 or 0.5.
  float chroma_x = 0.5f, chroma_y = 0.5f;
  int width = 0, height = 0;
  // How far outside the outermost pixel centres a point may be. Points there show these pixels.
  float tolerance = 0;
};

FUELRAIL_ON_GPU inline float mix(float a, float b, float weight) { return a + (b - a) * weight; }

// Returns: x, or the nearest number in [0, most]; 0 for a NaN. Compiled without branches.
template <typename Number>
FUELRAIL_ON_GPU Number clamp(Number x, Number most) {
  const Number positive = x > 0 ? x : 0;
  return positive < most ? positive : most;
}

// Requires: |x| < 2^30.
FUELRAIL_ON_GPU inline int floor_of(float x) {
  const int truncated = static_cast<int>(x);
  return truncated - static_cast<int>(static_cast<float>(truncated) > x);
}

// --- Where a pixel of the image is in the still ---

// The point of the still that a point of the image shows.
FUELRAIL_ON_GPU inline Point source_of(const float (&warp)[9], float x, float y) {
  const float z = warp[6] * x + warp[7] * y + warp[8];
  return {(warp[0] * x + warp[1] * y + warp[2]) / z, (warp[3] * x + warp[4] * y + warp[5]) / z};
}

// Whether -tolerance <= at <= last + tolerance. False for a NaN.
FUELRAIL_ON_GPU inline bool reaches(float at, int last, float tolerance) {
  return at >= -tolerance && at <= static_cast<float>(last) + tolerance;
}

template <typename Plane>
FUELRAIL_ON_GPU bool contains(const Picture<Plane>& picture, Point at) {
  return reaches(at.x, picture.width - 1, picture.tolerance) &&
         reaches(at.y, picture.height - 1, picture.tolerance);
}

// A regular grid of points in a pixel of the image.
struct Grid {
  int across = 1, down = 1;
};
constexpr int kMostPoints = 64;  // in each direction

// How many points cover `pixels` pixels of the still.
FUELRAIL_ON_GPU inline int points_for(float pixels) {
  constexpr float kMost = kMostPoints;
  const float least = pixels > 1 ? pixels : 1;
  const float inside = least < kMost ? least : kMost;
  const int whole = static_cast<int>(inside);
  return whole + static_cast<int>(static_cast<float>(whole) < inside);
}

FUELRAIL_ON_GPU inline float larger_size(float a, float b) {
  const float x = a < 0 ? -a : a;
  const float y = b < 0 ? -b : b;
  return x > y ? x : y;
}

// The grid whose mean is that of the area of the image's pixel (x, y), which shows `at`. There are
// as many points across as `at` moves by pixels of the still if x grows by 1, in the direction in
// which it moves more, rounded up; likewise downwards. If the image is a whole number of times
// smaller, the mean is that of the still's pixels.
FUELRAIL_ON_GPU inline Grid grid_of(const float (&warp)[9], float x, float y, Point at) {
  const float z = warp[6] * x + warp[7] * y + warp[8];
  return {points_for(larger_size((warp[0] - at.x * warp[6]) / z, (warp[3] - at.y * warp[6]) / z)),
          points_for(larger_size((warp[1] - at.x * warp[7]) / z, (warp[4] - at.y * warp[7]) / z))};
}

// The place of point i of n in a pixel, relative to its centre: (i + 1/2) / n - 1/2.
FUELRAIL_ON_GPU inline float place_of(int i, int n) {
  return (static_cast<float>(i) + 0.5f) / static_cast<float>(n) - 0.5f;
}

// --- The values at a point of the still ---

// The nearest point between the outermost pixel centres.
template <typename Plane>
FUELRAIL_ON_GPU Point nearest_in(const Picture<Plane>& picture, Point at) {
  return {clamp(at.x, static_cast<float>(picture.width - 1)),
          clamp(at.y, static_cast<float>(picture.height - 1))};
}

// The same point in the planes of chroma, whose values are in the centre of the luma values that
// they cover: for 4:2:0, (x / 2 - 1/4, y / 2 - 1/4).
template <typename Plane>
FUELRAIL_ON_GPU Point chroma_point(const Picture<Plane>& picture, Point at) {
  return {at.x * picture.chroma_x + (0.5f * picture.chroma_x - 0.5f),
          at.y * picture.chroma_y + (0.5f * picture.chroma_y - 0.5f)};
}

// The last column or row of chroma, for that of luma.
FUELRAIL_ON_GPU inline int last_chroma(int last, float chroma) {
  return static_cast<int>(static_cast<float>(last) * chroma);
}

// The four values around a point of a plane, and where the point is between them.
struct Corners {
  int left = 0, right = 0, top = 0, bottom = 0;
  float across = 0, down = 0;
};

// Columns and rows outside [0, last] are replaced by those at the edge.
FUELRAIL_ON_GPU inline Corners corners_of(Point at, int last_x, int last_y) {
  const int x = floor_of(at.x);
  const int y = floor_of(at.y);
  return {clamp(x, last_x),     clamp(x + 1, last_x),         clamp(y, last_y),
          clamp(y + 1, last_y), at.x - static_cast<float>(x), at.y - static_cast<float>(y)};
}

FUELRAIL_ON_GPU inline float blend(float top_left, float top_right, float bottom_left,
                                   float bottom_right, float across, float down) {
  return mix(mix(top_left, top_right, across), mix(bottom_left, bottom_right, across), down);
}

template <typename Plane>
FUELRAIL_ON_GPU float value_at(const Plane& plane, const Corners& at) {
  return blend(plane.at(at.left, at.top), plane.at(at.right, at.top), plane.at(at.left, at.bottom),
               plane.at(at.right, at.bottom), at.across, at.down);
}

template <typename Plane>
FUELRAIL_ON_GPU Sample sample(const Picture<Plane>& picture, Point at) {
  const int last_x = picture.width - 1;
  const int last_y = picture.height - 1;
  const Point point = nearest_in(picture, at);
  Sample values = {value_at(picture.luma, corners_of(point, last_x, last_y)), picture.neutral,
                   picture.neutral};
  if (!picture.has_chroma) return values;
  const Corners corners =
      corners_of(chroma_point(picture, point), last_chroma(last_x, picture.chroma_x),
                 last_chroma(last_y, picture.chroma_y));
  values.cb = value_at(picture.cb, corners);
  values.cr = value_at(picture.cr, corners);
  return values;
}

// The mean over the area of the image's pixel (x, y), which shows `at`.
template <typename Plane>
FUELRAIL_ON_GPU Sample area_sample(const Picture<Plane>& picture, const float (&warp)[9], float x,
                                   float y, Point at) {
  const Grid grid = grid_of(warp, x, y, at);
  Sample sum;
  for (int j = 0; j < grid.down; ++j) {
    for (int i = 0; i < grid.across; ++i) {
      const Sample one = sample(
          picture, source_of(warp, x + place_of(i, grid.across), y + place_of(j, grid.down)));
      sum.luma += one.luma;
      sum.cb += one.cb;
      sum.cr += one.cr;
    }
  }
  const float count = static_cast<float>(grid.across * grid.down);
  return {sum.luma / count, sum.cb / count, sum.cr / count};
}

// --- From values to channels ---

// How samples become channels of 0 to 255. With y = (luma - black) * luma_gain and c = (chroma -
// middle) * chroma_gain: red = y + red_cr * cr, and so on.
struct Colors {
  bool is_raw = false;  // the channels are the y and the c, neither rounded nor limited
  float black = 0, luma_gain = 1;
  float middle = 128, chroma_gain = 1;
  float red_cr = 1.402f;
  float green_cb = -0.344136f, green_cr = -0.714136f;
  float blue_cb = 1.772f;
};

// The matrix for luma weights of red, green and blue, for values in limited range. `unit`: one
// level of 8 bits.
FUELRAIL_ON_GPU inline Colors limited_range(float unit, double kr, double kg, double kb) {
  Colors colors;
  colors.black = 16 * unit;
  colors.luma_gain = static_cast<float>(255.0 / 219) / unit;
  colors.middle = 128 * unit;
  colors.chroma_gain = static_cast<float>(255.0 / 112) / unit;
  colors.red_cr = static_cast<float>(1 - kr);
  colors.green_cb = static_cast<float>(-kb / kg * (1 - kb));
  colors.green_cr = static_cast<float>(-kr / kg * (1 - kr));
  colors.blue_cb = static_cast<float>(1 - kb);
  return colors;
}

// `color`: as StillParameters::color. `bits`: of a value of the planes, 8 to 16; the values are
// converted to the range that they have with 8 bits.
FUELRAIL_ON_GPU inline Colors colors_of(float color, int bits) {
  const float unit = static_cast<float>(1 << (bits - 8));
  if (color == 1) return limited_range(unit, 0.299, 0.587, 0.114);
  if (color == 2) return limited_range(unit, 0.2126, 0.7152, 0.0722);
  if (color == 3) return limited_range(unit, 0.2627, 0.6780, 0.0593);
  Colors colors;
  colors.is_raw = color != 0;
  const float most = static_cast<float>((1 << bits) - 1);
  colors.luma_gain = colors.chroma_gain = colors.is_raw ? 1.0f / unit : 255.0f / most;
  colors.middle = colors.is_raw ? 0 : 128 * unit;
  return colors;
}

// Returns: the nearest integer in 0 to 255; halves are rounded up. Adding 1/2 before truncating
// would round the float below 1/2 up.
FUELRAIL_ON_GPU inline float rounded(float x) {
  const float inside = clamp(x, 255.0f);
  const float whole = static_cast<float>(static_cast<int>(inside));
  const float rest = inside - whole;
  return whole + static_cast<float>(static_cast<int>(rest + rest));
}

struct Channels {
  float red = 0, green = 0, blue = 0;
};

// The y and the c.
FUELRAIL_ON_GPU inline Channels raw_channels(const Colors& colors, const Sample& values) {
  return {(values.luma - colors.black) * colors.luma_gain,
          (values.cb - colors.middle) * colors.chroma_gain,
          (values.cr - colors.middle) * colors.chroma_gain};
}

FUELRAIL_ON_GPU inline Channels rgb_channels(const Colors& colors, const Sample& values) {
  const float y = (values.luma - colors.black) * colors.luma_gain;
  const float cb = (values.cb - colors.middle) * colors.chroma_gain;
  const float cr = (values.cr - colors.middle) * colors.chroma_gain;
  return {rounded(y + colors.red_cr * cr), rounded(y + colors.green_cb * cb + colors.green_cr * cr),
          rounded(y + colors.blue_cb * cb)};
}

// `c`: the index of the channel.
FUELRAIL_ON_GPU inline float normalized(const StillParameters& parameters, int c, float channel) {
  return (channel - parameters.bias[c]) * parameters.norm[c];
}

// Pixel (x, y) of the image. `colors` = colors_of(parameters.color, bits).
template <typename Plane>
FUELRAIL_ON_GPU Channels pixel(const Picture<Plane>& picture, const StillParameters& parameters,
                               const Colors& colors, bool antialias, int x, int y) {
  const float column = static_cast<float>(x);
  const float row = static_cast<float>(y);
  const Point at = source_of(parameters.warp, column, row);
  if (!contains(picture, at)) {
    return {parameters.out_of_bounds[0], parameters.out_of_bounds[1], parameters.out_of_bounds[2]};
  }
  const Sample values =
      antialias ? area_sample(picture, parameters.warp, column, row, at) : sample(picture, at);
  const Channels channels =
      colors.is_raw ? raw_channels(colors, values) : rgb_channels(colors, values);
  return {normalized(parameters, 0, channels.red), normalized(parameters, 1, channels.green),
          normalized(parameters, 2, channels.blue)};
}

}  // namespace fuelrail::still
