#include "fuelrail/pack/source/source_values.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>

#include "fuelrail/base/error.h"
#include "fuelrail/decode/probe.h"
#include "fuelrail/pack/source/pack_source.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::pack {
namespace {

ImageInfo read_image_file(const std::string& uri, SourceValue& value) {
  const std::shared_ptr<const Source> source = file_system_for(uri).open(uri);
  check_record_length(source->size_bytes());
  value.bytes.resize(source->size_bytes());
  source->read(0, value.bytes);
  value.pixel_bytes = 0;
  value.file = uri;
  try {
    return probe(EncodedImage(value.bytes));
  } catch (Error& error) {
    error.add({.path = uri});
    throw;
  }
}

}  // namespace

void set_counting(uint64_t count, SourceValue& value) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1);
  set_tensor<int64_t>({static_cast<int64_t>(count)}, numbers, value);
}

FieldSpec file_name_field() { return {.name = "file_name", .kind = FieldKind::kText}; }

void set_text(std::string_view text, SourceValue& value) {
  const Bytes bytes = as_bytes(text);
  value.bytes.assign(bytes.begin(), bytes.end());
}

void set_texts(std::span<const std::string> texts, SourceValue& value) {
  value.items.resize(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    const Bytes bytes = as_bytes(texts[i]);
    value.items[i].assign(bytes.begin(), bytes.end());
  }
}

ImageInfo set_image(const std::string& uri, SourceValue& value) {
  return read_image_file(uri, value);
}

void check_annotated_size(const ImageInfo& image, Size expected, const std::string& file,
                          const std::string& annotation) {
  const Size found = image.oriented();
  if (found == expected) return;
  throw CorruptError(
      fmt::format("the image's size differs from that in {}", annotation),
      {.path = file,
       .expected = fmt::format("height {}, width {}", expected.height, expected.width),
       .found = fmt::format("height {}, width {}", found.height, found.width),
       .remedy = image.orientation == 1 ? "" : orientation_remedy(image)});
}

std::string orientation_remedy(const ImageInfo& image) {
  if (image.orientation == 1) {
    return "One of them is turned by its EXIF orientation. Annotations refer to the upright image; "
           "store the pixels of both upright, or remove the orientation";
  }
  return fmt::format(
      "The image has the EXIF orientation {}, so it is turned. Annotations refer to the upright "
      "image: make them for it, or remove the orientation from the file",
      image.orientation);
}

void check_mask(const ImageInfo& mask, ValueEncoding encoding) {
  if (mask.lossy) {
    throw UnsupportedError(
        "the mask is compressed with loss, so its numbers are not exact",
        {.found = std::string(mask.format->title), .remedy = "Store masks as PNG"});
  }
  if (value_layout(mask, encoding).dtype == DType::kFloat32) {
    throw UnsupportedError("the numbers of the mask are floats",
                           {.expected = "uint8, uint16 or int32",
                            .remedy = "Convert the array with array.astype(\"uint8\"), or declare "
                                      "the field as a map"});
  }
}

void set_mask(const std::string& uri, SourceValue& value) {
  const ImageInfo mask = read_image_file(uri, value);
  try {
    check_mask(mask, ValueEncoding::kStored);
  } catch (Error& error) {
    error.add({.path = uri});
    throw;
  }
}

}  // namespace fuelrail::pack
