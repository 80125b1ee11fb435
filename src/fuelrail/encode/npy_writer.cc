#include "fuelrail/encode/npy_writer.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"

namespace fuelrail {
namespace {

constexpr size_t kAlignment = 64;     // of the elements' position; from version 1.0 on
constexpr size_t kExtentDigits = 21;  // NumPy leaves room for the first extent to grow to this many

const char* descr_of(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return "|u1";
    case DType::kUint16:
      return "<u2";
    case DType::kInt32:
      return "<i4";
    case DType::kFloat16:
      return "<f2";
    case DType::kFloat32:
      return "<f4";
    default:
      throw InvalidArgumentError(
          "arrays of this element type are not written as .npy files",
          {.expected = "uint8, uint16, int32, float16 or float32", .found = name_of(dtype)});
  }
}

std::string dict_of(ConstRawView array) {
  const std::string channels = array.channels == 1 ? "" : fmt::format(", {}", array.channels);
  return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}{}), }}",
                     descr_of(array.dtype), array.height, array.width, channels);
}

// Magic, version, length and the dict, padded with spaces and a line break.
void append_header(ConstRawView array, std::vector<std::byte>& out) {
  constexpr std::string_view kMagic("\x93NUMPY\1\0", 8);
  constexpr size_t kBefore = kMagic.size() + 2;
  std::string dict = dict_of(array);
  dict.append(kExtentDigits - fmt::formatted_size("{}", array.height), ' ');
  dict.append(kAlignment - (kBefore + dict.size() + 1) % kAlignment, ' ');
  dict += '\n';
  append_bytes(out, as_bytes(kMagic));
  append_le(out, static_cast<uint16_t>(dict.size()));
  append_bytes(out, as_bytes(dict));
}

}  // namespace

void encode_npy_header(ConstRawView array, std::vector<std::byte>& out) {
  out.clear();
  append_header(array, out);
}

void encode_npy(ConstRawView array, std::vector<std::byte>& out) {
  encode_npy_header(array, out);
  const auto row_bytes = static_cast<size_t>(array.row_bytes());
  size_t at = out.size();
  out.resize(at + static_cast<size_t>(array.height) * row_bytes);
  for (int64_t y = 0; y < array.height; ++y, at += row_bytes) {
    std::memcpy(out.data() + at, array.row(y), row_bytes);
  }
}

}  // namespace fuelrail
