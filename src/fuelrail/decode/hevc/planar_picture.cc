#include "fuelrail/decode/hevc/planar_picture.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuelrail/base/endian.h"

namespace fuelrail::hevc {
namespace {

// The chroma at a luma position, in a direction with one chroma value for two luma values: the
// value of its own pair, and in quarters the weight of the neighbour, the one before an even
// position or after an odd one. `centred`: a chroma value lies between its two luma values, not on
// the first.
struct Weights {
  int before = 0;
  int after = 0;
};
Weights weights_of(bool centred) {
  return centred ? Weights{.before = 1, .after = 1} : Weights{.before = 0, .after = 2};
}

template <typename T>
const T* row_of(const Plane& plane, int64_t y) {
  return reinterpret_cast<const T*>(plane.first + y * plane.stride_bytes);
}

// How a picture's values become RGB: luma * `luma` + `offset`, and so on.
struct Factors {
  float luma = 1, luma_offset = 0;
  float chroma = 1.0f / 16, chroma_middle = 0;  // of 16 times a value
  float red_cr = 0, green_cb = 0, green_cr = 0, blue_cb = 0;
};

Factors factors_of(const PlanarPicture& picture) {
  const auto unit = static_cast<float>(1 << (picture.bits - 8));
  const auto most = static_cast<float>((1 << picture.bits) - 1);
  Factors f;
  const bool is_full = picture.full_range;
  f.luma = 255.0f / (is_full ? most : 219 * unit);
  f.luma_offset = is_full ? 0 : -16 * unit * f.luma;
  const bool is_rgb = picture.matrix == Matrix::kRgb;
  f.chroma = (is_full ? 255.0f / most : 255.0f / ((is_rgb ? 219 : 224) * unit)) / 16;
  f.chroma_middle = is_rgb ? (is_full ? 0 : 256 * unit) : 2048 * unit;
  const double kr = picture.matrix == Matrix::kBt709    ? 0.2126
                    : picture.matrix == Matrix::kBt2020 ? 0.2627
                                                        : 0.299;
  const double kb = picture.matrix == Matrix::kBt709    ? 0.0722
                    : picture.matrix == Matrix::kBt2020 ? 0.0593
                                                        : 0.114;
  const double kg = 1 - kr - kb;
  f.red_cr = static_cast<float>(2 * (1 - kr));
  f.blue_cb = static_cast<float>(2 * (1 - kb));
  f.green_cr = static_cast<float>(-2 * kr * (1 - kr) / kg);
  f.green_cb = static_cast<float>(-2 * kb * (1 - kb) / kg);
  return f;
}

// The nearest integer in 0 to 255. Requires: |value| < 2^30.
uint32_t level(float value) {
  const auto nearest = static_cast<int32_t>(value + 0.5f);  // of a value below 0: at most 0
  return static_cast<uint32_t>(std::clamp(nearest, 0, 255));
}

uint8_t rounded(float value) { return static_cast<uint8_t>(level(value)); }

template <typename T>
class Converter {
 public:
  Converter(const PlanarPicture& picture, Box box)
      : picture_(picture),
        box_(box),
        halves_width_(picture.chroma == 1 || picture.chroma == 2),
        halves_height_(picture.chroma == 1) {
    const size_t pairs = static_cast<size_t>(box.width / 2 + 1);
    blended_.resize((halves_width_ ? pairs : static_cast<size_t>(box.width)) + 2);
    for (std::vector<float>& values : upsampled_) values.resize(2 * pairs);
    pixels_.resize(static_cast<size_t>(box.width));
  }

  void convert(ImageView output) {
    for (int64_t y = 0; y < box_.height; ++y) {
      const T* const luma = row_of<T>(picture_.planes[0], box_.top + y) + box_.left;
      if (output.channels == 1 && picture_.matrix != Matrix::kRgb) {
        write_grey(luma, output.row(y));
      } else if (picture_.chroma == 0) {
        write_grey_as_rgb(luma, output.row(y));
      } else {
        for (size_t c = 0; c < 2; ++c) upsample(c, box_.top + y);
        if (output.channels == 1) {
          write_grey_of_rgb(luma, output.row(y));
        } else if (picture_.matrix == Matrix::kRgb) {
          write_rgb(luma, output.row(y));
        } else {
          write_converted(luma, output.row(y));
        }
      }
    }
  }

