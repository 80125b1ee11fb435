// The content of a record: a few named fields. The schema describes them; a sample holds their
// values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/box.h"
#include "fuelrail/base/bytes.h"
#include "fuelrail/base/dtype.h"
#include "fuelrail/base/encoded_image.h"

namespace fuelrail {

// The numbers of FieldKind, Role and FieldFlag are frozen: sample records store them
// (sample_record.h).
enum class FieldKind : uint8_t {
  kImage,   // an encoded image: JPEG, PNG, ...
  kTensor,  // numbers, row-major, little-endian
  kBytes,   // anything else
  kText,    // UTF-8
};

// What a value means to transforms and viewers. Coordinates are in pixels, x to the right and y
// down; (0, 0) is the upper left corner of the first pixel.
enum class Role : uint8_t {
  kNone,
  kImage,   // an image; with `of`, a partner of that image (depth, stereo), moved as it is
  kMask,    // an image whose pixels are class or instance numbers
  kMap,     // an image, or a tensor (H, W) or (H, W, C), of continuous values
  kBoxes,   // tensor (-1, 4)
  kPoints,  // tensor (..., 2), x and y, or (..., 3), x, y and visibility
  kCamera,  // tensor (3, 3), (3, 4) or (4, 4): projects points into the image
  kLabel,   // tensor int64: class numbers
};

inline constexpr size_t kFieldKinds = 4;
inline constexpr size_t kRoles = 8;
const char* name_of(FieldKind kind);  // "image", "tensor", "bytes", "text"
const char* name_of(Role role);       // "", "image", "mask", ...

enum FieldFlag : uint8_t {
  kListField = 1,     // an image, text or bytes field that holds any number of items
  kRelative = 2,      // boxes and points are fractions of the image's width and height
  kPixelCenters = 4,  // (0, 0) is the middle of the first pixel
  kNoColors = 8,      // colour transforms leave a partner image unchanged
  kNoVectors = 16,    // a map's values are no vectors, which would turn with the image
  kRgbMask = 32,      // a mask's number is red + 256 green + 65536 blue
};
inline constexpr uint8_t kAllFieldFlags = 63;

struct FieldSpec {
  std::string name;
  FieldKind kind = FieldKind::kBytes;
  DType dtype = DType::kUint8;   // of a tensor's elements
  std::vector<int64_t> shape{};  // of a tensor; empty = a scalar; -1 = differs between records
  Role role = Role::kNone;
  std::optional<uint16_t> of{};    // the image whose pixels the value refers to: a field's number
  std::optional<uint16_t> rows{};  // the first field of the group whose fields have equal numbers
                                   // of rows, one for each object
  uint8_t flags = 0;               // FieldFlag
  // Boxes: the BoxFormat. A mask: the number beyond the image's edges. A map: likewise, as the bits
  // of a float16.
  uint16_t detail = 0;

  bool has(FieldFlag flag) const { return (flags & flag) != 0; }
  // Whether images of the field are decoded to their numbers instead of colours.
  bool has_values() const { return role == Role::kMask || role == Role::kMap; }
  bool has_colors() const { return kind == FieldKind::kImage && !has_values(); }
  // Whether the field is an image of its own, to which others may refer and which draws the random
  // numbers of its transforms.
  bool leads() const { return has_colors() && !of; }
  friend bool operator==(const FieldSpec&, const FieldSpec&) = default;
};

// An image that other fields may refer to, and an int64 class number.
FieldSpec image_field(std::string name);
FieldSpec label_field(std::string name);

// "image", "tensor int64 [2, -1]", "list of text", "boxes: tensor float32 [-1, 4]": for messages.
std::string describe(const FieldSpec& field);

struct Schema {
  std::vector<FieldSpec> fields;

  // The position of the field `name`. Errors: InvalidArgumentError, with the nearest name as a
  // suggestion, if there is no such field.
  size_t index_of(std::string_view name) const;
  bool has(std::string_view name) const;

  friend bool operator==(const Schema&, const Schema&) = default;
};

// The position of the field that is the only image of every record; empty if a record may have
// several images, or none.
std::optional<size_t> only_image(const Schema& schema);

// A value's name for errors: "frames[3]" for an item of a list, else the field's name.
std::string item_name(const FieldSpec& field, size_t item);

// The name of an image for ErrorDetail::field: as `item_name`, but empty if samples have only this
// image. Requires: the field is an image.
std::string image_name(const Schema& schema, size_t field, size_t item = 0);

// The value of one field: an encoded image. A tensor, text or raw bytes use only `bytes` and
// `shape`, a list only `items`.
struct FieldValue : EncodedImage {
  std::vector<int64_t> shape{};  // of a tensor with -1 in its spec
  std::vector<Bytes> items{};    // of a list; an image without metadata is one item
  Bytes rest{};                  // to be written: what follows `bytes`, elsewhere in memory
};

// Filled by Container::parse, which assigns every value, so a sample can be reused for the next
// record. Lifetime: values are views into the parsed framed bytes or into this sample's own memory;
// both must outlive them. The codecs of images are valid while the container exists.
struct Sample {
  std::vector<FieldValue> fields;  // in the schema's order
  uint64_t id = 0;                 // the id stored in the record, or else the record's index
  std::vector<std::byte> storage;  // for values that cannot be views: unescaped payloads
  std::vector<std::byte> hints;    // for those of the image
  alignas(8) std::array<std::byte, 16> scalars{};  // small values made by parse (an int64 label)

  Sample() = default;
  Sample(const Sample&) = delete;  // values may point into the sample itself
  Sample& operator=(const Sample&) = delete;
};

}  // namespace fuelrail
