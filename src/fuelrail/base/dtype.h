// Element types of the tensors in sample fields and batch columns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuelrail {

enum class DType : uint8_t { kUint8, kInt64, kUint64, kFloat16, kFloat32, kBool, kBfloat16, kInt8 };

constexpr size_t size_in_bytes(DType dtype) {
  switch (dtype) {
    case DType::kUint8:
    case DType::kBool:
    case DType::kInt8:
      return 1;
    case DType::kFloat16:
    case DType::kBfloat16:
      return 2;
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
    case DType::kUint64:
      return 8;
  }
  return 0;
}

// "uint8", "int64", "uint64", "float16", "float32", "bool", "bfloat16", "int8": the names that
// NumPy and torch use (NumPy has no bfloat16).
const char* name_of(DType dtype);

}  // namespace fuelrail
