// Fills the values of a sample that is to be packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/decode/values.h"
#include "fuelrail/pack/source/sample_source.h"

namespace fuelrail::pack {

// Requires: the product of the extents is the number of elements.
template <typename T>
void set_tensor(std::vector<int64_t> shape, std::span<const T> elements, SourceValue& value) {
  const auto bytes = std::as_bytes(elements);
  value.bytes.assign(bytes.begin(), bytes.end());
  value.shape = std::move(shape);
}

template <typename T>
void set_scalar(T element, SourceValue& value) {
  set_tensor(std::vector<int64_t>{}, std::span<const T>(&element, 1), value);
}

// An int64 tensor of 1, 2, ..., count.
void set_counting(uint64_t count, SourceValue& value);

// The text field `file_name`: the image's path, relative to the folder of images.
FieldSpec file_name_field();

void set_text(std::string_view text, SourceValue& value);
void set_texts(std::span<const std::string> texts, SourceValue& value);

// Sets the value to the bytes of an image file. Returns: its header. Errors: those of
// SampleSource::read, and those of `probe`.
ImageInfo set_image(const std::string& uri, SourceValue& value);

// Checks that the upright image has the size that `annotation` gives, such as the text "a.xml".
// Errors: CorruptError that names the image's file, and its EXIF orientation if there is one.
void check_annotated_size(const ImageInfo& image, Size expected, const std::string& file,
                          const std::string& annotation);

// What to do about an image whose annotations refer to another size. Requires: it, or the other
// image that it is compared with, has an EXIF orientation.
std::string orientation_remedy(const ImageInfo& image);

// Errors: UnsupportedError for an image that cannot be a mask, because it is compressed with loss,
// or stores floats, or has no values in this encoding (value_layout).
void check_mask(const ImageInfo& mask, ValueEncoding encoding);

// As set_image, for a mask of stored numbers. Errors, besides: those of check_mask.
void set_mask(const std::string& uri, SourceValue& value);

}  // namespace fuelrail::pack
