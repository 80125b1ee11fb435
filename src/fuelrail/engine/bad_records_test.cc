#include "fuelrail/engine/bad_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/record_worker.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Failure failure(size_t row, uint64_t record, uint32_t substitute = 0) {
  return {row,
          {.record = record, .position = 100 + row, .epoch = 2, .substitute = substitute},
          std::make_exception_ptr(CorruptError("this record is bad"))};
}

TEST(BadRecords, are_listed_once_each_in_the_order_of_rows_and_attempts) {
  const auto container = made_records(50);
  BadRecords bad(*container, 100);
  bad.note(2, {failure(5, 30), failure(1, 12, 1), failure(1, 40), failure(7, 12)});
  bad.note(2, {failure(0, 30)});
  ASSERT_EQ(bad.list().size(), 3u);
  EXPECT_EQ(bad.list()[0].record, 40u);
  EXPECT_EQ(bad.list()[1].record, 12u);
  EXPECT_EQ(bad.list()[2].record, 30u);
  EXPECT_EQ(bad.list()[1].times, 2u);
  EXPECT_EQ(bad.list()[2].times, 2u);
  EXPECT_EQ(bad.list()[2].position, 105u) << "where it came up first";
  EXPECT_EQ(bad.list()[2].epoch, 2u);
  const uint64_t offset = container->extent(30).offset;
  EXPECT_EQ(bad.list()[2].error, "memory://records: record 30, offset " + std::to_string(offset) +
                                     ": this record is bad");
}

TEST(BadRecords, are_too_many_from_the_one_after_the_last_that_is_allowed) {
  const auto container = made_records(50);
  BadRecords bad(*container, 2);
  EXPECT_FALSE(bad.too_many());
  bad.note(0, {failure(0, 1), failure(1, 2)});
  EXPECT_FALSE(bad.too_many());
  bad.note(0, {failure(0, 1), failure(0, 2, 1)});
  EXPECT_FALSE(bad.too_many()) << "these were counted before";
  bad.note(0, {failure(0, 3)});
  EXPECT_TRUE(bad.too_many());
}

TEST(BadRecords, are_allowed_by_a_count_a_fraction_or_nothing) {
  const auto& rows = ErrorPolicy::table().rows();
  const auto row = std::ranges::find(rows, "max_bad", [](const auto& of) { return of.rule.name; });
  for (const OptionValue& value : {OptionValue{}, OptionValue{int64_t{0}}, OptionValue{0.5},
                                   OptionValue{uint64_t{UINT64_MAX}}}) {
    EXPECT_NO_THROW(row->rule.check(value));
  }
  for (const OptionValue& value :
       {OptionValue{true}, OptionValue{std::string("1")}, OptionValue{int64_t{-1}},
        OptionValue{std::vector<double>{0.5}}}) {
    EXPECT_THROW(row->rule.check(value), InvalidArgumentError);
  }
}

TEST(BadRecords, are_counted_anew_in_each_epoch_and_on_request) {
  const auto container = made_records(50);
  BadRecords bad(*container, 1);
  bad.note(0, {failure(0, 1)});
  bad.note(1, {failure(0, 1)});
  EXPECT_FALSE(bad.too_many());
  bad.count_anew();
  bad.note(1, {failure(0, 2)});
  EXPECT_FALSE(bad.too_many());
  bad.note(1, {failure(0, 1)});
  EXPECT_TRUE(bad.too_many());
}

TEST(BadRecords, go_on_from_those_before_with_their_list_and_their_count) {
  const auto container = made_records(50);
  BadRecords before(*container, 2);
  before.note(4, {failure(0, 1), failure(1, 2)});
  BadRecords bad(*container, 2);
  bad.go_on_from(before);
  bad.note(4, {failure(0, 2)});
  EXPECT_FALSE(bad.too_many()) << "it was counted before";
  ASSERT_EQ(bad.list().size(), 2u);
  EXPECT_EQ(bad.list()[1].times, 2u);
  bad.note(4, {failure(0, 3)});
  EXPECT_TRUE(bad.too_many());
  EXPECT_EQ(before.list().size(), 2u);
}

TEST(BadRecords, too_many_say_how_many_and_name_the_last_few) {
  const auto container = made_records(50);
  BadRecords bad(*container, 3);
  std::vector<Failure> failures;
  for (size_t row = 0; row < 7; ++row) failures.push_back(failure(row, 20 + row));
  bad.note(4, failures);
  try {
    std::rethrow_exception(bad.too_many_error());
  } catch (const TooManyBadRecordsError& error) {
    EXPECT_THAT(error.what(), HasSubstr("epoch 4 has too many bad records"));
    EXPECT_THAT(error.what(), HasSubstr("at most 3"));
    EXPECT_THAT(error.what(), HasSubstr("found 7, the last 5 of which are: "));
    EXPECT_THAT(error.what(), HasSubstr("record 26"));
    EXPECT_THAT(error.what(), HasSubstr("record 22"));
    EXPECT_THAT(error.what(), Not(HasSubstr("record 21")));
  }
}

TEST(BadRecords, too_many_name_those_of_this_epoch) {
  const auto container = made_records(50);
  BadRecords bad(*container, 1);
  bad.note(0, {failure(0, 7), failure(1, 8)});
  bad.note(1, {failure(0, 8), failure(1, 9)});
  try {
    std::rethrow_exception(bad.too_many_error());
  } catch (const TooManyBadRecordsError& error) {
    EXPECT_THAT(error.what(), HasSubstr("found 2: memory://records: record 8"));
    EXPECT_THAT(error.what(), HasSubstr("record 9"));
    EXPECT_THAT(error.what(), Not(HasSubstr("record 7")));
  }
}

TEST(IsSkippable, is_what_the_data_are_to_blame_for) {
  EXPECT_TRUE(is_skippable(std::make_exception_ptr(CorruptError("x"))));
  EXPECT_TRUE(is_skippable(std::make_exception_ptr(TruncatedError("x"))));
  EXPECT_TRUE(is_skippable(std::make_exception_ptr(DecodeError("x"))));
  EXPECT_TRUE(is_skippable(std::make_exception_ptr(UnsupportedError("x"))));
  EXPECT_TRUE(is_skippable(std::make_exception_ptr(IoError("x"))));
  EXPECT_FALSE(is_skippable(std::make_exception_ptr(StateError("x"))));
  EXPECT_FALSE(is_skippable(std::make_exception_ptr(OutOfMemoryError("x"))));
  EXPECT_FALSE(is_skippable(std::make_exception_ptr(std::bad_alloc())));
  EXPECT_FALSE(is_skippable(std::make_exception_ptr(std::runtime_error("x"))));
}

}  // namespace
}  // namespace fuelrail
