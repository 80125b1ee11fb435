// The command as people run it: a process with an exit code, streams, limits and pipes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command_fixture.h"

namespace fuelrail {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::CommandResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::run_command;
using ::testing::StartsWith;

TEST_F(CommandTest, info_says_what_the_file_is) {
  pack_photos();
  const CommandResult text = run_command({"info", rec()});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, AllOf(HasSubstr("records      7"), HasSubstr("2: ant, bee"),
                              HasSubstr("7 jpeg of 7 records"), HasSubstr("known, and verified"),
                              HasSubstr(out("x.rec.frx"))));
  const json info = json::parse(run_command({"info", rec(), "--json"}).out);
  EXPECT_EQ(info.at("records"), 7);
  EXPECT_EQ(info.at("classes"), (std::vector<std::string>{"ant", "bee"}));
  EXPECT_EQ(info.at("label").at("dtype"), "int64");
  EXPECT_EQ(info.at("sample").at("formats").at("jpeg"), 7);
  EXPECT_EQ(info.at("checksums"), true);
  EXPECT_EQ(info.at("sidecar").at("place"), "beside");
}

TEST_F(CommandTest, info_says_that_class_names_cannot_be_rebuilt) {
  pack_photos();
  std::filesystem::remove(out("x.rec.frx"));
  const CommandResult text = run_command({"info", rec()});
  EXPECT_THAT(text.out,
              HasSubstr("names unknown: the file stores none, and they cannot be rebuilt"));
  EXPECT_EQ(json::parse(run_command({"info", rec(), "--json"}).out).at("classes"), nullptr);
}

TEST_F(CommandTest, ls_lists_what_is_asked_for) {
  pack_photos();
  const json all = json::parse(run_command({"ls", rec(), "--json"}).out);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all[4].at("record"), 4);
  EXPECT_EQ(all[4].at("id"), 4);
  EXPECT_EQ(all[4].at("labels"), (std::vector<int>{1}));
  EXPECT_EQ(all[4].at("class"), "bee");
  EXPECT_EQ(all[4].at("format"), "jpeg");
  EXPECT_EQ(all[4].at("height"), 44);
  EXPECT_EQ(all[4].at("width"), 60);
  EXPECT_EQ(all[4].at("bytes"), std::filesystem::file_size(photos() + "/bee/4.jpg"));
  const json some = json::parse(run_command({"ls", rec(), "1:3", "-1", "-2:", "--json"}).out);
  std::vector<int> records;
  for (const json& record : some) records.push_back(record.at("record"));
  EXPECT_THAT(records, ElementsAre(1, 2, 6, 5, 6));
  EXPECT_EQ(json::parse(run_command({"ls", rec(), "3:3", "--json"}).out), json::array());
  EXPECT_THAT(run_command({"ls", rec(), "4"}).out, HasSubstr("44 x 60"));
}

TEST_F(CommandTest, an_interrupt_ends_a_command_that_waits_for_its_reader) {
  pack_photos();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  // More than the pipe holds: the command has to wait when it has begun to write.
  const std::vector<std::string> arguments = [&] {
    std::vector<std::string> all{"ls", rec()};
    all.insert(all.end(), 2000, ":");
    return all;
  }();
  testing::Command command(arguments, [&] { ::dup2(ends[1], STDOUT_FILENO); });
  ::close(ends[1]);  // a command that ends too early ends the pipe
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  command.send(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(result.err, "fuelrail: interrupted\n");
  ::close(ends[0]);
}

TEST_F(CommandTest, a_full_standard_output_is_an_input_output_error) {
  pack_photos();
  const CommandResult result =
      run_command({"ls", rec()}, [] { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); });
  EXPECT_EQ(result.code, 3);
  expect_one_line(result.err);
}

