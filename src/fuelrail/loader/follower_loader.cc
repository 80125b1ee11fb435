#include "fuelrail/loader/follower_loader.h"

#include <fmt/format.h>

#include <cstring>

#include "fuelrail/base/error.h"
#include "fuelrail/base/half.h"

namespace fuelrail {
namespace {

RawView view_of(std::byte* data, Size size, int64_t channels, DType dtype) {
  RawView view{data, size.height, size.width, channels, dtype, 0};
  view.row_stride_bytes = view.row_bytes();
  return view;
}

RawView scratch_view(Scratch& scratch, Size size, int64_t channels, DType dtype) {
  const auto bytes =
      static_cast<size_t>(size.height * size.width * channels) * size_in_bytes(dtype);
  return view_of(reinterpret_cast<std::byte*>(scratch.take(bytes)), size, channels, dtype);
}

template <typename From, typename To>
void convert_row(const std::byte* from, To* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += sizeof(From)) {
    From number;
    std::memcpy(&number, from, sizeof number);
    to[i] = static_cast<To>(number);
  }
}

void half_row(const std::byte* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += sizeof(uint16_t)) {
    uint16_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    to[i] = from_half(bits);
  }
}

void bfloat16_row(const std::byte* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i, from += sizeof(uint16_t)) {
    uint16_t bits = 0;
    std::memcpy(&bits, from, sizeof bits);
    to[i] = from_bfloat16(bits);
  }
}

// `from` need not be aligned.
void to_float32(DType dtype, const std::byte* from, float* to, int64_t count) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUint8:
      return convert_row<uint8_t>(from, to, count);
    case DType::kInt8:
      return convert_row<int8_t>(from, to, count);
    case DType::kUint16:
      return convert_row<uint16_t>(from, to, count);
    case DType::kInt16:
      return convert_row<int16_t>(from, to, count);
    case DType::kUint32:
      return convert_row<uint32_t>(from, to, count);
    case DType::kInt32:
      return convert_row<int32_t>(from, to, count);
    case DType::kUint64:
      return convert_row<uint64_t>(from, to, count);
    case DType::kInt64:
      return convert_row<int64_t>(from, to, count);
    case DType::kFloat16:
      return half_row(from, to, count);
    case DType::kBfloat16:
      return bfloat16_row(from, to, count);
    case DType::kFloat32:
      return convert_row<float>(from, to, count);
    case DType::kFloat64:
      return convert_row<double>(from, to, count);
  }
}

template <typename To>
void widen_to(ConstRawView from, std::byte* to) {
  auto* const numbers = reinterpret_cast<To*>(to);
  for (int64_t y = 0; y < from.height; ++y) {
    To* const row = numbers + y * from.width;
    if (from.dtype == DType::kUint8) convert_row<uint8_t>(from.row(y), row, from.width);
    if (from.dtype == DType::kUint16) convert_row<uint16_t>(from.row(y), row, from.width);
    if (from.dtype == DType::kInt32) convert_row<int32_t>(from.row(y), row, from.width);
  }
}

// Requires: `dtype` is wider than the mask's type.
void widen(ConstRawView from, DType dtype, std::byte* to) {
  if (dtype == DType::kUint16) return widen_to<uint16_t>(from, to);
  if (dtype == DType::kInt32) return widen_to<int32_t>(from, to);
  widen_to<int64_t>(from, to);
}

// Errors: UnsupportedError if the column's type does not hold the mask's numbers.
void require_fitting(ValueLayout mask, DType column) {
  const bool numbers = mask.dtype != DType::kFloat32 && mask.channels == 1;
  if (numbers && size_in_bytes(mask.dtype) <= size_in_bytes(column)) return;
  if (!numbers) {
    throw UnsupportedError(
        "the values of a mask are not class or object numbers",
        {.expected = "whole numbers, one for each pixel",
         .found = fmt::format("{}, {} channels", name_of(mask.dtype), mask.channels),
         .remedy = "Declare continuous values as fields.Map"});
  }
  throw UnsupportedError(
      "the numbers of a mask do not fit the type of its column",
      {.expected = fmt::format("{}, the type of the first record's mask or of the option `dtype`",
                               name_of(column)),
       .found = name_of(mask.dtype),
       .remedy = fmt::format("Set the type of this field, as in dtype={{\"mask\": \"{}\"}}",
                             name_of(mask.dtype))});
}

}  // namespace

