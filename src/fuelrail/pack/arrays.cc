#include "fuelrail/pack/arrays.h"

#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "fuelrail/base/error.h"
#include "fuelrail/base/half.h"
#include "fuelrail/pack/pack_job.h"
#include "fuelrail/pack/plan.h"
#include "fuelrail/pack/source/pack_source.h"

namespace fuelrail::pack {
namespace {

struct Half {
  uint16_t bits;
};

template <typename T>
T load_native(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Problems found in an image's values.
struct Found {
  bool nan = false;
  bool clipped = false;  // a value changed by more than the rounding error
};

// The level of a float from 0 to 1.
uint8_t level_of_float(double value, Found& found) {
  const double level = value * 255;
  if (level >= 255) {
    if (level >= 255.5) found.clipped = true;
    return 255;
  }
  if (level > 0) return static_cast<uint8_t>(level + 0.5);
  if (level <= -0.5) found.clipped = true;
  if (std::isnan(level)) found.nan = true;
  return 0;
}

template <typename T>
uint8_t level_of(const std::byte* at, Found& found) {
  if constexpr (std::is_same_v<T, Half>) {
    return level_of_float(from_half(load_native<uint16_t>(at)), found);
  } else if constexpr (std::is_floating_point_v<T>) {
    return level_of_float(load_native<T>(at), found);
  } else {
    const T value = load_native<T>(at);
    if constexpr (std::is_signed_v<T>) {
      if (value < 0) {
        found.clipped = true;
        return 0;
      }
    }
    if constexpr (sizeof(T) > 1) {
      if (value > 255) {
        found.clipped = true;
        return 255;
      }
    }
    return static_cast<uint8_t>(value);
  }
}

// Converts one image, channel by channel, to interleaved levels.
template <typename T>
Found interleave(const ImageArrays& arrays, const std::byte* image, ImageView to) {
  Found found;
  for (int64_t c = 0; c < arrays.channels; ++c) {
    for (int64_t y = 0; y < arrays.height; ++y) {
      const std::byte* at = image + c * arrays.strides_bytes[1] + y * arrays.strides_bytes[2];
      uint8_t* out = to.row(y) + c;
      for (int64_t x = 0; x < arrays.width; ++x, at += arrays.strides_bytes[3]) {
        *out = level_of<T>(at, found);
        out += arrays.channels;
      }
    }
  }
  return found;
}

using Interleave = Found (*)(const ImageArrays&, const std::byte*, ImageView);

Interleave interleave_of(ArrayElement element) {
  switch (element) {
    case ArrayElement::kInt8:
      return interleave<int8_t>;
    case ArrayElement::kUint8:
      return interleave<uint8_t>;
    case ArrayElement::kInt16:
      return interleave<int16_t>;
    case ArrayElement::kUint16:
      return interleave<uint16_t>;
    case ArrayElement::kInt32:
      return interleave<int32_t>;
    case ArrayElement::kUint32:
      return interleave<uint32_t>;
    case ArrayElement::kInt64:
      return interleave<int64_t>;
    case ArrayElement::kUint64:
      return interleave<uint64_t>;
    case ArrayElement::kFloat16:
      return interleave<Half>;
    case ArrayElement::kFloat32:
      return interleave<float>;
    case ArrayElement::kFloat64:
      return interleave<double>;
  }
  throw InvalidArgumentError("`element` is not a value of ArrayElement");
}

class ArraySource final : public PackSource {
 public:
  explicit ArraySource(const ImageArrays& arrays)
      : arrays_(arrays), interleave_(interleave_of(arrays.element)) {}

  uint64_t size() const override { return static_cast<uint64_t>(arrays_.count); }
  const std::vector<std::string>& classes() const override { return classes_; }
  uint64_t id(uint64_t i) const override { return i; }
  std::string path(uint64_t i) const override { return fmt::format("{}[{}]", arrays_.name, i); }

  void read(uint64_t i, SourceImage& out) const override {
    const auto n = static_cast<int64_t>(i);
    out.storage.resize(static_cast<size_t>(arrays_.height * arrays_.width * arrays_.channels));
    const ImageView pixels{reinterpret_cast<uint8_t*>(out.storage.data()), arrays_.height,
                           arrays_.width, arrays_.channels, arrays_.width * arrays_.channels};
    const Found found = interleave_(arrays_, arrays_.data + n * arrays_.strides_bytes[0], pixels);
    if (found.nan) {
      throw CorruptError("a pixel value is not a number",
                         {.expected = "floats from 0 to 1", .found = "NaN"});
    }
    if (found.clipped) note_clipped(i);
    out.pixels = pixels;
    out.id = i;
    const auto labels = arrays_.labels.begin() + n * arrays_.label_width;
    out.labels.assign(labels, labels + arrays_.label_width);
  }

  // The warning about clipped values; empty if no value was clipped. Requires: all images have been
  // read.
  std::string clipped() const {
    if (clipped_ == 0) return "";
    const bool floats = arrays_.element >= ArrayElement::kFloat16;
    return fmt::format(
        "{}: {} image{} values outside {}, which are clipped; the first is {}{}", arrays_.name,
        clipped_.load(), clipped_ == 1 ? " has" : "s have", floats ? "0 to 1" : "0 to 255",
        path(first_clipped_),
        floats ? ". If the values go from 0 to 255, divide them by 255 or convert them to integers"
               : "");
  }

 private:
  void note_clipped(uint64_t i) const {
    ++clipped_;
    uint64_t first = first_clipped_;
    while (i < first && !first_clipped_.compare_exchange_weak(first, i)) {
    }
  }

  const ImageArrays& arrays_;
  Interleave interleave_;
  std::vector<std::string> classes_;
  mutable std::atomic<uint64_t> clipped_ = 0;  // number of images
  mutable std::atomic<uint64_t> first_clipped_ = std::numeric_limits<uint64_t>::max();
};

[[noreturn]] void refuse_arrays(std::string failure, std::string expected, std::string found,
                                std::string remedy = "") {
  throw InvalidArgumentError(
      std::move(failure),
      {.expected = std::move(expected), .found = std::move(found), .remedy = std::move(remedy)});
}

void check_arrays(const ImageArrays& arrays, const PackOptions& options) {
  if (arrays.count < 1 || arrays.height < 1 || arrays.width < 1) {
    refuse_arrays("the array has no images", "at least one image of at least one pixel",
                  fmt::format("N={}, H={}, W={}", arrays.count, arrays.height, arrays.width));
  }
  const auto is_channels = [](int64_t count) { return count == 1 || count == 3 || count == 4; };
  if (!is_channels(arrays.channels)) {
    refuse_arrays(
        "the array has the wrong number of channels", "(N, H, W), (N, 3, H, W) or (N, 4, H, W)",
        fmt::format("{} channels", arrays.channels),
        is_channels(arrays.width) ? "If the array is (N, H, W, C), pass data.transpose(0, 3, 1, 2)"
                                  : "");
  }
  const auto labels = static_cast<uint64_t>(arrays.count * arrays.label_width);
  if (arrays.label_width < 1 || arrays.labels.size() != labels) {
    refuse_arrays("the number of labels is not the number of images times `label_width`",
                  fmt::to_string(labels), fmt::to_string(arrays.labels.size()));
  }
  const auto* steps = std::get_if<ImageSteps>(&options.images);
  if (steps == nullptr || options.resume || !options.root.empty()) {
    refuse_arrays("an option does not apply to arrays",
                  "`images` of the type ImageSteps, no `root` and no `resume`", "other values");
  }
  if (arrays.channels == 4 && steps->encoding == ImageEncoding::kJpeg) {
    refuse_arrays("JPEG cannot store alpha", "the encoding .png", ".jpg",
                  "Encode as .png, or drop the fourth channel");
  }
}

}  // namespace

PackResult pack_arrays(const ImageArrays& arrays, const std::string& output,
                       const PackOptions& options) {
  check_pack_options(output, options);
  check_arrays(arrays, options);
  if (!options.job.overwrite) {
    for (const std::string& uri : output_uris(output, options)) refuse_existing(uri);
  }
  const ArraySource source(arrays);
  PackResult result = PackJob(source, {}, output, options).run();
  if (const std::string said = source.clipped(); !said.empty() && options.job.warn)
    options.job.warn(said);
  return result;
}

}  // namespace fuelrail::pack
