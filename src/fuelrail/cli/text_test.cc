#include "fuelrail/cli/text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"

namespace fuelrail::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::StrEq;
using ::testing::ThrowsMessage;

TEST(Text, numbers_are_grouped_by_thousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(18446744073709551615u), "18,446,744,073,709,551,615");
  EXPECT_EQ(counted(1, "record"), "1 record");
  EXPECT_EQ(counted(1234, "record"), "1,234 records");
}

TEST(Text, bytes_are_shown_in_the_unit_that_fits) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1), "1 byte");
  EXPECT_EQ(human_bytes(999), "999 bytes");
  EXPECT_EQ(human_bytes(1000), "1.0 kB");
  EXPECT_EQ(human_bytes(999'949), "999.9 kB");
  EXPECT_EQ(human_bytes(999'950), "1.0 MB");
  EXPECT_EQ(human_bytes(140'126'340'912), "140.1 GB");
  EXPECT_EQ(human_bytes(18446744073709551615u), "18.4 EB");
}

TEST(Text, times_are_shown_as_a_clock_does) {
  EXPECT_EQ(clock_time(0), "0:00");
  EXPECT_EQ(clock_time(7.4), "0:07");
  EXPECT_EQ(clock_time(754), "12:34");
  EXPECT_EQ(clock_time(3599.6), "1:00:00");
  EXPECT_EQ(clock_time(3723), "1:02:03");
  EXPECT_EQ(clock_time(-1), "0:00");
}

TEST(Text, a_split_is_names_and_fractions) {
  EXPECT_THAT(parse_split("train=.9,val=0.1"), ElementsAre(Pair("train", .9), Pair("val", .1)));
  EXPECT_THAT(parse_split("all=1"), ElementsAre(Pair("all", 1.0)));
  for (const char* bad : {"", "train", "train=", "=.5", "a=.5,", ",a=.5", "a=x", "a=.5 b=.5"}) {
    EXPECT_THROW(parse_split(bad), InvalidArgumentError) << bad;
  }
}

TEST(Text, an_allowance_is_a_count_or_a_percentage) {
  EXPECT_EQ(parse_allowance("12").count, 12u);
  EXPECT_EQ(parse_allowance("12").fraction, 0);
  EXPECT_DOUBLE_EQ(parse_allowance("1.5%").fraction, 0.015);
  EXPECT_DOUBLE_EQ(parse_allowance("100%").fraction, 1);
  EXPECT_EQ(parse_allowance("29%").fraction, 0.29);
  EXPECT_EQ(parse_allowance("0.57%").fraction, 0.0057);
  EXPECT_EQ(parse_allowance("1e1%").fraction, 0.1);
  for (const char* bad : {"", "%", "-1", "1.5", "few", "5 %"}) {
    EXPECT_THROW(parse_allowance(bad), InvalidArgumentError) << bad;
  }
}

TEST(Text, ranges_of_records_are_pythons) {
  const auto range = [](const char* text) {
    const RecordRange records = parse_range(text, 10, "");
    return std::pair(records.begin, records.end);
  };
  EXPECT_THAT(range("0"), Pair(0, 1));
  EXPECT_THAT(range("9"), Pair(9, 10));
  EXPECT_THAT(range("-1"), Pair(9, 10));
  EXPECT_THAT(range("-10"), Pair(0, 1));
  EXPECT_THAT(range("5:8"), Pair(5, 8));
  EXPECT_THAT(range(":3"), Pair(0, 3));
  EXPECT_THAT(range("7:"), Pair(7, 10));
  EXPECT_THAT(range(":"), Pair(0, 10));
  EXPECT_THAT(range("-3:"), Pair(7, 10));
  EXPECT_THAT(range("8:5"), Pair(8, 8));
  EXPECT_THAT(range("5:99"), Pair(5, 10));
  EXPECT_THAT(range("99:"), Pair(10, 10));
  EXPECT_THAT(range("-99:2"), Pair(0, 2));
}

TEST(Text, what_is_no_range_is_refused) {
  for (const char* bad : {"", "x", "1:x", "1:2:3", "1.5", "1-3", " 1", "99999999999999999999"}) {
    EXPECT_THROW(parse_range(bad, 10, ""), InvalidArgumentError) << bad;
  }
  for (const char* bad : {"10", "-11"}) {
    EXPECT_THAT([&] { parse_range(bad, 10, "x.rec"); },
                ThrowsMessage<OutOfRangeError>(
                    StrEq(fmt::format("x.rec: the record number is out of range: expected 0 to 9, "
                                      "found {}",
                                      bad))));
  }
  EXPECT_THROW(parse_range("0", 0, ""), OutOfRangeError);
}

}  // namespace
}  // namespace fuelrail::cli
