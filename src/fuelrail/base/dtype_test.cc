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
  for (const Case& c : {Case{DType::kUint8, "uint8", 1}, Case{DType::kInt64, "int64", 8},
                        Case{DType::kUint64, "uint64", 8}, Case{DType::kFloat16, "float16", 2},
                        Case{DType::kFloat32, "float32", 4}, Case{DType::kBool, "bool", 1}}) {
    EXPECT_STREQ(name_of(c.dtype), c.name);
    EXPECT_EQ(size_in_bytes(c.dtype), c.size_in_bytes) << c.name;
  }
}

}  // namespace
}  // namespace fuelrail
