// MXNet's mean image: a file of one array, `mean_img`, in MXNet's NDArray format (below), that is
// subtracted from every image of its shape.
//
// The file, little-endian: magic 0x112 u64, reserved u64, count of arrays u64 (1), the array, count
// of names u64 (1), length u64 and bytes of the name. The array: magic 0xF993FAC9 u32, storage type
// i32 (0, dense), dimensions u32 (3), that many i64, device type i32 (1, CPU), device id i32, type
// i32 (0, float32), the values. 0xF993FACA means the same here. Older files have 0xF993FAC8 and no
// storage type; the oldest (before MXNet 0.11) begin with the dimensions, u32, as the sides are.
// Any device and name will do, and there may be no name (a count of 0). Source of the format:
// MXNet's src/ndarray/ndarray.cc.
#pragma once

#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/mxnet/mx_shape.h"
#include "fuelrail/storage/sink.h"

namespace fuelrail::mxnet {

// Immutable once made.
struct MeanImage {
  MxShape shape;
  std::vector<float> values;  // channel, row, column; shape.elements() of them
};

// `uri` names the file in errors. Errors: CorruptError and TruncatedError for a file that is not as
// said above or has values that are not finite, with the offset; UnsupportedError for arrays of
// another type or number; InvalidArgumentError for another shape than `shape`.
MeanImage parse_mean_image(Bytes bytes, const std::string& uri, const MxShape& shape);

// Errors: NotFoundError, IoError; those of parse_mean_image.
MeanImage read_mean_image(const std::string& uri, const MxShape& shape);

// Byte for byte what MXNet writes. Commits. Errors: those of Sink.
void write_mean_image(Sink& sink, const MeanImage& mean);

// The mean of images as they are added, in float32, as MXNet computes it: the sum in the order of
// the calls, times float(1 / count). Threads: one.
class MeanImageSum {
 public:
  explicit MeanImageSum(const MxShape& shape);

  // `row`: shape.elements() values.
  void add(const float* row);

  // Errors: InvalidArgumentError when nothing was added.
  MeanImage mean() const;

 private:
  MeanImage sum_;
  uint64_t count_ = 0;
};

}  // namespace fuelrail::mxnet
