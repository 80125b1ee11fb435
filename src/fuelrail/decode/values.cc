#include "fuelrail/decode/values.h"

#include <fmt/format.h>

#include <string>

#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

std::string kind_of(const ImageInfo& info) {
  return fmt::format("{}, {} channels of {} bits{}", info.format->title, info.channels, info.bits,
                     info.palette ? ", a palette" : "");
}

ValueLayout stored_layout(const ImageInfo& info) {
  if (info.values) return {*info.values, info.palette ? 1 : info.channels};
  throw UnsupportedError(
      "the image has colours or alpha, so its pixels are not single values",
      {.expected = "a grey image or an image with a palette",
       .found = kind_of(info),
       .remedy = "Store the values as a grey PNG or as a .npy file. If the colours stand for "
                 "numbers (red + 256 green + 65536 blue), declare the field as "
                 "F.Mask(encoding=\"rgb\") in Python"});
}

ValueLayout rgb_layout(const ImageInfo& info) {
  if (info.lossy) {
    throw UnsupportedError("lossy compression changes colours, so they cannot stand for numbers",
                           {.found = kind_of(info), .remedy = "Store the mask as PNG"});
  }
  const bool colours = info.channels == 3 || (info.channels == 4 && info.alpha);
  if (!colours || (info.bits > 8 && !info.palette)) {
    throw UnsupportedError(
        "the image does not have 8-bit colours that stand for numbers",
        {.expected = "an RGB image or an image with a palette",
         .found = kind_of(info),
         .remedy = "If its grey levels are the numbers, declare the mask with encoding=\"index\""});
  }
  return {DType::kInt32, 1};
}

}  // namespace

ValueLayout value_layout(const ImageInfo& info, ValueEncoding encoding) {
  return encoding == ValueEncoding::kRgb ? rgb_layout(info) : stored_layout(info);
}

}  // namespace fuelrail
