#include "fuelrail/base/endian.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace fuelrail {
namespace {

TEST(Endian, stores_the_low_byte_first_at_any_address) {
  std::array<std::byte, 9> bytes{};
  store_le<uint32_t>(bytes.data() + 1, 0xced7230a);
  EXPECT_EQ(bytes[0], std::byte{0});
  EXPECT_EQ(bytes[1], std::byte{0x0a});
  EXPECT_EQ(bytes[2], std::byte{0x23});
  EXPECT_EQ(bytes[3], std::byte{0xd7});
  EXPECT_EQ(bytes[4], std::byte{0xce});
  EXPECT_EQ(bytes[5], std::byte{0});
}

TEST(Endian, loads_what_it_stored) {
  std::array<std::byte, 9> bytes{};
  store_le<uint64_t>(bytes.data() + 1, 0x0102030405060708);
  EXPECT_EQ(load_le<uint64_t>(bytes.data() + 1), 0x0102030405060708u);
  EXPECT_EQ(load_le<uint16_t>(bytes.data() + 1), 0x0708);
  store_le<float>(bytes.data() + 3, 1.5f);
  EXPECT_EQ(load_le<float>(bytes.data() + 3), 1.5f);
  store_le<int64_t>(bytes.data() + 1, -2);
  EXPECT_EQ(load_le<int64_t>(bytes.data() + 1), -2);
}

}  // namespace
}  // namespace fuelrail
