#include "fuelrail/transform/still_warp.h"

#include <cstdint>

#include "fuelrail/transform/still_pixels.h"

namespace fuelrail {
namespace {

template <typename Value>
struct MemoryPlane {
  const std::byte* first = nullptr;
  ptrdiff_t stride_bytes = 0;
  float at(int x, int y) const {
    return static_cast<float>(reinterpret_cast<const Value*>(first + y * stride_bytes)[x]);
  }
};

template <typename Value>
MemoryPlane<Value> memory_of(const Plane& plane) {
  return {plane.first, plane.stride_bytes};
}

template <typename Value>
still::Picture<MemoryPlane<Value>> picture_of(const Planes& planes, Size visible,
                                              StillOptions::Bounds bounds) {
  const bool is_frame = bounds == StillOptions::Bounds::kFrame;
  const Size size = is_frame ? planes.planes[0].size : visible;
  return {.luma = memory_of<Value>(planes.planes[0]),
          .cb = memory_of<Value>(planes.planes[1]),
          .cr = memory_of<Value>(planes.planes[2]),
          .has_chroma = planes.chroma != 0,
          .neutral = static_cast<float>(1 << (planes.bits - 1)),
          .chroma_x = planes.chroma == 3 ? 1.0f : 0.5f,
          .chroma_y = planes.chroma == 1 ? 0.5f : 1.0f,
          .width = static_cast<int>(size.width),
          .height = static_cast<int>(size.height),
          .tolerance = is_frame ? 0.0f : 0.5f};
}

template <typename Value>
void warp_values(const Planes& planes, Size visible, const StillParameters& parameters,
                 const StillOptions& options, Size output, float* to) {
  const auto picture = picture_of<Value>(planes, visible, options.bounds);
  const still::Colors colors = still::colors_of(parameters.color, planes.bits);
  const int64_t plane = output.height * output.width;
  for (int y = 0; y < static_cast<int>(output.height); ++y) {
    float* const row = to + y * output.width;
    for (int x = 0; x < static_cast<int>(output.width); ++x) {
      float channels[3];
      still::pixel(picture, parameters, colors, options.antialias, x, y, channels);
      for (int c = 0; c < 3; ++c) row[c * plane + x] = channels[c];
    }
  }
}

}  // namespace

void warp_still(const Planes& still, Size visible, const StillParameters& parameters,
                const StillOptions& options, Size output, float* to) {
  if (still.bits > 8) {
    warp_values<uint16_t>(still, visible, parameters, options, output, to);
  } else {
    warp_values<uint8_t>(still, visible, parameters, options, output, to);
  }
}

}  // namespace fuelrail
