// MXNet's mean image, which is subtracted from every image. It is a file in MXNet's NDArray format
// with one array, named `mean_img`.
//
// The file, little-endian: magic 0x112 u64, reserved u64, number of arrays u64 (1), the array,
// number of names u64 (1), length u64 and bytes of the name. The array: magic 0xF993FAC9 u32,
// storage type i32 (0, dense), number of dimensions u32 (3), the length of each dimension i64,
// device type i32 (1, CPU), device id i32, type i32 (0, float32), the values. The magic 0xF993FACA
// means the same here. Older files have the magic 0xF993FAC8 and no storage type; the oldest
// (before MXNet 0.11) also have no magic, and their lengths are u32. Any device and any name are
// accepted, and the name may be missing (a count of 0). Source of the format: MXNet's
// src/ndarray/ndarray.cc.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/mxnet/mx_shape.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::mxnet {

// Immutable.
struct MeanImage {
  MxShape shape;
  std::vector<float> values;  // shape.elements() values, in the order channel, row, column
};

// `uri` names the file in errors. Errors: CorruptError and TruncatedError, with the offset, for a
// file that does not have the format above or has values that are not finite; UnsupportedError for
// a sparse array, a type that is not float32, or a number of arrays that is not 1;
// InvalidArgumentError for a shape that is not `shape`.
MeanImage parse_mean_image(Bytes bytes, const std::string& uri, const MxShape& shape);

// Errors: NotFoundError, IoError; those of parse_mean_image.
MeanImage read_mean_image(const std::string& uri, const MxShape& shape);

// Writes the same bytes as MXNet, and commits `sink`. Errors: those of Sink.
void write_mean_image(Sink& sink, const MeanImage& mean);

// The mean of several images in float32, as MXNet computes it: the sum in the order of the calls,
// times float(1 / count). Threads: one at a time.
class MeanImageSum {
 public:
  explicit MeanImageSum(const MxShape& shape);

  // Adds an image. `row`: its shape.elements() values.
  void add(const float* row);

  // The mean of the added images. Errors: InvalidArgumentError if no image was added.
  MeanImage mean() const;

 private:
  MeanImage sum_;
  uint64_t count_ = 0;
};

}  // namespace fuelrail::mxnet
