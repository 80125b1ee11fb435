#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "buffer.h"
#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/orientation.h"
#include "fuelrail/encode/jpeg_encoder.h"
#include "fuelrail/encode/png_encoder.h"

namespace fuelrail::python {
namespace {

// Converts RGB and RGBA to BGR and BGRA, and back.
void exchange_red_and_blue(ImageView image) {
  if (image.channels < 3) return;
  for (int64_t y = 0; y < image.height; ++y) {
    uint8_t* const row = image.row(y);
    for (int64_t x = 0; x < image.width * image.channels; x += image.channels) {
      std::swap(row[x], row[x + 2]);
    }
  }
}

// `channels`: 0 means as stored.
NewImage decoded(const EncodedImage& encoded, const ImageInfo& info, int64_t channels) {
  NewImage image;
  const auto memory = [&](int64_t count) {
    image = make_image(info.stored, count);
    return image.view;
  };
  const std::unique_ptr<Decoder> decoder = make_decoder();
  if (channels != 0) {
    decode_whole(*decoder, encoded, info, memory(channels));
    return image;
  }
  if (info.bits > 8) {
    throw UnsupportedError("the image has more than 8 bits per channel",
                           {.found = fmt::format("{} bits", info.bits),
                            .remedy = "Set `iscolor` to 0 (grey) or 1 (colour) to get the upper "
                                      "8 bits"});
  }
  decode_as_stored(*decoder, encoded, info, memory);
  return image;
}

Array pixels_of(const EncodedImage& encoded, int64_t channels, bool upright, bool bgr,
                int64_t max_pixels) {
  const ImageInfo info = probe(encoded, max_pixels);
  NewImage image = decoded(encoded, info, channels);
  if (upright && info.orientation != 1) {
    NewImage turned = make_image(info.oriented(), image.view.channels);
    turn_upright(image.view, info.orientation, turned.view);
    image = std::move(turned);
  }
  if (bgr) exchange_red_and_blue(image.view);
  return std::move(image.array);
}

// `channels`: 1, 3 or 4; 0 means as stored.
Array decode_image(const Any& encoded, int channels, bool upright, bool bgr, int64_t max_pixels) {
  const Buffer buffer(encoded);
  const GilReleased released;
  return pixels_of(buffer.bytes(), channels, upright, bgr, max_pixels);
}

RawView view_of(const Array& array, Size size, ValueLayout layout) {
  RawView view{array.data, size.height, size.width, layout.channels, layout.dtype, 0};
  view.row_stride_bytes = view.row_bytes();
  return view;
}

// An array (height, width), with a third extent if there are several channels.
Array make_values(Size size, ValueLayout layout) {
  std::vector<int64_t> shape{size.height, size.width};
  if (layout.channels > 1) shape.push_back(layout.channels);
  return make_array(layout.dtype, std::move(shape));
}

Array values_of(const EncodedImage& encoded, ValueEncoding encoding, bool upright,
                int64_t max_pixels) {
  const ImageInfo info = probe(encoded, max_pixels);
  const ValueLayout layout = value_layout(info, encoding);
  Array values = make_values(info.stored, layout);
  const RawView stored = view_of(values, info.stored, layout);
  decode_all_values(*make_decoder(), encoded, info, encoding, stored);
  if (!upright || info.orientation == 1) return values;
  Array turned = make_values(info.oriented(), layout);
  turn_upright(stored.bytes_image(), info.orientation,
               view_of(turned, info.oriented(), layout).bytes_image());
  return turned;
}

Array decode_values(const Any& encoded, bool rgb, bool upright, int64_t max_pixels) {
  const Buffer buffer(encoded);
  const GilReleased released;
  return values_of(buffer.bytes(), rgb ? ValueEncoding::kRgb : ValueEncoding::kStored, upright,
                   max_pixels);
}

// `item`: given for a list, and only then.
EncodedImage image_in(const FieldSpec& field, const FieldValue& value,
                      std::optional<uint64_t> item) {
  if (!field.has(kListField)) {
    if (!item) return value;
    throw InvalidArgumentError(fmt::format("the field '{}' is one image, not a list", field.name),
                               {.remedy = "Omit `item`"});
  }
  if (!item) {
    throw InvalidArgumentError(fmt::format("the field '{}' is a list of images", field.name),
                               {.remedy = "Pass the number of one of them as `item`"});
  }
  if (*item < value.items.size()) return value.items[*item];
  throw OutOfRangeError(fmt::format("the list '{}' has no such item", field.name),
                        {.expected = fmt::format("`item` below {}", value.items.size()),
                         .found = fmt::format("{}", *item)});
}

Array decode_record(const Record& record, const std::string& name, std::optional<uint64_t> item,
                    bool upright, int64_t max_pixels) {
  const GilReleased released;
  const Schema& schema = record.container->schema();
  const size_t index = schema.index_of(name);
  const FieldSpec& field = schema.fields[index];
  if (field.kind != FieldKind::kImage) {
    throw InvalidArgumentError("the field is not an encoded image",
                               {.found = "field '" + name + "'"});
  }
  const EncodedImage image = image_in(field, record.sample.fields[index], item);
  ErrorDetail place = record.place.detail();
  place.field = image_name(schema, index, item.value_or(0));
  try {
    if (!field.has_values()) return pixels_of(image, 3, upright, false, max_pixels);
    return values_of(image, field.has(kRgbMask) ? ValueEncoding::kRgb : ValueEncoding::kStored,
                     upright, max_pixels);
  } catch (Error& error) {
    error.add(place);
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError("there is not enough memory for the image's pixels", place);
  }
}

// The pixels for the encoders: in RGB order, without alpha if the format has none.
NewImage image_from(Bytes pixels, Size size, int64_t channels, bool bgr, bool drop_alpha) {
  NewImage image = make_image(size, drop_alpha && channels == 4 ? 3 : channels);
  const auto* from = reinterpret_cast<const uint8_t*>(pixels.data());
  uint8_t* to = image.view.data;
  const int64_t kept = image.view.channels;
  if (kept == channels) {
    std::memcpy(to, from, pixels.size());
  } else {
    for (int64_t i = 0; i < size.height * size.width; ++i, from += channels, to += kept) {
      std::copy(from, from + kept, to);
    }
  }
  if (bgr) exchange_red_and_blue(image.view);
  return image;
}

// `pixels`: height x width x channels bytes. `setting`: a JPEG's quality, a PNG's level.
nb::bytes encode_image(const Any& pixels, int64_t height, int64_t width, int64_t channels, bool bgr,
                       bool png, int setting) {
  const Buffer buffer(pixels);
  std::vector<std::byte> encoded;
  {
    const GilReleased released;
    if (buffer.bytes().size() != static_cast<size_t>(height * width * channels)) {
      throw InvalidArgumentError(
          "the number of pixel bytes does not match the shape",
          {.expected = fmt::format("{} x {} x {} bytes", height, width, channels),
           .found = fmt::format("{} bytes", buffer.bytes().size())});
    }
    const NewImage image = image_from(buffer.bytes(), {height, width}, channels, bgr, !png);
    if (png) {
      encode_png(image.view, setting, encoded);
    } else {
      encode_jpeg(image.view, setting, encoded);
    }
  }
  return nb::bytes(encoded.data(), encoded.size());
}

}  // namespace

void bind_image(nb::module_& module) {
  module.attr("DEFAULT_MAX_PIXELS") = kDefaultMaxPixels;
  module.def(
      "decode", decode_record, nb::arg("record"), nb::arg("field"), nb::arg("item").none(),
      nb::arg("upright"), nb::arg("max_pixels"),
      "Decodes an image field of a record to uint8 RGB pixels of shape (height, width, 3), or "
      "a mask or map to its values. `item`: of a list.");
  module.def("decode_image", decode_image, nb::arg("encoded"), nb::arg("channels"),
             nb::arg("upright"), nb::arg("bgr"), nb::arg("max_pixels"),
             "Decodes an image to uint8 pixels of shape (height, width, channels).");
  module.def("decode_values", decode_values, nb::arg("encoded"), nb::arg("rgb"), nb::arg("upright"),
             nb::arg("max_pixels"),
             "Decodes an image to its values: uint8, uint16, int32 or float32, of shape (height, "
             "width) or (height, width, channels). With `rgb`, red + 256 green + 65536 blue.");
  module.def("encode_image", encode_image, nb::arg("pixels"), nb::arg("height"), nb::arg("width"),
             nb::arg("channels"), nb::arg("bgr"), nb::arg("png"), nb::arg("setting"));
}

}  // namespace fuelrail::python
