// `fuelrail convert`, and `pack` to `.ffr`, as people run them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "command_fixture.h"

namespace fuelrail {
namespace {

using testing::CommandResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::run_command;
using ::testing::StartsWith;

TEST_F(CommandTest, converting_there_and_back_gives_the_same_files) {
  pack_photos();
  const CommandResult result = run_command({"convert", rec(), out("y.ffr")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith(out("y.ffr") + ": 7 records, "));
  EXPECT_THAT(result.err, HasSubstr("converted 7 of 7 records (100 %)"));
  EXPECT_EQ(run_command({"convert", out("y.ffr"), out("z.rec"), "-q"}).err, "");
  for (const char* extension : {".rec", ".idx", ".rec.frx"}) {
    EXPECT_EQ(file_contents(out("x") + extension), file_contents(out("z") + extension));
  }
}

TEST_F(CommandTest, packing_says_what_ffrecord_file_was_made) {
  const CommandResult result = run_command({"pack", photos(), out("y.ffr"), "-q"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, StartsWith(out("y.ffr") + ": 7 records, "));
  EXPECT_THAT(names_in(out()), ElementsAre("y.ffr", "y.ffr.frx"));
  pack_photos();
  EXPECT_EQ(run_command({"convert", rec(), out("z.ffr"), "-q"}).code, 0);
  EXPECT_EQ(file_contents(out("z.ffr")), file_contents(out("y.ffr")));
  EXPECT_EQ(file_contents(out("z.ffr.frx")), file_contents(out("y.ffr.frx")));
}

TEST_F(CommandTest, an_index_without_its_file_is_not_replaced_unasked) {
  pack_photos();
  ASSERT_EQ(run_command({"convert", rec(), out("y.ffr"), "-q"}).code, 0);
  std::filesystem::remove(rec());
  const std::string index = file_contents(out("x.idx"));
  const CommandResult refused = run_command({"convert", out("y.ffr"), rec(), "-q"});
  EXPECT_EQ(refused.code, 3);
  expect_one_line(refused.err);
  EXPECT_THAT(refused.err, HasSubstr("--overwrite"));
  EXPECT_EQ(file_contents(out("x.idx")), index);
  EXPECT_FALSE(std::filesystem::exists(rec()));
  EXPECT_EQ(run_command({"convert", out("y.ffr"), rec(), "-q", "--overwrite"}).code, 0);
}

TEST_F(CommandTest, a_conversion_that_cannot_be_says_why) {
  pack_photos();
  const auto refused = [&](const std::vector<std::string>& arguments, int code,
                           const std::string& text) {
    const CommandResult result = run_command(arguments);
    EXPECT_EQ(result.code, code) << result.err;
    expect_one_line(result.err);
    EXPECT_THAT(result.err, HasSubstr(text));
  };
  refused({"convert", rec(), out("y.rec")}, 2, "have the same format");
  refused({"convert", photos(), out("y.ffr")}, 2, "a folder cannot be converted");
  refused({"convert", out("none.rec"), out("y.ffr")}, 3, "no such file");
  write_file(out("y.ffr"), "mine");
  refused({"convert", rec(), out("y.ffr")}, 3, "already exists");
  EXPECT_EQ(file_contents(out("y.ffr")), "mine");
  EXPECT_EQ(run_command({"convert", rec(), out("y.ffr"), "--overwrite", "-q"}).code, 0);
  damage(rec(), std::filesystem::file_size(rec()) / 2, "damage");  // at neither end
  refused({"convert", rec(), out("z.ffr"), "-q"}, 1, "checksum is wrong");
  EXPECT_FALSE(std::filesystem::exists(out("z.ffr")));
}

}  // namespace
}  // namespace fuelrail
