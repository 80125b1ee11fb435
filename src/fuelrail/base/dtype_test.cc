#include "fuelrail/base/dtype.h"

#include <gtest/gtest.h>

namespace fuelrail {
namespace {

TEST(DType, has_numpys_names_and_sizes) {
  struct Case {
    DType dtype;
    const char* name;
    size_t size_in_bytes;
  };
  for (const Case& c : {Case{DType::kBool, "bool", 1}, Case{DType::kUint8, "uint8", 1},
                        Case{DType::kInt8, "int8", 1}, Case{DType::kUint16, "uint16", 2},
                        Case{DType::kInt16, "int16", 2}, Case{DType::kUint32, "uint32", 4},
                        Case{DType::kInt32, "int32", 4}, Case{DType::kUint64, "uint64", 8},
                        Case{DType::kInt64, "int64", 8}, Case{DType::kFloat16, "float16", 2},
                        Case{DType::kBfloat16, "bfloat16", 2}, Case{DType::kFloat32, "float32", 4},
                        Case{DType::kFloat64, "float64", 8}}) {
    EXPECT_STREQ(name_of(c.dtype), c.name);
    EXPECT_EQ(size_in_bytes(c.dtype), c.size_in_bytes) << c.name;
  }
}

}  // namespace
}  // namespace fuelrail
