// Element types of the tensors in sample fields and batch columns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuelrail {

// The numbers are frozen: sample records store them (container/sample_record.h).
enum class DType : uint8_t {
  kBool,
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kUint64,
  kInt64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
};
inline constexpr size_t kDTypes = 13;

constexpr size_t size_in_bytes(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kUint8:
    case DType::kInt8:
      return 1;
    case DType::kUint16:
    case DType::kInt16:
    case DType::kFloat16:
    case DType::kBfloat16:
      return 2;
    case DType::kUint32:
    case DType::kInt32:
    case DType::kFloat32:
      return 4;
    case DType::kUint64:
    case DType::kInt64:
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

// "bool", "uint8", "int8", "uint16", ..., "bfloat16", "float32", "float64": the names that NumPy
// and torch use (NumPy has no bfloat16).
const char* name_of(DType dtype);

}  // namespace fuelrail
