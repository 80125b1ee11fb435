// How a loader fills a batch: for each column, the source of its values and how they are processed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "fuelrail/batch/layout.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/loader/options.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// The pixels of an encoded image, or of each item of a list of images. Image fields that refer to
// no other image are "leaders", numbered in the schema's order, and each has its own random numbers
// (base/philox.h).
struct ImageProgram {
  size_t field = 0;     // in the schema
  uint32_t leader = 0;  // below kMaxLeaders
  Transforms transforms;
  PixelWriter writer;
  DType dtype = DType::kFloat32;
  ImageLayout layout = ImageLayout::kNchw;
  Orientation orientation = Orientation::kApply;
  bool scaled_decode = false;
  int64_t max_pixels = kDefaultMaxPixels;
  bool list = false;            // the field is a list
  std::optional<Size> fixed{};  // the size of all images after the transforms
};

// The height and width of an image before the transforms, upright if the loader turns it.
struct ImageSize {
  size_t field = 0;
  Orientation orientation = Orientation::kApply;
  int64_t max_pixels = kDefaultMaxPixels;
};

struct TensorCopy {
  size_t field = 0;
};

// The bytes of a field of bytes or text, or of each item of its list.
struct BytesCopy {
  size_t field = 0;
  bool list = false;
};

// An encoded image as a file of its own: its bytes, or its whole record if the bytes do not stand
// alone. So records must be read whole (container/whole_records.h).
struct EncodedCopy {
  size_t field = 0;
};

// Values of a row that are not fields of its sample.
enum class RowValue : uint8_t { kId, kIndex, kPosition, kValid, kSubstituted };

struct FieldProgram {
  ColumnSpec column;
  std::variant<ImageProgram, ImageSize, TensorCopy, BytesCopy, EncodedCopy, RowValue> source;
};

// The columns that `options.fields` selects (field_patterns.h). Types and shapes are those of the
// schema. A column of images is ragged if the transforms do not fix the size; a list of images has
// rows (n, ...) if they do, else lists. Errors: InvalidArgumentError for `fields` that
// select_columns refuses, transforms or a pixel format that `check` refuses, transforms for a
// dataset without image fields, patterns that check_patterns refuses, too many image fields, and a
// pattern that packs rows which differ in other dimensions than the first; UnsupportedError for a
// column of an image field that refers to another image.
std::vector<FieldProgram> field_programs(const Schema& schema, const ImageOptions& options);

// The names of the columns that are not fields of the dataset: "encoded" if it has an image field
// `image`, "id", "index", "position", "valid", "substituted".
std::vector<std::string> own_columns(const Schema& schema);

}  // namespace fuelrail
