// The kernels process 16 pixels at a time, for any vector length.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fuelrail/mxnet/output.cc"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <fmt/format.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/option_checks.h"
#include "fuelrail/mxnet/output.h"
#include "fuelrail/transform/pixel_row.h"
#include "fuelrail/transform/row_steps-inl.h"

#ifndef FUELRAIL_MXNET_OUTPUT_ONCE
#define FUELRAIL_MXNET_OUTPUT_ONCE
namespace fuelrail::mxnet {
namespace {

// One channel's formula: (level - mean) * factor + offset or, with `divide`, (level - mean) /
// factor * offset. Each operation is rounded to float32.
struct OutputChannel {
  float mean = 0;
  float factor = 1;
  float offset = 0;
};

}  // namespace
}  // namespace fuelrail::mxnet
#endif

HWY_BEFORE_NAMESPACE();
namespace fuelrail::mxnet {
namespace HWY_NAMESPACE {
namespace {

using namespace fuelrail::HWY_NAMESPACE;  // the steps in transform/
namespace hn = hwy::HWY_NAMESPACE;

// Writes output pixels [begin, row.width). `convert` returns the element for (channel, source
// pixel, level).
template <typename Element, typename Convert>
void write_rest(const PixelRow& row, int64_t begin, Element* const* to, Convert convert) {
  for_each_pixel(row, begin, [&](int64_t x, int64_t source, const uint8_t* pixel) {
    for (int64_t c = 0; c < row.channels; ++c) to[c][x] = convert(c, source, pixel[c]);
  });
}

constexpr auto kLevel = [](int64_t, int64_t, uint8_t level) { return level; };

using DF = hn::CappedTag<float, kStep>;
using VF = hn::Vec<DF>;
using DLevels = hn::Rebind<uint8_t, DF>;

// Calls `store(channel, first output pixel, first source pixel, levels)` for each channel of each
// group of 16 pixels. Returns: the first output pixel that remains.
template <typename Store>
HWY_INLINE int64_t for_each_channel(const PixelRow& row, Store store) {
  const auto put = [&](int64_t at, int64_t source, auto... levels) HWY_ATTR {
    int64_t c = 0;
    (store(c++, at, source, levels), ...);
  };
  if (row.channels == 1) return for_each_step<1>(row, put);
  if (row.channels == 3) return for_each_step<3>(row, put);
  return for_each_step<4>(row, put);
}

int64_t WriteByteSteps(const PixelRow& row, uint8_t* const* to) {
  return for_each_channel(row, [&](int64_t c, int64_t at, int64_t, V8 levels)
                                   HWY_ATTR { hn::StoreU(levels, D8(), to[c] + at); });
}

int64_t WriteFloatSteps(const PixelRow& row, const OutputChannel* channels, bool divide,
                        const float* const* means, float* const* to) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(DF()));
  return for_each_channel(row, [&](int64_t c, int64_t at, int64_t source, V8 levels) HWY_ATTR {
    const DF d;
    alignas(16) uint8_t bytes[kStep];
    hn::Store(levels, D8(), bytes);
    const VF factor = hn::Set(d, channels[c].factor);
    const VF offset = hn::Set(d, channels[c].offset);
    VF mean = hn::Set(d, channels[c].mean);
    for (int64_t part = 0; part < kStep; part += kLanes) {
      if (means != nullptr) {
        const int64_t first = row.flip ? kStep - kLanes - part : part;
        mean = hn::LoadU(d, means[c] + source + first);
        if (row.flip) mean = hn::Reverse(d, mean);
      }
      const auto some = hn::Load(DLevels(), bytes + part);
      const VF level = hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<DF>(), some));
      const VF centred = hn::Sub(level, mean);
      const VF value = divide ? hn::Mul(hn::Div(centred, factor), offset)
                              : hn::Add(hn::Mul(centred, factor), offset);
      hn::StoreU(value, d, to[c] + at + part);
    }
  });
}

using D16 = hn::CappedTag<int16_t, kStep>;

// Means and differences are clamped to 16 bits, which is far outside the range of a byte.
int64_t WriteSignedSteps(const PixelRow& row, const int16_t* mean, const int16_t* const* means,
                         int8_t* const* to) {
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(D16()));
  return for_each_channel(row, [&](int64_t c, int64_t at, int64_t source, V8 levels) HWY_ATTR {
    const D16 d;
    alignas(16) uint8_t bytes[kStep];
    hn::Store(levels, D8(), bytes);
    auto centre = hn::Set(d, mean[c]);
    for (int64_t part = 0; part < kStep; part += kLanes) {
      if (means != nullptr) {
        const int64_t first = row.flip ? kStep - kLanes - part : part;
        centre = hn::LoadU(d, means[c] + source + first);
        if (row.flip) centre = hn::Reverse(d, centre);
      }
      const auto level = hn::PromoteTo(d, hn::Load(hn::Rebind<uint8_t, D16>(), bytes + part));
      const hn::Rebind<int8_t, D16> d_to;
      hn::StoreU(hn::DemoteTo(d_to, hn::SaturatedSub(level, centre)), d_to, to[c] + at + part);
    }
  });
}

