// How a loader fills a batch: for each column, the source of its values and how they are processed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "fuelrail/batch/layout.h"
#include "fuelrail/container/sample.h"
#include "fuelrail/loader/options.h"
#include "fuelrail/transform/normalize.h"
#include "fuelrail/transform/transform.h"

namespace fuelrail {

// The pixels of an encoded image. Image fields are "leaders", numbered in the schema's order, and
// each has its own random numbers (base/philox.h).
struct ImageProgram {
  size_t field = 0;     // in the schema
  uint32_t leader = 0;  // below kMaxLeaders
  Transforms transforms;
  PixelWriter writer;
  ImageLayout layout = ImageLayout::kNchw;
  Orientation orientation = Orientation::kApply;
  bool scaled_decode = false;
  int64_t max_pixels = kDefaultMaxPixels;
};

struct TensorCopy {
  size_t field = 0;
};

// The bytes of a bytes field.
struct BytesCopy {
  size_t field = 0;
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
  std::variant<ImageProgram, TensorCopy, BytesCopy, EncodedCopy, RowValue> source;
};

// The columns that `options.fields` names. Types and shapes are those of the schema. A column of
// images is ragged if the transforms do not fix the size. Each image field gets all transforms.
// Errors: InvalidArgumentError for an empty `fields`, an unknown field (the nearest is suggested),
// transforms or a pixel format that `check` refuses, transforms for a dataset without image fields,
// and too many image fields.
std::vector<FieldProgram> field_programs(const Schema& schema, const ImageOptions& options);

}  // namespace fuelrail
