#include "fuelrail/container/class_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Names = std::vector<std::string>;

std::string complaint_about(const std::string& text) {
  return testing::refusal_of<CorruptError>([&] { parse_class_names(text, "names.txt"); });
}

TEST(ClassNames, a_text_has_a_name_on_each_line) {
  EXPECT_THAT(parse_class_names("\xEF\xBB\xBF"
                                "cat\r\n hot dog \nant\n\n \n",
                                "x"),
              ElementsAre("cat", "hot dog", "ant"));
  EXPECT_THAT(parse_class_names("one", "x"), ElementsAre("one"));
}

TEST(ClassNames, a_text_that_would_shift_numbers_is_refused_with_its_line) {
  EXPECT_EQ(
      complaint_about("cat\n\ndog\n"),
      "names.txt: line 2 is empty, so class 1 has no name: expected a text file with one class "
      "name per line. Remove the line.");
  EXPECT_EQ(
      complaint_about("cat\ndog\ncat\n"),
      "names.txt: line 3 repeats the class name on line 1: found 'cat'. Remove one of the two "
      "lines.");
  EXPECT_THAT(complaint_about(std::string("ca\0t\n", 5)), HasSubstr("is not a text file"));
}

TEST(ClassNames, are_read_from_a_text_a_folder_and_a_list) {
  const TemporaryDirectory directory;
  write_file(directory / "names.txt", "dog\ncat\n");
  write_file(directory / "train/bee/0.jpg", "x");
  write_file(directory / "train/ant/0.jpg", "x");
  write_file(directory / "train.csv", "path,label\na.jpg,fox\nb.jpg,emu\n");
  EXPECT_THAT(read_class_names(directory / "names.txt"), ElementsAre("dog", "cat"));
  EXPECT_THAT(read_class_names(directory / "train"), ElementsAre("ant", "bee"));
  EXPECT_THAT(read_class_names(directory / "train.csv"), ElementsAre("emu", "fox"));
}

TEST(ClassNames, a_file_that_names_none_is_refused) {
  const TemporaryDirectory directory;
  write_file(directory / "empty.txt", "\n");
  write_file(directory / "numbers.lst", "0\t1\ta.jpg\n");
  for (const char* name : {"empty.txt", "numbers.lst"}) {
    EXPECT_THAT(
        testing::refusal_of<InvalidArgumentError>([&] { read_class_names(directory / name); }),
        HasSubstr("the file has no class names"));
  }
  EXPECT_THROW(read_class_names(directory / "none.txt"), NotFoundError);
  EXPECT_THROW(read_class_names(directory / "none.rec"), NotFoundError);
}

TEST(ClassNames, a_table_with_an_empty_or_a_repeated_name_is_refused) {
  check_class_names(Names{"cat", "dog"});
  EXPECT_EQ(testing::refusal_of<InvalidArgumentError>([] {
              check_class_names(Names{"cat", "dog", "cat"});
            }),
            "two classes have the same name: expected a different name for each class, found 'cat' "
            "as class 0 and 2");
  EXPECT_EQ(testing::refusal_of<InvalidArgumentError>([] {
              check_class_names(Names{"cat", ""});
            }),
            "the name of a class is empty: expected a name for class 1, found an empty name");
}

TEST(ClassNames, the_first_difference_of_two_tables_is_said) {
  EXPECT_FALSE(first_difference(Names{"cat"}, Names{"cat"}));
  const auto said = [](const Names& expected, const Names& found) {
    const auto difference = first_difference(expected, found).value();
    return difference.expected + " | " + difference.found;
  };
  EXPECT_EQ(said({"ant", "bee"}, {"ant", "cat"}), "'bee' as class 1 | 'cat' as class 1");
  EXPECT_EQ(said({"ant", "bee"}, {"ant"}), "'bee' as class 1 | no class 1 (the last class is 0)");
  EXPECT_EQ(said({"ant"}, {}), "'ant' as class 0 | no class names");
}

}  // namespace
}  // namespace fuelrail
