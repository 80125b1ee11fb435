#include "fuelrail/decode/png/png_pixels.h"

#include <cstring>

#include "fuelrail/decode/packed_samples.h"
#include "fuelrail/decode/png/png_grey.h"

namespace fuelrail::png {
namespace {

// A pixel with samples of 8 bits, or of 16, the upper of which are the pixel's.
struct Pixel {
  uint16_t red = 0, green = 0, blue = 0, alpha = 0;
};

// Pixel i of a row, with samples as they are stored, but grey of few bits scaled to 255.
template <ColourType kType, int kBits>
Pixel pixel_at(const PlainPng& png, const uint8_t* row, int64_t i) {
  constexpr int kSamples = samples_of(kType);
  constexpr uint16_t kOpaque = kBits == 16 ? 0xffff : 0xff;
  const auto sample = [&](int k) -> uint16_t {
    if constexpr (kBits == 16) {
      const uint8_t* const at = row + 2 * (kSamples * i + k);
      return static_cast<uint16_t>(at[0] << 8 | at[1]);
    } else if constexpr (kBits == 8) {
      return row[kSamples * i + k];
    } else {
      return packed_sample(row, i, kBits);
    }
  };
  if constexpr (kType == ColourType::kPalette) {
    const Rgba& colour = png.palette[sample(0)];
    return {colour.red, colour.green, colour.blue, colour.alpha};
  } else if constexpr (kType == ColourType::kGrey) {
    constexpr int kScale = kBits < 8 ? 255 / ((1 << kBits) - 1) : 1;
    const auto grey = static_cast<uint16_t>(kScale * sample(0));
    return {grey, grey, grey, kOpaque};
  } else if constexpr (kType == ColourType::kGreyAlpha) {
    const uint16_t grey = sample(0);
    return {grey, grey, grey, sample(1)};
  } else if constexpr (kType == ColourType::kColour) {
    Pixel pixel{sample(0), sample(1), sample(2), kOpaque};
    if (png.transparent) {
      const auto& [red, green, blue] = *png.transparent;
      constexpr uint16_t kMask = kOpaque;
      if (pixel.red == (red & kMask) && pixel.green == (green & kMask) &&
          pixel.blue == (blue & kMask)) {
        pixel.alpha = 0;
      }
    }
    return pixel;
  } else {
    return {sample(0), sample(1), sample(2), sample(3)};
  }
}

template <ColourType kType, int kBits, int kChannels>
void write_pixels(const PlainPng& png, const RowPixels& pixels, uint8_t* to) {
  constexpr int kDropped = kBits == 16 ? 8 : 0;
  constexpr bool kIsGrey = kType == ColourType::kGrey || kType == ColourType::kGreyAlpha;
  for (int64_t i = pixels.left; i < pixels.left + pixels.count; ++i, to += kChannels) {
    const Pixel pixel = pixel_at<kType, kBits>(png, pixels.row, i);
    if constexpr (kChannels == 1) {
      if constexpr (kIsGrey) {
        *to = static_cast<uint8_t>(pixel.red >> kDropped);
      } else {
        constexpr uint32_t kRounding = kBits == 16 ? 1 << 14 : 0;
        *to = static_cast<uint8_t>(weighed(pixel.red, pixel.green, pixel.blue, kRounding) >>
                                   kDropped);
      }
    } else {
      to[0] = static_cast<uint8_t>(pixel.red >> kDropped);
      to[1] = static_cast<uint8_t>(pixel.green >> kDropped);
      to[2] = static_cast<uint8_t>(pixel.blue >> kDropped);
      if constexpr (kChannels == 4) to[3] = static_cast<uint8_t>(pixel.alpha >> kDropped);
    }
  }
}

// Colours of a palette. Stores of four bytes cost less than three of one, and the next pixel
// overwrites the fourth.
template <int kBits>
void write_colours(const PlainPng& png, const RowPixels& pixels, uint8_t* to) {
  static_assert(sizeof(Rgba) == 4);
  const int64_t last = pixels.left + pixels.count - 1;
  for (int64_t i = pixels.left; i < last; ++i, to += 3) {
    std::memcpy(to, &png.palette[packed_sample(pixels.row, i, kBits)], 4);
  }
  std::memcpy(to, &png.palette[packed_sample(pixels.row, last, kBits)], 3);
}

// Pixels that are stored as they are written.
template <int kBytes>
void copy_pixels(const PlainPng&, const RowPixels& pixels, uint8_t* to) {
  std::memcpy(to, pixels.row + kBytes * pixels.left, static_cast<size_t>(kBytes * pixels.count));
}

// Grey has no alpha (PlainPng::has_alpha).
template <ColourType kType, int kBits>
WriteRow writer(int64_t channels) {
  switch (channels) {
    case 1:
      return write_pixels<kType, kBits, 1>;
    case 3:
      if constexpr (kType == ColourType::kPalette) return write_colours<kBits>;
      return write_pixels<kType, kBits, 3>;
    default:
      if constexpr (kType == ColourType::kGrey) return nullptr;
      return write_pixels<kType, kBits, 4>;
  }
}

template <ColourType kType>
WriteRow writer_of_packed(int bits, int64_t channels) {
  switch (bits) {
    case 1:
      return writer<kType, 1>(channels);
    case 2:
      return writer<kType, 2>(channels);
    case 4:
      return writer<kType, 4>(channels);
    default:
      return writer<kType, 8>(channels);
  }
}

template <ColourType kType>
WriteRow writer_of_bytes(int bits, int64_t channels) {
  return bits == 16 ? writer<kType, 16>(channels) : writer<kType, 8>(channels);
}

template <int kBits>
void write_values(const PlainPng& png, const RowPixels& pixels, uint8_t* to) {
  const int factor = png.type == ColourType::kPalette ? 1 : grey_value_factor(kBits);
  for (int64_t i = 0; i < pixels.count; ++i) {
    to[i] = static_cast<uint8_t>(factor * packed_sample(pixels.row, pixels.left + i, kBits));
  }
}

void write_values_of_16(const PlainPng&, const RowPixels& pixels, uint8_t* to) {
  for (int64_t i = 0; i < pixels.count; ++i) {
    const uint8_t* const at = pixels.row + 2 * (pixels.left + i);
    const auto value = static_cast<uint16_t>(at[0] << 8 | at[1]);
    std::memcpy(to + 2 * i, &value, sizeof value);
  }
}

}  // namespace

WriteRow pixel_writer(const PlainPng& png, int64_t channels) {
  switch (png.type) {
    case ColourType::kGrey:
      if (png.bits == 8 && channels == 1) return copy_pixels<1>;
      return png.bits == 16 ? writer<ColourType::kGrey, 16>(channels)
                            : writer_of_packed<ColourType::kGrey>(png.bits, channels);
    case ColourType::kPalette:
      return writer_of_packed<ColourType::kPalette>(png.bits, channels);
    case ColourType::kColour:
      if (png.bits == 8 && channels == 3) return copy_pixels<3>;
      return writer_of_bytes<ColourType::kColour>(png.bits, channels);
    case ColourType::kGreyAlpha:
      return writer_of_bytes<ColourType::kGreyAlpha>(png.bits, channels);
    case ColourType::kColourAlpha:
      if (png.bits == 8 && channels == 4) return copy_pixels<4>;
      return writer_of_bytes<ColourType::kColourAlpha>(png.bits, channels);
  }
  return nullptr;
}

WriteRow value_writer(const PlainPng& png) {
  switch (png.bits) {
    case 1:
      return write_values<1>;
    case 2:
      return write_values<2>;
    case 4:
      return write_values<4>;
    case 8:
      return copy_pixels<1>;
    default:
      return write_values_of_16;
  }
}

}  // namespace fuelrail::png
