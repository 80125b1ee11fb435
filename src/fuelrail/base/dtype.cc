#include "fuelrail/base/dtype.h"

namespace fuelrail {

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
      return "uint8";
    case DType::kInt64:
      return "int64";
    case DType::kUint64:
      return "uint64";
    case DType::kFloat16:
      return "float16";
    case DType::kFloat32:
      return "float32";
    case DType::kBool:
      return "bool";
    case DType::kBfloat16:
      return "bfloat16";
    case DType::kInt8:
      return "int8";
  }
  return "unknown";
}

}  // namespace fuelrail
