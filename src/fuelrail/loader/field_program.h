// What a loader makes of a sample: for each column of the batch, where its values come from and
// what is done with them.
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

// The pixels of an encoded image. Image fields are leaders, numbered in the schema's order: each
// has random numbers of its own (base/philox.h).
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

// Of an encoded image, or of a field of bytes.
struct BytesCopy {
  size_t field = 0;
};

// What is known of the row beside its sample's fields.
enum class RowValue : uint8_t { kId, kIndex, kPosition, kValid, kSubstituted };

struct FieldProgram {
  ColumnSpec column;
  std::variant<ImageProgram, TensorCopy, BytesCopy, RowValue> source;
};

// The columns that `options.fields` names. Types and shapes are the schema's; a column of images is
// ragged where the transforms leave their size open. Each image field gets the options' transforms.
// Errors: InvalidArgumentError for no field, an unknown one (the nearest is suggested), transforms
// or pixels that `check` refuses, transforms without an image field, and too many image fields.
std::vector<FieldProgram> field_programs(const Schema& schema, const ImageOptions& options);

}  // namespace fuelrail