TEST_F(CommandTest, cat_writes_the_images_bytes) {
  pack_photos();
  const std::string image = file_contents(photos() + "/bee/5.jpg");
  EXPECT_EQ(run_command({"cat", rec(), "5"}).out, image);
  EXPECT_EQ(run_command({"cat", rec(), "-2", "-o", out("5.jpg")}).code, 0);
  EXPECT_EQ(file_contents(out("5.jpg")), image);
  EXPECT_EQ(run_command({"cat", rec(), "5", "--raw"}).out.substr(24), image);
  EXPECT_EQ(run_command({"cat", rec(), "4:6", "5:6", "-o", out("some")}).code, 0);
  EXPECT_THAT(names_in(out("some")), ElementsAre("4.jpg", "5.jpg"));
  EXPECT_EQ(file_contents(out("some/5.jpg")), image);
  const std::string sidecar = file_contents(rec() + ".frx");
  const CommandResult companion = run_command({"cat", rec(), "5", "-o", rec() + ".frx"});
  EXPECT_EQ(companion.code, 3);
  EXPECT_THAT(companion.err, HasSubstr("the output already exists"));
  EXPECT_EQ(file_contents(rec() + ".frx"), sidecar);
  EXPECT_EQ(run_command({"cat", rec(), "4:6", "-o", out("some")}).code, 3);
  EXPECT_EQ(run_command({"cat", rec(), "4:6", "-o", out("some"), "--overwrite"}).code, 0);
  const CommandResult itself = run_command({"cat", rec(), "5", "-o", rec()});
  EXPECT_EQ(itself.code, 2);
  EXPECT_THAT(itself.err, HasSubstr("the source and the output are the same file"));
  EXPECT_EQ(run_command({"cat", rec(), "5"}).out, image);
  const CommandResult many = run_command({"cat", rec(), ":"});
  EXPECT_EQ(many.code, 2);
  EXPECT_EQ(many.out, "");
}

TEST_F(CommandTest, every_command_says_in_one_line_what_is_wrong_with_its_file) {
  pack_photos();
  const std::string whole = file_contents(rec());
  write_file(out("empty.rec"), "");
  write_file(out("cut.rec"), whole.substr(0, whole.size() - 5));
  write_file(out("other.rec"), "this is something else altogether");
  std::filesystem::create_directory(out("hollow"));
  struct Case {
    const char* file;
    int code;
  };
  for (const Case& bad : {Case{"missing.rec", 3}, Case{"empty.rec", 1}, Case{"cut.rec", 1},
                          Case{"other.rec", 1}, Case{"hollow", 1}}) {
    for (const char* command : {"info", "ls", "cat", "index"}) {
      if (std::string(bad.file) == "hollow" && std::string(command) == "index") continue;
      std::vector<std::string> arguments{command, out(bad.file)};
      if (std::string(command) == "cat") arguments.push_back("0");
      const CommandResult result = run_command(arguments);
      EXPECT_EQ(result.code, bad.code) << command << " " << bad.file;
      expect_one_line(result.err);
      EXPECT_THAT(result.err, HasSubstr(bad.file));
      EXPECT_EQ(result.out, "") << command << " " << bad.file;
    }
    const CommandResult verified = run_command({"verify", out(bad.file), "-q"});
    EXPECT_EQ(verified.code, bad.code) << bad.file;
    EXPECT_THAT(verified.out + verified.err, HasSubstr(bad.file));
  }
}

