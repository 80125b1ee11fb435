#include "fuelrail/cli/cli_main.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::call;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Said;
using ::testing::StartsWith;

void do_nothing(int) {}

TEST(CliMain, may_be_called_again_and_again) {
  const TemporaryDirectory directory;
  write_file(directory / "photos/ant/0.jpg", as_text(make_jpeg(20, 30, 1)));
  const std::string photos = directory / "photos";
  const std::string rec = directory / "x.rec";
  EXPECT_EQ(call({"pack", photos.c_str(), rec.c_str(), "--resize", "10"}).code, 0);
  EXPECT_THAT(call({"ls", rec.c_str()}).out, HasSubstr("10 x 15"));
  EXPECT_EQ(call({"ls", "--nonsense"}).code, 2);
  // Options of an earlier call are forgotten.
  EXPECT_EQ(call({"pack", photos.c_str(), rec.c_str(), "--overwrite"}).code, 0);
  EXPECT_THAT(call({"ls", rec.c_str()}).out, HasSubstr("20 x 30"));
  EXPECT_EQ(call({"verify", rec.c_str(), "--decode"}).code, 0);
}

TEST(CliMain, verify_says_what_helps_where_an_image_cannot_be_decoded) {
  const TemporaryDirectory directory;
  const std::string jpeg(as_text(make_jpeg(64, 64, 1)));
  write_file(directory / "photos/ant/0.jpg", jpeg.substr(0, jpeg.size() - 300));
  const std::string rec = directory / "x.rec";
  ASSERT_EQ(call({"pack", (directory / "photos").c_str(), rec.c_str()}).code, 0);
  const Said said = call({"verify", rec.c_str(), "--decode"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("pack the images again with --decode --max-errors N"));
  EXPECT_THAT(said.err, HasSubstr("cannot be decoded are intact"));
  EXPECT_THAT(said.err, Not(HasSubstr("fuelrail recover")));
  const Said unknown = call({"verify", rec.c_str(), "--decode", "--sidecar", "ignore"});
  EXPECT_THAT(unknown.err, HasSubstr("may be damaged: their checksums are unknown"));
  EXPECT_THAT(unknown.err, Not(HasSubstr("are intact")));
}

TEST(CliMain, puts_signal_handlers_back) {
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ}) {
    struct sigaction mine {};
    mine.sa_handler = do_nothing;
    struct sigaction before {};
    ASSERT_EQ(::sigaction(signal, &mine, &before), 0);
    call({"--version"});
    call({"info", "/no/such/file.rec"});
    struct sigaction now {};
    ASSERT_EQ(::sigaction(signal, &before, &now), 0);
    EXPECT_EQ(now.sa_handler, do_nothing) << signal;
  }
}

TEST(CliMain, errors_are_one_line_on_standard_error) {
  const Said said = call({"info", "/no/such/file.rec"});
  EXPECT_EQ(said.code, 3);
  EXPECT_EQ(said.out, "");
  EXPECT_THAT(said.err, StartsWith("fuelrail: /no/such/file.rec: "));
}

TEST(CliMain, a_store_that_is_not_read_is_wrong_use_of_any_command) {
  const TemporaryDirectory directory;
  const std::string here = directory / "x.rec";
  const std::string photos = directory / "photos";
  const std::string rows = directory / "rows.lst";
  write_file(photos + "/ant/0.jpg", "");
  write_file(rows, "0\t1\tant/0.jpg\n");
  const char* const there = "s3://bucket/x.rec";
  const std::vector<std::vector<std::string>> calls{
      {"pack", there, here},
      {"pack", photos, there},
      {"pack", rows, here, "--root", there},
      {"pack", rows, here, "--root=s3://bucket/x.rec"},
      {"convert", there, here},
      {"merge", here, there},
      {"im2rec", there, photos, "--list"},
      {"info", there},
      {"ls", there},
      {"cat", there, "0"},
      {"verify", there},
      {"index", there},
      {"bench", there},
      {"doctor", there},
  };
  for (const auto& arguments : calls) {
    const Said said = call(arguments);
    EXPECT_EQ(said.code, 2) << arguments.front();
    EXPECT_THAT(said.err, StartsWith("fuelrail: s3://bucket/x.rec: s3:// is not supported yet"));
    EXPECT_EQ(said.out, "");
    EXPECT_FALSE(std::filesystem::exists(here));
  }
}

// Tested here and not with the binary, which may be in a folder that other users cannot read.
TEST(CliMain, an_unreadable_folder_is_an_input_output_error) {
  const TemporaryDirectory directory;
  write_file(directory / "photos/ant/0.jpg", as_text(make_jpeg(20, 30, 1)));
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  std::filesystem::permissions(directory / "photos/ant", std::filesystem::perms::none);
  const std::string photos = directory / "photos";
  const std::string rec = directory / "x.rec";
  const std::string said = in_unprivileged_child([&] {
    const Said result = call({"pack", photos.c_str(), rec.c_str()});
    return std::to_string(result.code) + " " + result.err;
  });
  std::filesystem::permissions(directory / "photos/ant", std::filesystem::perms::owner_all);
  EXPECT_THAT(said, StartsWith("3 fuelrail: " + photos + "/ant"));
  EXPECT_THAT(said, HasSubstr("ermission denied"));
  EXPECT_FALSE(std::filesystem::exists(rec));
  EXPECT_FALSE(std::filesystem::exists(rec + ".partial"));
}

TEST(CliMain, what_verify_cannot_read_is_an_input_output_error) {
  const TemporaryDirectory directory;
  write_file(directory / "photos/ant/0.jpg", as_text(make_jpeg(20, 30, 1)));
  write_file(directory / "photos/ant/1.jpg", as_text(make_jpeg(20, 30, 2)));
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  std::filesystem::permissions(directory / "photos/ant/0.jpg", std::filesystem::perms::none);
  const std::string photos = directory / "photos";
  const std::string said = in_unprivileged_child([&] {
    const Said result = call({"verify", photos.c_str(), "-q"});
    return std::to_string(result.code) + " " + result.out;
  });
  EXPECT_THAT(said, StartsWith("3 " + photos + "/ant/0.jpg: "));
  EXPECT_THAT(said, HasSubstr("ermission denied"));
  EXPECT_THAT(said, HasSubstr("2 records, 1 problem"));
}

TEST(CliMain, line_ends_in_names_do_not_break_the_line) {
  const Said said = call({"info", "/no/such\nfile.rec"});
  EXPECT_EQ(std::count(said.err.begin(), said.err.end(), '\n'), 1);
}

TEST(CliMain, doctor_speaks_in_words_and_in_json) {
  const Said words = call({"doctor"});
  EXPECT_EQ(words.code, 0);
  EXPECT_THAT(words.out, HasSubstr("default threads"));
  const Said json = call({"doctor", "--json"});
  EXPECT_EQ(json.code, 0);
  EXPECT_THAT(json.out, StartsWith("{\"fuelrail\":{\"version\":"));
}

TEST(CliMain, a_missing_command_is_a_usage_error) { EXPECT_EQ(call({}).code, 2); }

TEST(CliMain, an_interrupt_before_the_call_does_not_count) {
  struct sigaction mine {};
  mine.sa_handler = do_nothing;
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGINT, &mine, &before), 0);
  ::raise(SIGINT);
  EXPECT_EQ(call({"--version"}).code, 0);
  ::sigaction(SIGINT, &before, nullptr);
}

}  // namespace
}  // namespace fuelrail
