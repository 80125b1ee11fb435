#include "fuelrail/mxnet/label_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::mxnet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string list_refusal(const std::string& text, int64_t label_width) {
  return testing::refusal_of<CorruptError>([&] { LabelList(text, label_width, "train.lst"); });
}

TEST(LabelList, golden_list_of_two_labels_is_read) {
  const std::string path = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/mxnet/small2.lst";
  const LabelList list = LabelList::read(path, 2);
  EXPECT_EQ(list.size(), 10u);
  EXPECT_EQ(list.widest(), 2u);
  EXPECT_EQ(list.find(100).size(), 2u);
}

TEST(LabelList, labels_are_found_by_id) {
  const LabelList list("127\t13.5\ta.jpg\n3\t-1e2\tb.jpg\n", 1, "x.lst");
  EXPECT_EQ(list.size(), 2u);
  EXPECT_THAT(list.find(127), ElementsAre(13.5f));
  EXPECT_THAT(list.find(3), ElementsAre(-100.0f));
}

TEST(LabelList, columns_are_divided_by_any_white_space) {
  const LabelList list("  1 \t 2   3\t\v4\f a.jpg  ", 3, "x.lst");
  EXPECT_THAT(list.find(1), ElementsAre(2.0f, 3.0f, 4.0f));
}

TEST(LabelList, path_may_hold_spaces_or_be_missing_where_the_width_is_given) {
  const LabelList list("1 2 my cat 7.jpg\n2 +3\n", 1, "x.lst");
  EXPECT_THAT(list.find(1), ElementsAre(2.0f));
  EXPECT_THAT(list.find(2), ElementsAre(3.0f));
}

TEST(LabelList, path_behind_a_tab_may_hold_spaces_where_widths_differ) {
  const LabelList list(
      "1\t2\t3\tmy cat 7.jpg\n2\t9\tb c.jpg \t\r\n3\t4 5\t2019 d.jpg\n4 6\t2019 e.jpg\n", -1,
      "x.lst");
  EXPECT_THAT(list.find(1), ElementsAre(2.0f, 3.0f));
  EXPECT_THAT(list.find(2), ElementsAre(9.0f));
  EXPECT_THAT(list.find(3), ElementsAre(4.0f, 5.0f));
  EXPECT_THAT(list.find(4), ElementsAre(6.0f));
}

TEST(LabelList, tab_that_follows_no_label_parts_as_a_space_does) {
  const LabelList list("1\t2 3 a.jpg\n\t 2 4 5 a.jpg\t\n", -1, "x.lst");
  EXPECT_THAT(list.find(1), ElementsAre(2.0f, 3.0f));
  EXPECT_THAT(list.find(2), ElementsAre(4.0f, 5.0f));
  EXPECT_THAT(list_refusal("\t1 a.jpg", -1), HasSubstr("2 columns"));
}

TEST(LabelList, fewer_labels_than_a_row_has_can_be_asked_for) {
  const LabelList list("1 2 3 4 a.jpg\n", 2, "x.lst");
  EXPECT_THAT(list.find(1), ElementsAre(2.0f, 3.0f));
}

TEST(LabelList, width_of_minus_one_takes_all_columns_but_id_and_path) {
  const LabelList list("1 2 3 a.jpg\n2 9 b.jpg\n", -1, "x.lst");
  EXPECT_THAT(list.find(1), ElementsAre(2.0f, 3.0f));
  EXPECT_THAT(list.find(2), ElementsAre(9.0f));
  EXPECT_EQ(list.widest(), 2u);
}

TEST(LabelList, last_row_of_an_id_counts) {
  const LabelList list("1 2 3 a.jpg\n1 5 b.jpg\n", -1, "x.lst");
  EXPECT_EQ(list.size(), 1u);
  EXPECT_THAT(list.find(1), ElementsAre(5.0f));
  EXPECT_EQ(list.widest(), 1u);
}

