// MXNet's mean image (`mean_img`).
#include <cstring>

#include "fuelrail/mxnet/mean_image.h"
#include "fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fuelrail;
  const Bytes file(reinterpret_cast<const std::byte*>(data), size);
  const mxnet::MxShape shape{3, 2, 4};
  mxnet::MeanImage mean;
  if (!fuzzing::succeeds([&] { mean = mxnet::parse_mean_image(file, "fuzzed.bin", shape); }))
    return 0;
  fuzzing::require(mean.shape == shape, "the shape is what was asked for");
  fuzzing::require(mean.values.size() == size_t{24}, "there is a value for each pixel");
  fuzzing::require(size >= 24 * sizeof(float), "the values are in the file");
  return 0;
}
