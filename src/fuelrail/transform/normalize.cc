#include "fuelrail/transform/normalize.h"

#include <cstring>

#include "fuelrail/base/error.h"
#include "fuelrail/transform/half.h"
#include "fuelrail/transform/normalize_kernels.h"

namespace fuelrail {
namespace {

// Calls `write(source row, its elements)` for each row.
template <typename Element, typename Write>
void for_each_row(ConstImageView from, bool flip_horizontal, bool flip_vertical, ImageLayout layout,
                  std::byte* to, Write write) {
  const int64_t plane = from.height * from.width;
  auto* const elements = reinterpret_cast<Element*>(to);
  for (int64_t y = 0; y < from.height; ++y) {
    const int64_t source = flip_vertical ? from.height - 1 - y : y;
    const PixelRow row{from.row(source), from.width, 3, flip_horizontal};
    if (layout == ImageLayout::kNhwc) {
      Element* at = elements + y * from.width * 3;
      write(row, ElementRow<Element>{{at, at + 1, at + 2}, 3});
    } else {
      Element* at = elements + y * from.width;
      write(row, ElementRow<Element>{{at, at + plane, at + 2 * plane}, 1});
    }
  }
}

}  // namespace

void check(const PixelFormat& format) {
  if (format.dtype == DType::kUint8) {
    if (!format.normalize) return;
    throw InvalidArgumentError("Normalize needs a floating-point output",
                               {.expected = "float32, float16 or bfloat16",
                                .found = name_of(format.dtype),
                                .remedy = "Leave Normalize out, or ask for float32"});
  }
  if (format.dtype != DType::kFloat32 && format.dtype != DType::kFloat16 &&
      format.dtype != DType::kBfloat16) {
    throw InvalidArgumentError(
        "images cannot have this element type",
        {.expected = "uint8, float16, bfloat16 or float32", .found = name_of(format.dtype)});
  }
}

PixelWriter::PixelWriter(const PixelFormat& format)
    : format_(format), normalize_(format.normalize.value_or(Normalize{})) {
  check(format);
  if (format.dtype == DType::kUint8) return;
  for (size_t c = 0; c < 3; ++c) {
    for (int level = 0; level < 256; ++level) {
      const float unit = static_cast<float>(level) / 255.0f;
      floats_.push_back((unit - normalize_.mean[c]) / normalize_.std[c]);
      words_.push_back(format.dtype == DType::kBfloat16 ? to_bfloat16(floats_.back())
                                                        : to_half(floats_.back()));
    }
  }
}

void PixelWriter::write(ConstImageView from, bool flip_horizontal, bool flip_vertical,
                        std::byte* to) const {
  const auto each_row = [&]<typename Element>(Element, auto write) {
    for_each_row<Element>(from, flip_horizontal, flip_vertical, format_.layout, to, write);
  };
  const Conversion conversion{normalize_.mean.data(), normalize_.std.data(), floats_.data(),
                              words_.data()};
  if (format_.dtype == DType::kFloat32) {
    each_row(float{}, [&](const auto& row, const auto& into) { write_row(row, conversion, into); });
  } else if (format_.dtype == DType::kFloat16) {
    each_row(uint16_t{},
             [&](const auto& row, const auto& into) { write_half_row(row, conversion, into); });
  } else if (format_.dtype == DType::kBfloat16) {
    each_row(uint16_t{},
             [&](const auto& row, const auto& into) { write_bfloat16_row(row, conversion, into); });
  } else {
    const bool as_it_is = format_.layout == ImageLayout::kNhwc && !flip_horizontal;
    each_row(uint8_t{}, [&](const PixelRow& row, const ElementRow<uint8_t>& into) {
      if (as_it_is) {
        std::memcpy(into.channel[0], row.from, static_cast<size_t>(row.width * 3));
      } else {
        write_row(row, into);
      }
    });
  }
}

}  // namespace fuelrail