 private:
  // Sets `chroma_[c]` to the chroma of a row of luma, centred on 0, in the range of RGB.
  void upsample(size_t c, int64_t y) {
    float* const values = upsampled_[c].data();
    if (!halves_width_) {
      blend_rows(picture_.planes[c + 1], y, box_.left, box_.width);
      for (int64_t x = 0; x < box_.width; ++x) values[x] = in_range(4 * blended_[1 + x]);
      chroma_[c] = values;
      return;
    }
    const int64_t first = box_.left / 2;
    const int64_t pairs = (box_.left + box_.width - 1) / 2 - first + 1;
    blend_rows(picture_.planes[c + 1], y, first, pairs);
    const auto [before, after] =
        weights_of(picture_.siting == Siting::kCentre && picture_.chroma == 1);
    const int* const own = blended_.data() + 1;
    for (int64_t i = 0; i < pairs; ++i) {
      values[2 * i] = in_range(before * own[i - 1] + (4 - before) * own[i]);
      values[2 * i + 1] = in_range((4 - after) * own[i] + after * own[i + 1]);
    }
    chroma_[c] = values + box_.left % 2;
  }

  // Sets `blended_` to 4 times the chroma values from `first` - 1 to `first` + `count`, at this row
  // of luma. Those outside the plane are the ones at its edges.
  void blend_rows(const Plane& plane, int64_t y, int64_t first, int64_t count) {
    int64_t own = y, other = y;
    int weight = 0;
    if (halves_height_) {
      const auto [before, after] = weights_of(picture_.siting != Siting::kTopLeft);
      own = y / 2;
      weight = y % 2 == 0 ? before : after;
      other = std::clamp<int64_t>(y % 2 == 0 ? own - 1 : own + 1, 0, plane.size.height - 1);
    }
    const T* const a = row_of<T>(plane, own) + first;
    const T* const b = row_of<T>(plane, other) + first;
    int* const out = blended_.data() + 1;
    const auto at = [a, b, weight](int64_t x) {
      return (4 - weight) * static_cast<int>(a[x]) + weight * static_cast<int>(b[x]);
    };
    for (int64_t x = 0; x < count; ++x) out[x] = at(x);
    out[-1] = at(first == 0 ? 0 : -1);
    out[count] = at(first + count == plane.size.width ? count - 1 : count);
  }

  // `value`: 16 times a chroma value.
  float in_range(int value) const {
    return (static_cast<float>(value) - factors_.chroma_middle) * factors_.chroma;
  }

  float luma(T value) const {
    return static_cast<float>(value) * factors_.luma + factors_.luma_offset;
  }

  void write_grey(const T* values, uint8_t* out) const {
    for (int64_t x = 0; x < box_.width; ++x) out[x] = rounded(luma(values[x]));
  }

  void write_grey_as_rgb(const T* values, uint8_t* out) const {
    for (int64_t x = 0; x < box_.width; ++x) {
      out[3 * x] = out[3 * x + 1] = out[3 * x + 2] = rounded(luma(values[x]));
    }
  }

  void write_grey_of_rgb(const T* values, uint8_t* out) const {
    for (int64_t x = 0; x < box_.width; ++x) {
      out[x] = rounded(0.299f * chroma_[1][x] + 0.587f * luma(values[x]) + 0.114f * chroma_[0][x]);
    }
  }

  void write_rgb(const T* values, uint8_t* out) const {
    for (int64_t x = 0; x < box_.width; ++x) {
      out[3 * x] = rounded(chroma_[1][x]);
      out[3 * x + 1] = rounded(luma(values[x]));
      out[3 * x + 2] = rounded(chroma_[0][x]);
    }
  }

  // Packs the three levels of a pixel into one number first: a loop that stores bytes at a distance
  // of three is not vectorized.
  void write_converted(const T* values, uint8_t* out) {
    const float* const cb = chroma_[0];
    const float* const cr = chroma_[1];
    const Factors f = factors_;
    uint32_t* const pixels = pixels_.data();
    for (int64_t x = 0; x < box_.width; ++x) {
      const float y = static_cast<float>(values[x]) * f.luma + f.luma_offset;
      pixels[x] = level(y + f.red_cr * cr[x]) |
                  level(y + f.green_cb * cb[x] + f.green_cr * cr[x]) << 8 |
                  level(y + f.blue_cb * cb[x]) << 16;
    }
    const int64_t last = box_.width - 1;
    for (int64_t x = 0; x < last; ++x)
      store_le(reinterpret_cast<std::byte*>(out) + 3 * x, pixels[x]);
    for (int c = 0; c < 3; ++c) out[3 * last + c] = static_cast<uint8_t>(pixels[last] >> 8 * c);
  }

  const PlanarPicture& picture_;
  const Box box_;
  const Factors factors_ = factors_of(picture_);
  const bool halves_width_;
  const bool halves_height_;
  std::vector<int> blended_;
  std::vector<uint32_t> pixels_;
  std::array<std::vector<float>, 2> upsampled_;
  std::array<const float*, 2> chroma_{};  // at the first column of the box
};

}  // namespace

void to_pixels(const PlanarPicture& picture, Box box, ImageView output) {
  if (picture.bits > 8) {
    Converter<uint16_t>(picture, box).convert(output);
  } else {
    Converter<uint8_t>(picture, box).convert(output);
  }
}

}  // namespace fuelrail::hevc
