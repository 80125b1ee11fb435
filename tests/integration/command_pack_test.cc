// `fuelrail pack` as people run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_fixture.h"
#include "fuelrail/testing/bzna_file.h"

namespace fuelrail {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::CommandResult;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::run_command;
using ::testing::StartsWith;

TEST_F(CommandTest, packing_says_what_was_made) {
  const CommandResult result = run_command({"pack", photos(), rec(), "-j", "2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, StartsWith(rec() + ": 7 records, "));
  EXPECT_THAT(result.err, HasSubstr("read 7 of 7 images (100 %)"));
  EXPECT_THAT(names_in(out()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
}

TEST_F(CommandTest, quiet_says_nothing_on_standard_error) {
  EXPECT_EQ(run_command({"pack", photos(), rec(), "-q"}).err, "");
}

TEST_F(CommandTest, the_bytes_are_the_same_for_any_number_of_threads) {
  std::string first;
  for (const char* threads : {"1", "2", "5"}) {
    ASSERT_EQ(
        run_command({"pack", photos(), rec(), "-j", threads, "--resize", "32", "--overwrite"}).code,
        0);
    const std::string bytes =
        file_contents(rec()) + file_contents(out("x.idx")) + file_contents(out("x.rec.frx"));
    if (first.empty()) first = bytes;
    EXPECT_EQ(bytes, first) << threads;
  }
}

TEST_F(CommandTest, a_split_makes_one_file_a_part) {
  const CommandResult result =
      run_command({"pack", photos(), rec(), "--split", "train=.7,val=.3", "--seed", "3", "-q"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("x_train.rec: 5 records"), HasSubstr("x_val.rec: 2")));
  EXPECT_EQ(run_command({"verify", out("x_train.rec"), "--decode"}).code, 0);
}

TEST_F(CommandTest, images_left_out_are_warned_of_and_beyond_the_allowance_fail) {
  write_file(photos() + "/ant/broken.jpg", "no image");
  const CommandResult within = run_command({"pack", photos(), rec(), "--max-errors", "20%", "-q"});
  EXPECT_EQ(within.code, 1);
  EXPECT_THAT(within.out, HasSubstr("x.rec: 7 records"));
  EXPECT_THAT(within.err, HasSubstr("1 image could not be read and was skipped"));
  EXPECT_TRUE(std::filesystem::exists(rec()));
  const json line = json::parse(file_contents(out("x.rec.errors.jsonl")));
  EXPECT_EQ(line.at("path"), photos() + "/ant/broken.jpg");

  const CommandResult beyond = run_command({"pack", photos(), out("y.rec")});
  EXPECT_EQ(beyond.code, 1);
  EXPECT_THAT(beyond.err, StartsWith("fuelrail: warning: " + photos() + "/ant/broken.jpg cannot"));
  EXPECT_THAT(beyond.err, HasSubstr("y.rec.errors.jsonl lists all of them"));
  EXPECT_THAT(beyond.err, HasSubstr("the remaining images are checked"));
  EXPECT_THAT(beyond.err, ::testing::Not(HasSubstr("read 8 of 8")));
  EXPECT_TRUE(std::filesystem::exists(out("y.rec.errors.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(out("y.rec")));
}

// The invented plugin encodes nothing: of three images, only the photograph has to be encoded.
TEST_F(CommandTest, an_image_that_the_encoder_refuses_is_left_out_or_ends_the_job) {
  const std::string list = photos() + "/x.lst";
  for (const char* const name : {"a.mp4", "c.mp4"}) {
    write_file(photos() + "/" + name, bzna::MadeRecord{.name = name}.bytes());
  }
  write_file(list, "0\t0\ta.mp4\n1\t1\tant/0.jpg\n2\t1\tc.mp4\n");
  const auto pack = [&](const std::string& output, const char* errors) {
    return run_command({"pack", list, out(output), "--max-errors", errors, "-q"},
                       [] { ::setenv("FUELRAIL_HEVC", INVENTED_HEVC, 1); });
  };
  const CommandResult within = pack("x.bzna", "1");
  EXPECT_EQ(within.code, 1);
  EXPECT_THAT(within.out, HasSubstr("x.bzna: 2 records"));
  const json line = json::parse(file_contents(out("x.bzna.errors.jsonl")));
  EXPECT_EQ(line.at("path"), photos() + "/ant/0.jpg");
  EXPECT_THAT(line.at("reason").get<std::string>(),
              HasSubstr("the invented plugin does not encode"));

  EXPECT_EQ(pack("y.bzna", "0").code, 1);
  EXPECT_FALSE(std::filesystem::exists(out("y.bzna")));
}

TEST_F(CommandTest, files_that_are_no_images_are_left_out_with_a_warning) {
  write_file(photos() + "/ant/readme.txt", "about ants");
  const CommandResult result = run_command({"pack", photos(), rec(), "-q"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, StartsWith("fuelrail: warning: "));
  EXPECT_THAT(result.out, HasSubstr("7 records"));
}

TEST_F(CommandTest, a_folder_without_images_where_they_should_be_is_a_data_problem) {
  std::filesystem::create_directory(photos() + "/cat");
  for (const std::string& folder : {photos(), photos() + "/ant", out()}) {
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"pack", folder, rec(), "-q"},
          std::vector<std::string>{"verify", folder, "-q"},
          std::vector<std::string>{"info", folder}}) {
      const CommandResult result = run_command(arguments);
      EXPECT_EQ(result.code, 1) << arguments[0] << " " << folder;
      EXPECT_THAT(result.out + result.err, HasSubstr(folder));
    }
  }
}

TEST_F(CommandTest, a_giant_file_is_one_image_left_out) {
  write_file(photos() + "/ant/000.jpg", "");
  std::filesystem::resize_file(photos() + "/ant/000.jpg", 900'000'000'000);
  const CommandResult result = run_command({"pack", photos(), rec(), "--max-errors", "1", "-q"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("7 records"));
  const json line = json::parse(file_contents(out("x.rec.errors.jsonl")));
  EXPECT_EQ(line.at("path"), photos() + "/ant/000.jpg");
  const CommandResult listed = run_command({"ls", photos()});
  EXPECT_EQ(listed.code, 1);
  EXPECT_EQ(std::count(listed.out.begin(), listed.out.end(), '\n'), 8);  // a head, and the others
  EXPECT_THAT(listed.err, HasSubstr("000.jpg"));
  const CommandResult verified = run_command({"verify", photos(), "-q"});
  EXPECT_EQ(verified.code, 1);
  EXPECT_THAT(verified.out, StartsWith(photos() + "/ant/000.jpg: "));
}

TEST_F(CommandTest, a_bad_line_of_a_list_is_a_data_problem_with_its_line) {
  write_file(directory_ / "x.lst", "0\t1\tphotos/ant/0.jpg\nx\t1\tphotos/bee/4.jpg\n");
  const CommandResult result = run_command({"pack", directory_ / "x.lst", rec()});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("x.lst cannot be packed: line 2: the id is not a number"));
  EXPECT_THAT(
      result.err,
      HasSubstr("At most 0 of 1 images may be skipped (max_errors, --max-errors), found 1"));
}

TEST_F(CommandTest, a_full_disk_is_an_input_output_error_and_leaves_nothing) {
  for (const rlim_t limit : {rlim_t{1}, rlim_t{1000}, rlim_t{6000}}) {
    const CommandResult result = run_command({"pack", photos(), rec(), "-q"}, [limit] {
      const rlimit bytes{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &bytes);
    });
    EXPECT_EQ(result.code, 3) << limit;
    EXPECT_THAT(names_in(out()), IsEmpty()) << limit;
  }
}

TEST_F(CommandTest, progress_on_a_terminal_is_one_line_that_is_replaced) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) GTEST_SKIP() << "there are no pseudo-terminals here (/dev/ptmx)";
  ASSERT_EQ(::grantpt(terminal), 0);
  ASSERT_EQ(::unlockpt(terminal), 0);
  const std::string name = ::ptsname(terminal);
  const int other_end = ::open(name.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(other_end, 0);
  const CommandResult result =
      run_command({"pack", photos(), rec()}, [other_end] { ::dup2(other_end, STDERR_FILENO); });
  EXPECT_EQ(result.code, 0);
  std::string shown(4096, '\0');
  shown.resize(
      static_cast<size_t>(std::max<ssize_t>(::read(terminal, shown.data(), shown.size()), 0)));
  EXPECT_THAT(shown, StartsWith("\r"));
  EXPECT_THAT(shown, HasSubstr("read 7 of 7 images (100 %), "));
  EXPECT_THAT(shown, EndsWith("\r\x1b[K"));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("\n")));
  ::close(other_end);
  ::close(terminal);
}

TEST_F(CommandTest, an_output_that_is_there_is_replaced_only_when_asked) {
  pack_photos();
  const std::string before = file_contents(rec());
  const CommandResult refused = run_command({"pack", photos(), rec(), "-q", "--resize", "20"});
  EXPECT_EQ(refused.code, 3);
  expect_one_line(refused.err);
  EXPECT_THAT(refused.err, HasSubstr("already exists"));
  EXPECT_EQ(file_contents(rec()), before);
  EXPECT_EQ(run_command({"pack", photos(), rec(), "-q", "--resize", "20", "--overwrite"}).code, 0);
  EXPECT_NE(file_contents(rec()), before);
}

TEST_F(CommandTest, images_in_no_part_of_a_split_are_said) {
  const CommandResult result =
      run_command({"pack", photos(), rec(), "--split", "train=.5,val=.25", "-q"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("2 images in no part"));
}

TEST_F(CommandTest, parts_of_a_data_set_taken_for_classes_are_warned_of) {
  for (const char* name : {"set/train/ant/0.jpg", "set/train/bee/1.jpg", "set/val/ant/2.jpg"}) {
    write_file(directory_ / name, file_contents(photo("ant/0.jpg")));
  }
  const CommandResult result = run_command({"pack", directory_ / "set", rec(), "-q"});
  EXPECT_EQ(result.code, 0);
  expect_one_line(result.err);
  EXPECT_THAT(result.err, HasSubstr("'train' and 'val' are read as classes"));
}

}  // namespace
}  // namespace fuelrail
