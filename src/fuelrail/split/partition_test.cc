#include "fuelrail/split/partition.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::split {
namespace {

using testing::refusal_of;

TEST(Partition, bytes_are_cut_at_equal_steps_rounded_up_to_the_alignment) {
  const ByteParts text{16, ByteParts::kTextAlign};
  EXPECT_EQ(text.raw(0, 3), (PartRange{0, 6}));
  EXPECT_EQ(text.raw(1, 3), (PartRange{6, 12}));
  EXPECT_EQ(text.raw(2, 3), (PartRange{12, 16}));
  const ByteParts records{100, ByteParts::kRecordIoAlign};
  EXPECT_EQ(records.raw(0, 3), (PartRange{0, 36}));
  EXPECT_EQ(records.raw(1, 3), (PartRange{36, 72}));
  EXPECT_EQ(records.raw(2, 3), (PartRange{72, 100}));
}

TEST(Partition, parts_beyond_the_bytes_are_empty) {
  const ByteParts records{8, ByteParts::kRecordIoAlign};
  EXPECT_EQ(records.raw(0, 5), (PartRange{0, 4}));
  EXPECT_EQ(records.raw(1, 5), (PartRange{4, 8}));
  for (uint64_t k = 2; k < 5; ++k) EXPECT_EQ(records.raw(k, 5), (PartRange{8, 8}));
  EXPECT_EQ((ByteParts{0, 4}.raw(3, 7)), (PartRange{0, 0}));
}

TEST(Partition, raw_parts_are_disjoint_and_complete) {
  for (const uint64_t align : {1, 4}) {
    for (uint64_t words = 0; words < 40; ++words) {
      for (uint64_t nsplit = 1; nsplit < 50; ++nsplit) {
        uint64_t reached = 0;
        for (uint64_t k = 0; k < nsplit; ++k) {
          const PartRange part = ByteParts{words * align, align}.raw(k, nsplit);
          ASSERT_EQ(part.begin, reached);
          ASSERT_EQ(part.begin % align, 0u);
          reached = part.end;
        }
        ASSERT_EQ(reached, words * align);
      }
    }
  }
}

// 37 records in 36 parts: 18 parts have two records, one part has one, and 17 are empty.
TEST(Partition, records_are_cut_by_count) {
  const CountParts records{37};
  for (uint64_t k = 0; k < 36; ++k) {
    EXPECT_EQ(records.part(k, 36).length(), k < 18 ? 2u : k == 18 ? 1u : 0u) << k;
  }
  EXPECT_EQ(records.part(18, 36), (PartRange{36, 37}));
}

TEST(Partition, numbers_near_the_top_do_not_wrap_around) {
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ((ByteParts{most - 7, 4}.raw(1, 2).end), most - 7);
  EXPECT_EQ((ByteParts{1000, 4}.raw(most - 1, most)), (PartRange{1000, 1000}));
  EXPECT_EQ((CountParts{most}.part(most - 1, most)), (PartRange{most - 1, most}));
}

TEST(Partition, part_that_is_not_there_is_refused) {
  EXPECT_EQ(refusal_of<InvalidArgumentError>([] { CountParts{5}.part(3, 3); }),
            "`part` is out of range: expected part 0 to 2, found part 3 of 3");
  EXPECT_EQ(refusal_of<InvalidArgumentError>([] {
              ByteParts{5, 1}.raw(0, 0);
            }),
            "`part` is out of range: expected at least one part, found part 0 of 0");
}

TEST(Partition, sub_parts_are_parts_of_a_finer_division) {
  EXPECT_EQ(sub_parts(2, 3, 5), (PartRange{10, 15}));
  EXPECT_THROW(sub_parts(0, 1, 0), InvalidArgumentError);
  EXPECT_THROW(sub_parts(0, 3, std::numeric_limits<uint64_t>::max()), InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail::split
