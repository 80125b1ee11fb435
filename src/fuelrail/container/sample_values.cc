#include "fuelrail/container/sample_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/base/utf8.h"
#include "fuelrail/container/field_rules.h"

namespace fuelrail {
namespace {

template <typename BadValueError>
void check_text(const FieldSpec& field, Bytes bytes) {
  const size_t valid = utf8_bytes(as_text(bytes));
  if (valid == bytes.size()) return;
  throw BadValueError(
      fmt::format("the text of field '{}' is not UTF-8", field.name),
      {.found = fmt::format("{:#04x} at byte {}", std::to_integer<int>(bytes[valid]), valid)});
}

template <typename BadValueError>
void check_bools(const FieldSpec& field, Bytes bytes) {
  const auto bad = std::ranges::find_if(bytes, [](std::byte b) { return b > std::byte{1}; });
  if (bad == bytes.end()) return;
  throw BadValueError(
      fmt::format("field '{}' has a bool that is neither 0 nor 1", field.name),
      {.found = fmt::format("{} at element {}", std::to_integer<int>(*bad), bad - bytes.begin())});
}

template <typename Number>
std::array<double, 4> numbers_of_box(const std::byte* at) {
  std::array<double, 4> box;
  for (size_t k = 0; k < 4; ++k) {
    box[k] = static_cast<double>(load_le<Number>(at + k * sizeof(Number)));
  }
  return box;
}

bool is_box(const std::array<double, 4>& box, BoxFormat format) {
  if (!std::ranges::all_of(box, [](double number) { return std::isfinite(number); })) return false;
  if (format == BoxFormat::kXyxy) return box[2] >= box[0] && box[3] >= box[1];
  return box[2] >= 0 && box[3] >= 0;
}

// Whether float32 can hold the corners. Then no transform leaves the range of double.
bool has_near_corners(const std::array<double, 4>& box, BoxFormat format) {
  constexpr double kMost = std::numeric_limits<float>::max();
  for (size_t k = 0; k < 2; ++k) {
    const double begin = format == BoxFormat::kCxcywh ? box[k] - box[k + 2] / 2 : box[k];
    const double end = format == BoxFormat::kXyxy ? box[k + 2] : begin + box[k + 2];
    if (begin < -kMost || end > kMost) return false;
  }
  return true;
}

template <typename BadValueError>
void check_boxes(const FieldSpec& field, Bytes bytes) {
  const auto format = static_cast<BoxFormat>(field.detail);
  const size_t box_bytes = 4 * size_in_bytes(field.dtype);
  for (size_t at = 0; at < bytes.size(); at += box_bytes) {
    const std::array<double, 4> box = field.dtype == DType::kFloat32
                                          ? numbers_of_box<float>(bytes.data() + at)
                                          : numbers_of_box<double>(bytes.data() + at);
    const bool right = is_box(box, format);
    if (right && has_near_corners(box, format)) continue;
    ErrorDetail detail{.found = fmt::format("[{}] in row {}", fmt::join(box, ", "), at / box_bytes),
                       .remedy = "Check the format of the boxes, or leave out the object"};
    if (right) {
      throw BadValueError(
          fmt::format("field '{}' has a box with a corner that float32 cannot hold", field.name),
          std::move(detail));
    }
    detail.expected = format == BoxFormat::kXyxy ? "numbers with x1 <= x2 and y1 <= y2"
                                                 : "numbers with width and height of at least 0";
    throw BadValueError(
        fmt::format("field '{}' has a box that is not finite or is inverted", field.name),
        std::move(detail));
  }
}

template <typename BadValueError>
void check_image(const FieldSpec& field, Bytes bytes) {
  if (!bytes.empty()) return;
  throw BadValueError(fmt::format("the image of field '{}' is empty", field.name),
                      {.expected = "the bytes of an encoded image"});
}

}  // namespace

template <typename BadValueError>
void check_value(const FieldSpec& field, Bytes bytes) {
  switch (field.kind) {
    case FieldKind::kImage:
      return check_image<BadValueError>(field, bytes);
    case FieldKind::kText:
      return check_text<BadValueError>(field, bytes);
    case FieldKind::kTensor:
      if (field.dtype == DType::kBool) check_bools<BadValueError>(field, bytes);
      if (field.role == Role::kBoxes) check_boxes<BadValueError>(field, bytes);
      return;
    case FieldKind::kBytes:
      return;
  }
}

template <typename BadValueError>
uint64_t bytes_of_shape(const FieldSpec& field, const std::vector<int64_t>& shape) {
  const auto fits = [](int64_t expected, int64_t found) {
    return expected == -1 ? found >= 0 : found == expected;
  };
  if (!std::ranges::equal(field.shape, shape, fits) || !bounded_bytes(shape, field.dtype)) {
    throw BadValueError(
        fmt::format("the value of field '{}' has the wrong shape", field.name),
        {.expected = fmt::format("[{}], at most 2 GiB", fmt::join(field.shape, ", ")),
         .found = fmt::format("[{}]", fmt::join(shape, ", "))});
  }
  uint64_t bytes = size_in_bytes(field.dtype);
  for (const int64_t extent : shape) bytes *= static_cast<uint64_t>(extent);
  return bytes;
}

template <typename BadValueError>
void check_labels(const FieldSpec& field, Bytes bytes, uint64_t classes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof(int64_t)) {
    const auto label = load_le<int64_t>(&bytes[at]);
    if (label >= 0 && static_cast<uint64_t>(label) < classes) continue;
    throw BadValueError(
        fmt::format("field '{}' has a label that is not one of its classes", field.name),
        {.expected =
             fmt::format("0 to {}, because the number of class names is {}", classes - 1, classes),
         .found = fmt::format("{} in row {}", label, at / sizeof(int64_t)),
         .remedy = "Add the class to the class names, or leave out the object"});
  }
}

template <typename BadValueError>
void check_row_count(const FieldSpec& field, const FieldValue& value, const FieldSpec& first,
                     const FieldValue& first_value) {
  if (value.shape[0] == first_value.shape[0]) return;
  throw BadValueError(
      fmt::format("fields '{}' and '{}' have different numbers of rows", first.name, field.name),
      {.expected = fmt::format("{} in both", first_value.shape[0]),
       .found = fmt::format("{} in '{}'", value.shape[0], field.name),
       .remedy = "Give each of them one row for each object, or another group of rows"});
}

template void check_value<InvalidArgumentError>(const FieldSpec&, Bytes);
template void check_value<CorruptError>(const FieldSpec&, Bytes);
template uint64_t bytes_of_shape<InvalidArgumentError>(const FieldSpec&,
                                                       const std::vector<int64_t>&);
template uint64_t bytes_of_shape<CorruptError>(const FieldSpec&, const std::vector<int64_t>&);
template void check_labels<InvalidArgumentError>(const FieldSpec&, Bytes, uint64_t);
template void check_labels<CorruptError>(const FieldSpec&, Bytes, uint64_t);
template void check_row_count<InvalidArgumentError>(const FieldSpec&, const FieldValue&,
                                                    const FieldSpec&, const FieldValue&);
template void check_row_count<CorruptError>(const FieldSpec&, const FieldValue&, const FieldSpec&,
                                            const FieldValue&);

}  // namespace fuelrail
