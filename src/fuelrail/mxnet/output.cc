#include "fuelrail/mxnet/output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuelrail/base/error.h"
#include "fuelrail/mxnet/option_checks.h"
#include "fuelrail/mxnet/output_kernels.h"

namespace fuelrail::mxnet {
namespace {

// As a level is rounded for int8: away from 0 in the middle (C's round), and into 16 bits.
int16_t rounded_mean(float mean) {
  return static_cast<int16_t>(std::round(std::clamp(mean, -32768.0f, 32767.0f)));
}

void require_detection(const OutputOptions& options) {
  const bool random = options.max_random_contrast != 0 || options.max_random_illumination != 0;
  if (options.dtype == MxDType::kFloat32 && !random && !options.mirror && !options.rand_mirror) {
    return;
  }
  throw InvalidArgumentError(
      "detection writes float32, without random noise or mirroring of its own",
      {.remedy = "Mirror with rand_mirror_prob"});
}

}  // namespace

const OptionTable<OutputOptions>& OutputOptions::table() {
  static const auto table = OptionTable<OutputOptions>()
                                .number("mean_r", [](auto& o) -> auto& { return o.mean[0]; })
                                .number("mean_g", [](auto& o) -> auto& { return o.mean[1]; })
                                .number("mean_b", [](auto& o) -> auto& { return o.mean[2]; })
                                .number("mean_a", [](auto& o) -> auto& { return o.mean[3]; })
                                .number("std_r", [](auto& o) -> auto& { return o.std[0]; })
                                .number("std_g", [](auto& o) -> auto& { return o.std[1]; })
                                .number("std_b", [](auto& o) -> auto& { return o.std[2]; })
                                .number("std_a", [](auto& o) -> auto& { return o.std[3]; })
                                .number("scale", &OutputOptions::scale)
                                .choice("dtype", &OutputOptions::dtype,
                                        {{"float32", MxDType::kFloat32},
                                         {"uint8", MxDType::kUint8},
                                         {"int8", MxDType::kInt8}});
  return table;
}

const OptionTable<OutputOptions>& OutputOptions::plain_table() {
  constexpr float kMost = std::numeric_limits<float>::max();
  static const auto table =
      OptionTable<OutputOptions>()
          .flag("mirror", &OutputOptions::mirror)
          .flag("rand_mirror", &OutputOptions::rand_mirror)
          .number("max_random_contrast", &OutputOptions::max_random_contrast, 0, kMost, "")
          .number("max_random_illumination", &OutputOptions::max_random_illumination, 0, kMost, "");
  return table;
}

void check(const OutputOptions& options, const MxShape& shape) {
  check(shape);
  OutputOptions::table().check(options);
  OutputOptions::plain_table().check(options);
  for (size_t c = 0; c < 4; ++c) {
    const std::string name = std::string("std_") + "rgba"[c];
    require_value(options.detection || options.std[c] != 0, name.c_str(), "a number other than 0",
                  options.std[c]);
  }
  if (options.detection) require_detection(options);
  if (options.mean_image && options.mean_image->values.size() !=
                                static_cast<size_t>(options.mean_image->shape.elements())) {
    throw InvalidArgumentError("the mean image has not as many values as its shape",
                               {.expected = fmt::format("{}", options.mean_image->shape.elements()),
                                .found = fmt::format("{}", options.mean_image->values.size())});
  }
  if (options.mean_image && options.mean_image->shape != shape) {
    const MxShape& found = options.mean_image->shape;
    throw InvalidArgumentError(
        "the mean image has not the shape of the images",
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
  if (options_.dtype == MxDType::kInt8 && options_.mean_image) {
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
  if (options_.dtype == MxDType::kUint8 || options_.detection) return chosen;
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
    if (options_.dtype == MxDType::kFloat32) {
      write_floats(pixels, chosen, first, reinterpret_cast<float*>(row));
    } else if (options_.dtype == MxDType::kUint8) {
      write_output_bytes(pixels, planes(reinterpret_cast<uint8_t*>(row), first).data());
    } else {
      write_signed(pixels, first, reinterpret_cast<int8_t*>(row));
    }
  }
}

// Where the element `first` of each channel's plane is.
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
  write_output_floats(pixels, channels.data(), options_.detection,
                      options_.mean_image ? means.data() : nullptr, planes(row, first).data());
}

void OutputWriter::write_signed(const PixelRow& pixels, int64_t first, int8_t* row) const {
  std::array<int16_t, 4> mean{};
  for (size_t c = 0; c < 4; ++c) mean[c] = rounded_mean(options_.mean[c]);
  std::array<const int16_t*, 4> means{};
  if (!mean_levels_.empty()) means = planes(mean_levels_.data(), first);
  write_output_signed(pixels, mean.data(), mean_levels_.empty() ? nullptr : means.data(),
                      planes(row, first).data());
}

}  // namespace fuelrail::mxnet
