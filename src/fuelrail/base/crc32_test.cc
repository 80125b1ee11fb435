#include "fuelrail/base/crc32.h"

#include <gtest/gtest.h>

#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

TEST(Crc32, gives_the_standard_check_value) {
  EXPECT_EQ(crc32(as_bytes("123456789")), 0xCBF43926u);
}

TEST(Crc32, of_nothing_is_what_came_before) {
  EXPECT_EQ(crc32({}), 0u);
  EXPECT_EQ(crc32({}, 0xCBF43926u), 0xCBF43926u);
}

TEST(Crc32, goes_on_from_any_cut) {
  std::string text(3000, '\0');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 37 >> 3);
  const uint32_t whole = crc32(as_bytes(text));
  for (size_t cut = 0; cut <= text.size(); cut += 123) {
    const uint32_t first = crc32(as_bytes(text).first(cut));
    EXPECT_EQ(crc32(as_bytes(text).subspan(cut), first), whole) << "cut at " << cut;
  }
}

TEST(CheckRecordCrc, says_what_it_expected_and_found) {
  check_record_crc(0x3610a686, 0x3610a686);
  EXPECT_EQ(testing::refusal_of<CorruptError>([] { check_record_crc(0x1f, 0x3610a686); }),
            "the record's checksum is wrong: expected 0x3610a686, found 0x0000001f. "
            "Restore the file, pack it again, or copy its readable records with 'fuelrail "
            "recover'.");
}

}  // namespace
}  // namespace fuelrail
