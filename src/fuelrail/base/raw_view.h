// Non-owning views of interleaved images (HWC) whose elements have any type: masks, maps and images
// as numbers. Rows may be padded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "fuelrail/base/box.h"
#include "fuelrail/base/dtype.h"
#include "fuelrail/base/image_view.h"

namespace fuelrail {

// `Byte` is std::byte or const std::byte. Elements may be at any address, unless `row_of` is used.
template <typename Byte>
struct BasicRawView {
  Byte* data = nullptr;
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  DType dtype = DType::kUint8;
  int64_t row_stride_bytes = 0;  // at least width * pixel_bytes()

  Size size() const { return {height, width}; }
  int64_t pixel_bytes() const { return channels * static_cast<int64_t>(size_in_bytes(dtype)); }
  int64_t row_bytes() const { return width * pixel_bytes(); }  // without padding
  Byte* row(int64_t y) const { return data + y * row_stride_bytes; }

  // The elements of a row. Requires: T is the type that `dtype` names; the address `data` and
  // `row_stride_bytes` are multiples of the size of an element.
  template <typename T>
  auto row_of(int64_t y) const {
    using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return reinterpret_cast<Element*>(row(y));
  }

  // Requires: box.inside(size()).
  BasicRawView crop(Box box) const {
    return {row(box.top) + box.left * pixel_bytes(),
            box.height,
            box.width,
            channels,
            dtype,
            row_stride_bytes};
  }

  // The same memory, with one channel for each byte of a pixel. Code that moves pixels without
  // changing them, such as turn_upright, thus moves pixels of any type.
  auto bytes_image() const {
    using Level = std::conditional_t<std::is_const_v<Byte>, const uint8_t, uint8_t>;
    return BasicImageView<Level>{reinterpret_cast<Level*>(data), height, width, pixel_bytes(),
                                 row_stride_bytes};
  }

  operator BasicRawView<const std::byte>() const {
    return {data, height, width, channels, dtype, row_stride_bytes};
  }
};

using RawView = BasicRawView<std::byte>;
using ConstRawView = BasicRawView<const std::byte>;

// The same pixels as uint8 elements.
inline ConstRawView raw_view(ConstImageView image) {
  return {reinterpret_cast<const std::byte*>(image.data),
          image.height,
          image.width,
          image.channels,
          DType::kUint8,
          image.row_stride_bytes};
}

}  // namespace fuelrail