TEST_F(CommandTest, ls_goes_on_past_a_damaged_record) {
  pack_photos();
  const size_t middle = std::filesystem::file_size(rec()) / 2;
  damage(rec(), middle, "\x01\x02\x03");
  const CommandResult result = run_command({"ls", rec(), "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(json::parse(result.out).size(), 7u);
  expect_one_line(result.err);
}

TEST_F(CommandTest, usage_errors_suggest_the_nearest_name) {
  struct Case {
    std::vector<std::string> arguments;
    const char* message;
  };
  const std::vector<Case> cases{
      {{"pakc", "a", "b"}, "unknown command 'pakc'. Did you mean 'pack'?"},
      {{"pack", "--resise", "2", "a", "b.rec"},
       "pack: unknown option '--resise'. Did you mean '--resize'?"},
      {{"verify", "--deocde", "a"}, "unknown option '--deocde'. Did you mean '--decode'?"},
      {{"info"}, "info: FILE is required"},
      {{"info", "a.rec", "b.rec"}, "info: unexpected argument 'b.rec'"},
      {{}, "a command is missing"},
      {{"pack", photos(), rec(), "--quality", "0"},
       "`quality` is out of range: expected 1 to 100, found 0"},
      {{"pack", photos(), rec(), "--quality", "high"}, "--quality"},
      {{"pack", photos(), rec(), "--split", "train"}, "`--split` is invalid"},
      {{"pack", photos(), rec(), "--split", "a=.9,b=.2"}, "split"},
      {{"pack", photos(), rec(), "--max-errors", "few"}, "`--max-errors` is invalid"},
      {{"pack", photos(), rec(), "--max-errors=-1%"}, "or a whole number, found -0.01"},
      {{"pack", photos(), rec(), "--max-errors", "101%"}, "or a whole number, found 1.01"},
      {{"pack", photos(), rec(), "--max-errors", "nan%"}, "or a whole number, found nan"},
      {{"pack", photos(), rec(), "--root", "/tmp"}, "`root` can be given only for a list"},
      {{"pack", photos(), out("x.data")}, "ends in .rec"},
      {{"pack", photos(), rec(), "-j", "-2"}, "threads"},
      {{"pack", photos(), rec(), "-j", "100000"},
       "`threads` is out of range: expected 1 to 1024, found 100000"},
      {{"verify", photos(), "-j", "100000"},
       "`threads` is out of range: expected 1 to 1024, found 100000"},
  };
  for (const Case& wrong : cases) {
    const CommandResult result = run_command(wrong.arguments);
    EXPECT_EQ(result.code, 2) << wrong.message;
    expect_one_line(result.err);
    EXPECT_THAT(result.err, HasSubstr(wrong.message));
    EXPECT_EQ(result.out, "");
  }
  pack_photos();
  EXPECT_EQ(run_command({"ls", rec(), "7"}).code, 2);
  EXPECT_EQ(run_command({"ls", rec(), "1:x"}).code, 2);
}

TEST_F(CommandTest, help_and_version_go_to_standard_output) {
  EXPECT_THAT(run_command({"--version"}).out, StartsWith("fuelrail "));
  EXPECT_EQ(run_command({"--version"}).code, 0);
  for (const char* command : {"pack", "convert", "info", "ls", "cat", "verify", "index"}) {
    const CommandResult result = run_command({command, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr(std::string("fuelrail ") + command));
    EXPECT_THAT(result.out, HasSubstr("Example"));
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(run_command({"--help"}).out, HasSubstr(command));
  }
}

TEST_F(CommandTest, a_sidecar_that_is_made_is_said_once) {
  pack_photos();
  std::filesystem::remove(out("x.rec.frx"));
  const CommandResult first = run_command({"info", rec(), "--json"});
  expect_one_line(first.err);
  EXPECT_THAT(first.err, HasSubstr("the file had no sidecar; created " + out("x.rec.frx")));
  EXPECT_EQ(json::parse(first.out).at("sidecar").at("made"), true);
  const CommandResult second = run_command({"info", rec(), "--json"});
  EXPECT_EQ(second.err, "");
  EXPECT_EQ(json::parse(second.out).at("sidecar").at("made"), false);
}

TEST_F(CommandTest, ls_of_a_folder_shows_the_files) {
  EXPECT_THAT(run_command({"ls", photos(), "5"}).out, HasSubstr(photo("bee/5.jpg") + "\n"));
  const json line = json::parse(run_command({"ls", photos(), "5", "--json"}).out).at(0);
  EXPECT_EQ(line.at("path"), photo("bee/5.jpg"));
  EXPECT_EQ(line.at("class"), "bee");
}

}  // namespace
}  // namespace fuelrail
