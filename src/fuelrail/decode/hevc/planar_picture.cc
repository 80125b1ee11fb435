#include "fuelrail/decode/hevc/planar_picture.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace fuelrail::hevc {
namespace {

// Two neighbouring chroma values, and the weight of the second one, in quarters.
struct Between {
  int64_t first = 0;
  int64_t second = 0;
  int weight = 0;
};

// The chroma values around luma position `at`, in a direction with `step` luma values for each
// chroma value. `centred`: a chroma value lies between its two luma values, not on the first.
Between around(int64_t at, int64_t step, bool centred, int64_t count) {
  if (step == 1) return {at, at, 0};
  const int64_t own = at / 2;
  const bool is_even = at % 2 == 0;
  const auto inside = [count](int64_t i) { return std::clamp<int64_t>(i, 0, count - 1); };
  if (!centred) return {inside(own), inside(own + 1), is_even ? 0 : 2};
  return is_even ? Between{inside(own - 1), inside(own), 3}
                 : Between{inside(own), inside(own + 1), 1};
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

uint8_t rounded(float value) {
  return static_cast<uint8_t>(std::clamp(value, 0.0f, 255.0f) + 0.5f);
}

template <typename T>
class Converter {
 public:
  Converter(const PlanarPicture& picture, Box box) : picture_(picture), box_(box) {
    const size_t width = static_cast<size_t>(box.width);
    const bool halves_width = picture.chroma == 1 || picture.chroma == 2;
    columns_.reserve(width);
    for (int64_t x = 0; x < box.width; ++x) {
      columns_.push_back(around(box.left + x, halves_width ? 2 : 1,
                                picture.siting == Siting::kCentre && picture.chroma == 1,
                                picture.planes[1].size.width));
    }
    for (std::vector<float>& values : chroma_) values.resize(width);
    blended_.resize(static_cast<size_t>(std::max<int64_t>(picture.planes[1].size.width, 1)));
  }

  void convert(ImageView output) {
    for (int64_t y = 0; y < box_.height; ++y) {
      const T* const luma = row_of<T>(picture_.planes[0], box_.top + y) + box_.left;
      if (output.channels == 1 && picture_.matrix != Matrix::kRgb) {
        write_grey(luma, output.row(y));
      } else if (picture_.chroma == 0) {
        write_grey_as_rgb(luma, output.row(y));
      } else {
        for (size_t c = 0; c < 2; ++c) upsample(picture_.planes[c + 1], box_.top + y, chroma_[c]);
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
  // The chroma of a row of luma, centred on 0, in the range of RGB.
  void upsample(const Plane& plane, int64_t y, std::vector<float>& values) {
    const Between rows = around(y, picture_.chroma == 1 ? 2 : 1,
                                picture_.siting != Siting::kTopLeft, plane.size.height);
    const T* const above = row_of<T>(plane, rows.first);
    const T* const below = row_of<T>(plane, rows.second);
    const Between first = columns_.front(), last = columns_.back();
    const int64_t begin = std::min(first.first, first.second);
    const int64_t end = std::max(last.first, last.second) + 1;
    for (int64_t x = begin; x < end; ++x) {
      blended_[static_cast<size_t>(x)] =
          (4 - rows.weight) * static_cast<int>(above[x]) + rows.weight * static_cast<int>(below[x]);
    }
    for (size_t x = 0; x < values.size(); ++x) {
      const Between at = columns_[x];
      const int value = (4 - at.weight) * blended_[static_cast<size_t>(at.first)] +
                        at.weight * blended_[static_cast<size_t>(at.second)];
      values[x] = (static_cast<float>(value) - factors_.chroma_middle) * factors_.chroma;
    }
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
      const auto i = static_cast<size_t>(x);
      out[x] = rounded(0.299f * chroma_[1][i] + 0.587f * luma(values[x]) + 0.114f * chroma_[0][i]);
    }
  }

  void write_rgb(const T* values, uint8_t* out) const {
    for (int64_t x = 0; x < box_.width; ++x) {
      const auto i = static_cast<size_t>(x);
      out[3 * x] = rounded(chroma_[1][i]);
      out[3 * x + 1] = rounded(luma(values[x]));
      out[3 * x + 2] = rounded(chroma_[0][i]);
    }
  }

  void write_converted(const T* values, uint8_t* out) const {
    const float* const cb = chroma_[0].data();
    const float* const cr = chroma_[1].data();
    const Factors f = factors_;
    for (int64_t x = 0; x < box_.width; ++x) {
      const float y = static_cast<float>(values[x]) * f.luma + f.luma_offset;
      out[3 * x] = rounded(y + f.red_cr * cr[x]);
      out[3 * x + 1] = rounded(y + f.green_cb * cb[x] + f.green_cr * cr[x]);
      out[3 * x + 2] = rounded(y + f.blue_cb * cb[x]);
    }
  }

  const PlanarPicture& picture_;
  const Box box_;
  const Factors factors_ = factors_of(picture_);
  std::vector<Between> columns_;
  std::vector<int> blended_;
  std::array<std::vector<float>, 2> chroma_;
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
