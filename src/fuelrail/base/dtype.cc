#include "fuelrail/base/dtype.h"

namespace fuelrail {

const char* name_of(DType dtype) {
  static constexpr const char* kNames[kDTypes] = {
      "bool",   "uint8", "int8",    "uint16",   "int16",   "uint32", "int32",
      "uint64", "int64", "float16", "bfloat16", "float32", "float64"};
  const auto number = static_cast<size_t>(dtype);
  return number < kDTypes ? kNames[number] : "unknown";
}

}  // namespace fuelrail