// The functions below write one row of interleaved pixels to one row of each channel's plane. `to`,
// `channels` and `mean` have one item per channel. `means` is null, or has one value per pixel for
// each channel, in the order of `row.from`; these values replace the channel's mean.
void WriteBytes(const PixelRow& row, uint8_t* const* to) {
  write_rest(row, WriteByteSteps(row, to), to, kLevel);
}

void WriteFloats(const PixelRow& row, const OutputChannel* channels, bool divide,
                 const float* const* means, float* const* to) {
  const int64_t rest = WriteFloatSteps(row, channels, divide, means, to);
  write_rest(row, rest, to, [&](int64_t c, int64_t source, uint8_t level) {
    const OutputChannel& channel = channels[c];
    const float mean = means != nullptr ? means[c][source] : channel.mean;
    const float centred = static_cast<float>(level) - mean;
    if (divide) return centred / channel.factor * channel.offset;
    return centred * channel.factor + channel.offset;
  });
}

// level - mean, clamped to -128 to 127.
void WriteSigned(const PixelRow& row, const int16_t* mean, const int16_t* const* means,
                 int8_t* const* to) {
  const int64_t rest = WriteSignedSteps(row, mean, means, to);
  write_rest(row, rest, to, [&](int64_t c, int64_t source, uint8_t level) {
    const int value = level - (means != nullptr ? means[c][source] : mean[c]);
    return static_cast<int8_t>(value < -128 ? -128 : (value > 127 ? 127 : value));
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace fuelrail::mxnet
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace fuelrail::mxnet {
namespace {

HWY_EXPORT(WriteBytes);
HWY_EXPORT(WriteFloats);
HWY_EXPORT(WriteSigned);

// Rounds a mean for int8, with halves away from 0 (C's round), and clamps it to 16 bits.
int16_t rounded_mean(float mean) {
  return static_cast<int16_t>(std::round(std::clamp(mean, -32768.0f, 32767.0f)));
}

void require_detection(const OutputOptions& options) {
  const bool random = options.max_random_contrast != 0 || options.max_random_illumination != 0;
  if (options.dtype == DType::kFloat32 && !random && !options.mirror && !options.rand_mirror) {
    return;
  }
  throw InvalidArgumentError(
      "detection supports only dtype float32, and does not support max_random_contrast, "
      "max_random_illumination, mirror or rand_mirror",
      {.remedy = "To mirror images, set rand_mirror_prob"});
}

}  // namespace

const OptionTable<OutputOptions>& OutputOptions::table() {
  static const auto table = [] {
    OptionTable<OutputOptions> rows;
    for (size_t c = 0; c < 4; ++c) {
      rows.number(
          std::string("mean_") + "rgba"[c], [c](auto& o) -> auto& { return o.mean[c]; },
          "Value that is subtracted from this channel. ImageDetRecordIter uses mean_r to mean_a if "
          "at least one of these is above 0, and mean_img otherwise.");
      rows.number(
          std::string("std_") + "rgba"[c], [c](auto& o) -> auto& { return o.std[c]; },
          "Value that divides this channel (float32 only). ImageDetRecordIter ignores values of 0 "
          "and below.");
    }
    return rows
        .number("scale", &OutputOptions::scale,
                "Factor that multiplies all channels (float32 only).")
        .choice("dtype", &OutputOptions::dtype,
                {{"float32", DType::kFloat32}, {"uint8", DType::kUint8}, {"int8", DType::kInt8}},
                "Type of the pixels. float32: (pixel - mean) * scale / std. int8: pixel - mean, "
                "clamped to -128 to 127. uint8: the unchanged pixel. ImageDetRecordIter supports "
                "only float32.");
  }();
  return table;
}

const OptionTable<OutputOptions>& OutputOptions::plain_table() {
  constexpr float kMost = std::numeric_limits<float>::max();
  static const auto table =
      OptionTable<OutputOptions>()
          .flag("mirror", &OutputOptions::mirror, "Mirrors every image left to right.")
          .flag("rand_mirror", &OutputOptions::rand_mirror,
                "Mirrors each image left to right with probability 1/2.")
          .number("max_random_contrast", &OutputOptions::max_random_contrast, 0, kMost,
                  "Multiplies pixels by a random factor in [1 - max_random_contrast, 1 + "
                  "max_random_contrast] (float32 only).")
          .number(
              "max_random_illumination", &OutputOptions::max_random_illumination, 0, kMost,
              "Adds a random number in [-max_random_illumination, max_random_illumination] before "
              "scale and std are applied (float32 only).");
  return table;
}

void check(const OutputOptions& options, const MxShape& shape) {
  check(shape);
  OutputOptions::table().check(options);
  OutputOptions::plain_table().check(options);
  for (size_t c = 0; c < 4; ++c) {
    const std::string name = std::string("std_") + "rgba"[c];
    require_value(options.detection || options.std[c] != 0, name, "a number other than 0",
                  options.std[c]);
  }
  if (options.detection) require_detection(options);
  if (options.mean_image && options.mean_image->values.size() !=
                                static_cast<size_t>(options.mean_image->shape.elements())) {
    throw InvalidArgumentError("the number of values in the mean image does not match its shape",
                               {.expected = fmt::format("{}", options.mean_image->shape.elements()),
                                .found = fmt::format("{}", options.mean_image->values.size())});
  }
  if (options.mean_image && options.mean_image->shape != shape) {
    const MxShape& found = options.mean_image->shape;
    throw InvalidArgumentError(
        "the mean image does not have the shape of the images",
        {.expected = fmt::format("({}, {}, {})", shape.channels, shape.height, shape.width),
         .found = fmt::format("({}, {}, {})", found.channels, found.height, found.width)});
  }
}

OutputWriter::OutputWriter(const OutputOptions& options, const MxShape& shape)
    : options_(options), shape_(shape) {
  check(options, shape);
  if (options_.detection) {
    const auto above = [](float value) { return value > 0; };
    if (std::ranges::any_of(options_.mean, above)) {
      options_.mean_image = nullptr;
    } else {
      options_.mean = {};
    }
    for (float& std : options_.std) std = std > 0 ? std : 1;
  }
  if (options_.dtype == DType::kInt8 && options_.mean_image) {
    for (const float mean : options_.mean_image->values) mean_levels_.push_back(rounded_mean(mean));
  }
}

size_t OutputWriter::row_bytes() const {
  return static_cast<size_t>(shape_.elements()) * size_in_bytes(options_.dtype);
}

OutputWriter::Chosen OutputWriter::choose(Draws& draws) const {
  Chosen chosen;
  const bool turned = options_.rand_mirror && draws.coin();
  chosen.mirror = turned || options_.mirror;
  if (options_.dtype == DType::kUint8 || options_.detection) return chosen;
  const float contrast = options_.max_random_contrast;
  const float illumination = options_.max_random_illumination;
  chosen.contrast = (draws.unit() * contrast * 2 - contrast + 1) * options_.scale;
  chosen.illumination = (draws.unit() * illumination * 2 - illumination) * options_.scale;
  return chosen;
}

void OutputWriter::write(ConstImageView image, Draws& draws, std::byte* row) {
  const Chosen chosen = choose(draws);
  for (int64_t y = 0; y < shape_.height; ++y) {
    const PixelRow pixels{image.row(y), shape_.width, shape_.channels, chosen.mirror};
    const int64_t first = y * shape_.width;
    if (options_.dtype == DType::kFloat32) {
      write_floats(pixels, chosen, first, reinterpret_cast<float*>(row));
    } else if (options_.dtype == DType::kUint8) {
      HWY_DYNAMIC_DISPATCH(WriteBytes)
      (pixels, planes(reinterpret_cast<uint8_t*>(row), first).data());
    } else {
      write_signed(pixels, first, reinterpret_cast<int8_t*>(row));
    }
  }
}

// The addresses of element `first` in each channel's plane.
template <typename Element>
std::array<Element*, 4> OutputWriter::planes(Element* elements, int64_t first) const {
  const int64_t plane = shape_.height * shape_.width;
  std::array<Element*, 4> at{};
  for (int64_t c = 0; c < shape_.channels; ++c) {
    at[static_cast<size_t>(c)] = elements + c * plane + first;
  }
  return at;
}

void OutputWriter::write_floats(const PixelRow& pixels, const Chosen& chosen, int64_t first,
                                float* row) const {
  std::array<OutputChannel, 4> channels;
  for (size_t c = 0; c < 4; ++c) {
    const float std = options_.std[c];
    channels[c] = {options_.mean[c], chosen.contrast / std, chosen.illumination / std};
    if (options_.detection) channels[c] = {options_.mean[c], std, options_.scale};
  }
  std::array<const float*, 4> means{};
  if (options_.mean_image) means = planes(options_.mean_image->values.data(), first);
  HWY_DYNAMIC_DISPATCH(WriteFloats)
  (pixels, channels.data(), options_.detection, options_.mean_image ? means.data() : nullptr,
   planes(row, first).data());
}

void OutputWriter::write_signed(const PixelRow& pixels, int64_t first, int8_t* row) const {
  std::array<int16_t, 4> mean{};
  for (size_t c = 0; c < 4; ++c) mean[c] = rounded_mean(options_.mean[c]);
  std::array<const int16_t*, 4> means{};
  if (!mean_levels_.empty()) means = planes(mean_levels_.data(), first);
  HWY_DYNAMIC_DISPATCH(WriteSigned)
  (pixels, mean.data(), mean_levels_.empty() ? nullptr : means.data(), planes(row, first).data());
}

}  // namespace fuelrail::mxnet
#endif