void FollowerLoader::write(const PartnerPixels& program, const SampleMotion::Leader& leader,
                           const Image& image, std::byte* to) {
  follow(leader.plan, leader.motion.image(), image.info.oriented(), program.follower, plan_);
  const Box box = needed_input(plan_.steps.front());
  const ConstImageView input = decoder_.decode(
      {.encoded = image.encoded, .info = image.info, .box = box, .stop = image.stop},
      *image.counts);
  const ConstImageView made = pixels_.run(plan_, input, box);
  program.pixels.writer.write(made, plan_.flip_horizontal, plan_.flip_vertical, to);
}

void FollowerLoader::write(const MaskValues& program, const SampleMotion::Leader& leader,
                           const Image& image, std::byte* to) {
  const ValueLayout layout = value_layout(image.info, program.encoding);
  require_fitting(layout, program.dtype);
  follow(leader.plan, leader.motion.image(), image.info.oriented(), Follower::kMask, plan_);
  const Box box = needed_input(plan_.steps.front());
  const ConstRawView input = decoder_.decode_values(
      {.encoded = image.encoded, .info = image.info, .box = box, .stop = image.stop},
      program.encoding, *image.counts);
  const ConstRawView numbers = with_room_for(program, input);
  if (numbers.dtype == program.dtype) {
    return masks_.run(plan_, numbers, box, program.fill,
                      view_of(to, plan_.output, 1, numbers.dtype));
  }
  const RawView narrow = scratch_view(output_, plan_.output, 1, numbers.dtype);
  masks_.run(plan_, numbers, box, program.fill, narrow);
  widen(narrow, program.dtype, to);
}

// The mask in a type that holds the number beyond its edges.
ConstRawView FollowerLoader::with_room_for(const MaskValues& program, ConstRawView mask) {
  if (mask.dtype != DType::kUint8 || program.fill <= UINT8_MAX) return mask;
  const DType dtype = program.dtype == DType::kUint16 ? DType::kUint16 : DType::kInt32;
  const RawView wide = scratch_view(input_, mask.size(), 1, dtype);
  widen(mask, dtype, wide.data);
  return wide;
}

void FollowerLoader::write(const MapValues& program, const SampleMotion::Leader& leader,
                           const Image& image, std::byte* to) {
  const Size size = image.info.oriented();
  follow(leader.plan, leader.motion.image(), size, Follower::kMap, plan_);
  const Box box = needed_input(plan_.steps.front());
  const ConstRawView values = decoder_.decode_values(
      {.encoded = image.encoded, .info = image.info, .box = box, .stop = image.stop},
      ValueEncoding::kStored, *image.counts);
  run_map(program, leader.motion, size, values, box, to);
}

void FollowerLoader::write(const MapValues& program, const SampleMotion::Leader& leader,
                           ConstRawView tensor, std::byte* to) {
  if (tensor.channels == 0) throw CorruptError("a map has no channels");
  follow(leader.plan, leader.motion.image(), tensor.size(), Follower::kMap, plan_);
  const Box box = needed_input(plan_.steps.front());
  run_map(program, leader.motion, tensor.size(), tensor.crop(box), box, to);
}

void FollowerLoader::run_map(const MapValues& program, const Motion& motion, Size map,
                             ConstRawView values, Box box, std::byte* to) {
  const int64_t channels = values.channels;
  if (program.channels >= 0 && channels != program.channels) {
    throw UnsupportedError(
        "a map does not have the number of channels of its column",
        {.expected = fmt::format("{}, as in the first record", program.channels),
         .found = fmt::format("{}", channels),
         .remedy = "Pack maps with different numbers of channels as different fields"});
  }
  if (program.vectors || values.dtype != DType::kFloat32) {
    const RawView floats = scratch_view(input_, box.size(), channels, DType::kFloat32);
    for (int64_t y = 0; y < box.height; ++y) {
      to_float32(values.dtype, values.row(y), floats.row_of<float>(y), box.width * channels);
    }
    if (program.vectors) move_vectors(motion, map, floats);
    values = floats;
  }
  const Size size = plan_.output;
  if (channels == 1 || program.layout == ImageLayout::kNhwc) {
    return maps_.run(plan_, values, box, program.fill,
                     view_of(to, size, channels, DType::kFloat32));
  }
  const RawView mixed = scratch_view(output_, size, channels, DType::kFloat32);
  maps_.run(plan_, values, box, program.fill, mixed);
  const auto* const from = reinterpret_cast<const float*>(mixed.data);
  auto* next = reinterpret_cast<float*>(to);
  const int64_t pixels = size.height * size.width;
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t i = 0; i < pixels; ++i) *next++ = from[i * channels + channel];
  }
}

}  // namespace fuelrail