TEST(LabelList, lines_may_end_as_on_any_system_and_be_empty) {
  const LabelList list("\r\n1 2 a\r\n\n \t\n2 3 b\r3 4 c", 1, "x.lst");
  EXPECT_EQ(list.size(), 3u);
  EXPECT_THAT(list.find(2), ElementsAre(3.0f));
  EXPECT_THAT(list.find(3), ElementsAre(4.0f));
}

TEST(LabelList, empty_list_has_no_labels) {
  const LabelList list("", -1, "x.lst");
  EXPECT_EQ(list.size(), 0u);
  EXPECT_EQ(list.widest(), 0u);
}

TEST(LabelList, largest_id_is_taken) {
  const LabelList list("18446744073709551615 1 a", 1, "x.lst");
  EXPECT_THAT(list.find(18446744073709551615u), ElementsAre(1.0f));
}

TEST(LabelList, missing_id_is_named) {
  const LabelList list("1 2 a.jpg\n", 1, "train.lst");
  const std::string refusal = testing::refusal_of<CorruptError>([&] { list.find(7); });
  EXPECT_THAT(refusal, HasSubstr("train.lst"));
  EXPECT_THAT(refusal, HasSubstr("id 7"));
}

TEST(LabelList, row_with_too_few_columns_is_reported_with_its_line) {
  const std::string refusal = list_refusal("1 2 3 a.jpg\r\n\r\n2 2\r\n", 2);
  EXPECT_THAT(refusal, HasSubstr("train.lst"));
  EXPECT_THAT(refusal, HasSubstr("line 3"));
  EXPECT_THAT(refusal, HasSubstr("id, 2 labels, path"));
  EXPECT_THAT(refusal, HasSubstr("2 columns"));
  EXPECT_THAT(list_refusal("1 a.jpg", -1), HasSubstr("too few columns"));
  EXPECT_THAT(list_refusal("1", 1), HasSubstr("1 column"));
}

TEST(LabelList, path_where_a_label_should_be_is_reported) {
  EXPECT_THAT(list_refusal("1 2 7.jpg\n", 2), HasSubstr("'7.jpg'"));
  EXPECT_THAT(list_refusal("1 2 my cat.jpg\n", -1), HasSubstr("Write a TAB before paths"));
}

TEST(LabelList, labels_that_float_cannot_hold_are_reported) {
  for (const char* label : {"nan", "inf", "1e39", "1e999", "--1", "0x10", "1,5"}) {
    EXPECT_THAT(list_refusal("1 " + std::string(label) + " a", 1), HasSubstr("not a number"));
  }
}

TEST(LabelList, ids_that_are_no_whole_numbers_are_reported) {
  for (const char* id : {"-1", "1.0", "a", "18446744073709551616",
                         "\xef\xbb\xbf"
                         "1"}) {
    EXPECT_THAT(list_refusal(std::string(id) + " 2 a", 1), HasSubstr("the id is not a number"));
  }
}

TEST(LabelList, label_width_without_a_meaning_is_refused) {
  for (const int64_t width : {int64_t{0}, int64_t{-2}}) {
    EXPECT_THAT(testing::refusal_of<InvalidArgumentError>([&] { LabelList("", width, "x"); }),
                HasSubstr("label_width"));
  }
}

TEST(LabelList, list_is_read_from_a_file) {
  const TemporaryDirectory directory;
  write_file(directory / "x.lst", "4 0.25 a.jpg\n");
  EXPECT_THAT(LabelList::read(directory / "x.lst", 1).find(4), ElementsAre(0.25f));
  testing::refusal_of<NotFoundError>([&] { LabelList::read(directory / "y.lst", 1); });
}

TEST(LabelList, a_byte_order_mark_does_not_count) {
  const TemporaryDirectory directory;
  write_file(directory / "x.lst",
             "\xEF\xBB\xBF"
             "127\t13.5\ta.jpg\n");
  EXPECT_THAT(LabelList::read(directory / "x.lst", 1).find(127), ElementsAre(13.5f));
}

}  // namespace
}  // namespace fuelrail::mxnet
