#include "fuelrail/base/error.h"

#include <gtest/gtest.h>

namespace fuelrail {
namespace {

TEST(Error, says_where_what_and_what_to_do_in_one_line) {
  const CorruptError error("the record's magic number is wrong", {.path = "a.rec",
                                                                  .record = 7,
                                                                  .offset = 4096,
                                                                  .expected = "0xced7230a",
                                                                  .found = "0x0",
                                                                  .remedy = "Pack it again"});
  EXPECT_STREQ(error.what(),
               "a.rec: record 7, offset 4096: the record's magic number is wrong: expected "
               "0xced7230a, found 0x0. Pack it again.");
}

TEST(Error, leaves_out_what_is_not_known) {
  EXPECT_STREQ(Error("it failed").what(), "it failed");
  EXPECT_STREQ(Error("it failed", {.path = "a"}).what(), "a: it failed");
  EXPECT_STREQ(Error("it failed", {.record = 0}).what(), "record 0: it failed");
  EXPECT_STREQ(Error("it failed", {.offset = 0}).what(), "offset 0: it failed");
  EXPECT_STREQ(Error("it failed", {.path = "a", .offset = 5}).what(), "a: offset 5: it failed");
  EXPECT_STREQ(Error("it failed", {.field = "mask"}).what(), "field 'mask': it failed");
  EXPECT_STREQ(Error("it failed", {.path = "a", .record = 3, .field = "frames[2]"}).what(),
               "a: record 3, field 'frames[2]': it failed");
  EXPECT_STREQ(Error("it failed", {.expected = "1"}).what(), "it failed: expected 1");
  EXPECT_STREQ(Error("it failed", {.found = "2"}).what(), "it failed: found 2");
  EXPECT_STREQ(Error("it failed", {.remedy = "Did you mean 'x'?"}).what(),
               "it failed. Did you mean 'x'?");
}

TEST(Error, add_fills_gaps_and_overwrites_nothing) {
  Error error("it failed", {.offset = 5, .found = "2"});
  error.add({.path = "a", .record = 3, .field = "b", .offset = 6, .found = "9"});
  error.add({.path = "b", .record = 4, .expected = "1", .remedy = "Retry"});
  EXPECT_STREQ(error.what(),
               "a: record 3, field 'b', offset 5: it failed: expected 1, found 2. Retry.");
  EXPECT_EQ(error.failure(), "it failed");
  EXPECT_EQ(error.detail().path, "a");
  EXPECT_EQ(error.detail().record, 3u);
  EXPECT_EQ(error.detail().offset, 5u);
}

TEST(Error, an_outer_layer_can_add_and_rethrow) {
  try {
    try {
      throw TruncatedError("the file ends inside a record", {.offset = 12});
    } catch (Error& error) {
      error.add({.path = "a.rec"});
      throw;
    }
  } catch (const TruncatedError& error) {
    EXPECT_STREQ(error.what(), "a.rec: offset 12: the file ends inside a record");
  }
}

TEST(Suggest, names_the_nearest) {
  EXPECT_EQ(suggest("bilinaer", {"nearest", "bilinear", "bicubic"}), "Did you mean 'bilinear'?");
  EXPECT_EQ(suggest("shrot", {"short", "drop", "pad", "wrap"}), "Did you mean 'short'?");
  EXPECT_EQ(suggest("", {"pad"}), "Known: pad");
  EXPECT_EQ(suggest("padded", {"packed", "pad"}), "Did you mean 'pad'?");
  EXPECT_EQ(suggest("boxes", {"masks", "objects.boxes"}), "Did you mean 'objects.boxes'?");
}

TEST(Suggest, lists_all_when_none_is_near) {
  EXPECT_EQ(suggest("xyzzyx", {"short", "drop"}), "Known: short, drop");
  EXPECT_EQ(suggest("im", {"a", "b"}), "Known: a, b");
  EXPECT_EQ(suggest("xyzzyx", {}), "Known: ");
}

}  // namespace
}  // namespace fuelrail
