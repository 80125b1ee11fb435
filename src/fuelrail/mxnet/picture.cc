#include "fuelrail/mxnet/picture.h"

#include <algorithm>
#include <cstring>

namespace fuelrail::mxnet {
namespace {

void fill_row(uint8_t* row, int64_t pixels, int64_t channels, uint8_t fill) {
  std::memset(row, fill, static_cast<size_t>(pixels * channels));
  if (channels != 4) return;
  for (int64_t x = 0; x < pixels; ++x) row[4 * x + 3] = 0;
}

// Copies one channel of `from` to one channel of `to`.
void copy_channel(ConstImageView from, int64_t from_channel, ImageView to, int64_t to_channel) {
  for (int64_t y = 0; y < from.height; ++y) {
    const uint8_t* source = from.row(y) + from_channel;
    uint8_t* target = to.row(y) + to_channel;
    for (int64_t x = 0; x < from.width; ++x) target[x * to.channels] = source[x * from.channels];
  }
}

}  // namespace

void Picture::begin(ConstImageView image) {
  view_ = image;
  ours_ = false;
}

ImageView Picture::other(Size size) {
  return buffers_[ours_ ? 1 - turn_ : turn_].resize(size, 0, view_.channels);
}

void Picture::turn_to(ImageView view) {
  if (ours_) turn_ = 1 - turn_;
  ours_ = true;
  view_ = view;
  own_ = view;
}

ImageView Picture::own() {
  if (!ours_) replace(size(), copy_rows);
  return own_;
}

void Picture::resize(Size to, CvInterpolation interpolation) {
  replace(to, [&](ConstImageView from, ImageView result) {
    resizer_.resize(from, result, interpolation);
  });
}

void Picture::resize(Box held, const CvResizeStep& step) {
  replace(step.window.size(), [&](ConstImageView from, ImageView result) {
    resizer_.resize(from, held, step, result);
  });
}

void Picture::warp(Size to, const CvAffine& affine, CvInterpolation interpolation, uint8_t fill) {
  replace(to, [&](ConstImageView from, ImageView result) {
    cv_warp_affine(from, affine, interpolation, fill, result);
    if (from.channels != 4 || fill == 0) return;
    const ImageView alpha = planes_[0].resize(from.size(), 0, 1);
    const ImageView warped = planes_[1].resize(to, 0, 1);
    copy_channel(from, 3, alpha, 0);
    cv_warp_affine(alpha, affine, interpolation, 0, warped);
    copy_channel(warped, 0, result, 3);
  });
}

void Picture::crop(Box box) {
  view_ = view_.crop(box);
  if (ours_) own_ = own_.crop(box);
}

void Picture::pad(const Margins& margins, uint8_t fill) {
  const Size to{view_.height + margins.top + margins.bottom,
                view_.width + margins.left + margins.right};
  replace(to, [&](ConstImageView from, ImageView result) {
    const int64_t channels = from.channels;
    for (int64_t y = 0; y < to.height; ++y) {
      uint8_t* row = result.row(y);
      const int64_t source = y - margins.top;
      if (source < 0 || source >= from.height) {
        fill_row(row, to.width, channels, fill);
        continue;
      }
      uint8_t* const pixels = row + margins.left * channels;
      fill_row(row, margins.left, channels, fill);
      std::memcpy(pixels, from.row(source), static_cast<size_t>(from.width * channels));
      fill_row(pixels + from.width * channels, margins.right, channels, fill);
    }
  });
}

void Picture::flip() {
  replace(size(), [](ConstImageView from, ImageView to) {
    for (int64_t y = 0; y < from.height; ++y) {
      const uint8_t* source = from.row(y) + (from.width - 1) * from.channels;
      uint8_t* target = to.row(y);
      for (int64_t x = 0; x < from.width; ++x) {
        std::copy_n(source, from.channels, target);
        source -= from.channels;
        target += from.channels;
      }
    }
  });
}

}  // namespace fuelrail::mxnet
