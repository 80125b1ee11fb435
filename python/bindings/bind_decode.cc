#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <new>

#include "bindings.h"
#include "fuelrail/base/error.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/decode/orientation.h"

namespace fuelrail::python {
namespace {

// Without a value, so that an image that turns out to be damaged touches little of it.
Array pixels_of(Size size) {
  std::shared_ptr<std::byte[]> memory(
      new std::byte[static_cast<size_t>(size.height) * static_cast<size_t>(size.width) * 3]);
  std::byte* const data = memory.get();
  return {std::move(memory), data, DType::kUint8, {size.height, size.width, 3}};
}

ImageView view_of(const Array& pixels) {
  return {reinterpret_cast<uint8_t*>(pixels.data), pixels.shape[0], pixels.shape[1], 3,
          pixels.shape[1] * 3};
}

Array decode(Bytes encoded, bool upright, int64_t max_pixels) {
  const ImageInfo info = probe(encoded, max_pixels);
  const Array stored = pixels_of(info.stored);
  DecodeJob job{
      .encoded = encoded, .info = info, .box = whole(info.stored), .output = view_of(stored)};
  make_decoder()->decode({&job, 1});
  if (job.error) std::rethrow_exception(job.error);
  if (!upright || info.orientation == 1) return stored;
  const Array turned = pixels_of(info.oriented());
  turn_upright(job.output, info.orientation, view_of(turned));
  return turned;
}

ErrorDetail place_of(const Record& record) {
  return {.path = record.place.path, .record = record.place.record, .offset = record.place.offset};
}

Array decode_record(const Record& record, const std::string& field, bool upright,
                    int64_t max_pixels) {
  const GilReleased released;
  const Schema& schema = record.container->schema();
  const size_t index = schema.index_of(field);
  if (schema.fields[index].kind != FieldKind::kImage) {
    throw InvalidArgumentError("the field is not an encoded image", {.found = "'" + field + "'"});
  }
  try {
    return decode(record.sample.fields[index].bytes, upright, max_pixels);
  } catch (Error& error) {
    error.add(place_of(record));
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemoryError("there is not enough memory for the image's pixels", place_of(record));
  }
}

}  // namespace

void bind_decode(nb::module_& module) {
  module.attr("DEFAULT_MAX_PIXELS") = kDefaultMaxPixels;
  module.def("decode", decode_record, nb::arg("record"), nb::arg("field"), nb::arg("upright"),
             nb::arg("max_pixels"), "uint8 pixels (height, width, 3), RGB.");
}

}  // namespace fuelrail::python
