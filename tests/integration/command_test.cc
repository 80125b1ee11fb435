// The command as people run it: a process with an exit code, streams, limits and pipes.
#include "command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

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

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Two classes, "ant" with 4 and "bee" with 3 photographs, and an empty folder for outputs.
class CommandTest : public ::testing::Test {
 protected:
  CommandTest() {
    for (uint64_t i = 0; i < 7; ++i) {
      const std::string name =
          std::string(i < 4 ? "ant" : "bee") + "/" + std::to_string(i) + ".jpg";
      const auto jpeg = make_jpeg(40 + static_cast<int64_t>(i), 60, i);
      write_file(photos() + "/" + name, as_text(jpeg));
    }
    std::filesystem::create_directory(out());
  }

  std::string photos() const { return directory_ / "photos"; }
  std::string out() const { return directory_ / "out"; }
  std::string out(const std::string& name) const { return out() + "/" + name; }
  std::string rec() const { return out("x.rec"); }

  void pack_photos() const { ASSERT_EQ(run_command({"pack", photos(), rec(), "-q"}).code, 0); }

  // For Command: sidecars that cannot lie beside their file go here.
  std::function<void()> own_cache() const {
    return [cache = out("cache")] { ::setenv("XDG_CACHE_HOME", cache.c_str(), 1); };
  }

  // Overwrites bytes of a file.
  static void damage(const std::string& path, size_t offset, const std::string& bytes) {
    std::string contents = file_contents(path);
    ASSERT_LE(offset + bytes.size(), contents.size());
    contents.replace(offset, bytes.size(), bytes);
    write_file(path, contents);
  }

  TemporaryDirectory directory_;
};

// One line that begins with "fuelrail: ".
void expect_one_line(const std::string& err) {
  EXPECT_THAT(err, StartsWith("fuelrail: "));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_THAT(err, EndsWith("\n"));
}

TEST_F(CommandTest, packing_says_what_was_made) {
  const CommandResult result = run_command({"pack", photos(), rec(), "-j", "2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, StartsWith(rec() + ": 7 records, "));
  EXPECT_THAT(result.err, HasSubstr("packed 7 of 7 images (100 %)"));
  EXPECT_THAT(names_in(out()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
}

TEST_F(CommandTest, quiet_says_nothing_on_standard_error) {
  EXPECT_EQ(run_command({"pack", photos(), rec(), "-q"}).err, "");
}

TEST_F(CommandTest, the_bytes_are_the_same_for_any_number_of_threads) {
  std::string first;
  for (const char* threads : {"1", "2", "5"}) {
    ASSERT_EQ(run_command({"pack", photos(), rec(), "-j", threads, "--resize", "32"}).code, 0);
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
  EXPECT_THAT(within.err, HasSubstr("1 image could not be read and is left out"));
  EXPECT_TRUE(std::filesystem::exists(rec()));
  const json line = json::parse(file_contents(out("x.rec.errors.jsonl")));
  EXPECT_EQ(line.at("path"), photos() + "/ant/broken.jpg");

  const CommandResult beyond = run_command({"pack", photos(), out("y.rec"), "-q"});
  EXPECT_EQ(beyond.code, 1);
  expect_one_line(beyond.err);
  EXPECT_THAT(beyond.err, HasSubstr("broken.jpg"));
  EXPECT_TRUE(std::filesystem::exists(out("y.rec.errors.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(out("y.rec")));
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

TEST_F(CommandTest, a_label_that_is_no_number_is_a_data_problem_with_its_line) {
  write_file(directory_ / "x.lst", "0\t1\tphotos/ant/0.jpg\n1\tbee\tphotos/bee/4.jpg\n");
  const CommandResult result = run_command({"pack", directory_ / "x.lst", rec()});
  EXPECT_EQ(result.code, 1);
  expect_one_line(result.err);
  EXPECT_THAT(result.err, HasSubstr("x.lst: line 2: the label is not a number"));
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
  EXPECT_THAT(text.out, HasSubstr("names unknown: the file has none, and they cannot be rebuilt"));
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

TEST_F(CommandTest, ls_ends_quietly_when_its_reader_has_gone) {
  pack_photos();
  const CommandResult result = run_command({"ls", rec()}, [] {
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(126);
    ::close(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
  });
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(result.err, "");
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
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  command.send(SIGINT);
  const CommandResult result = command.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(result.err, "fuelrail: interrupted\n");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(CommandTest, progress_on_a_terminal_is_one_line_that_is_replaced) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
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
  EXPECT_THAT(shown, HasSubstr("packed 7 of 7 images (100 %), "));
  EXPECT_THAT(shown, EndsWith("\r\x1b[K"));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("\n")));
  ::close(other_end);
  ::close(terminal);
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
  EXPECT_EQ(run_command({"cat", rec(), "4:6", "-o", out("some")}).code, 0);
  EXPECT_THAT(names_in(out("some")), ElementsAre("4.jpg", "5.jpg"));
  EXPECT_EQ(file_contents(out("some/5.jpg")), image);
  const CommandResult many = run_command({"cat", rec(), ":"});
  EXPECT_EQ(many.code, 2);
  EXPECT_EQ(many.out, "");
}

TEST_F(CommandTest, verify_is_content_with_a_whole_file) {
  pack_photos();
  const CommandResult text = run_command({"verify", rec(), "--decode", "-j", "3", "-q"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, rec() + ": 7 records, all well\n");
  const json report = json::parse(run_command({"verify", rec(), "--json", "-q"}).out);
  EXPECT_EQ(report.at("ok"), true);
  EXPECT_EQ(report.at("records"), 7);
  EXPECT_THAT(report.at("damage"), IsEmpty());
  EXPECT_EQ(run_command({"verify", photos(), "--decode", "-q"}).code, 0);
}

TEST_F(CommandTest, verify_finds_a_changed_byte_by_its_checksum) {
  pack_photos();
  // In the middle: the first and last 4 KiB are what ties the sidecar to the file.
  const size_t middle = std::filesystem::file_size(rec()) / 2;
  ASSERT_GE(middle, 4096u);
  damage(rec(), middle, "\x01\x02\x03");
  const CommandResult result = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("checksum"));
  EXPECT_THAT(result.out, HasSubstr(rec() + ": record "));
  const json report = json::parse(run_command({"verify", rec(), "-q", "--json"}).out);
  EXPECT_EQ(report.at("ok"), false);
  EXPECT_EQ(report.at("damage").size(), 1u);
}

// Opening sets such a sidecar aside, and the checksums with it.
TEST_F(CommandTest, verify_finds_a_changed_byte_in_a_sidecar) {
  pack_photos();
  const std::string whole = file_contents(out("x.rec.frx"));
  for (size_t at = 0; at < whole.size(); at += 13) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_file(out("x.rec.frx"), changed);
    const CommandResult text = run_command({"verify", rec(), "-q"}, own_cache());
    EXPECT_EQ(text.code, 1) << at;
    EXPECT_THAT(text.out, StartsWith(out("x.rec.frx") + ": ")) << at;
    EXPECT_THAT(text.out, HasSubstr("7 records, 1 problem")) << at;
  }
  const json report = json::parse(run_command({"verify", rec(), "-q", "--json"}, own_cache()).out);
  EXPECT_EQ(report.at("ok"), false);
  EXPECT_EQ(report.at("checksums"), false);
  ASSERT_EQ(report.at("damage").size(), 1u);
  EXPECT_EQ(report.at("damage")[0].at("path"), out("x.rec.frx"));
}

TEST_F(CommandTest, verify_finds_a_sidecar_of_another_file) {
  pack_photos();
  std::filesystem::remove(photos() + "/ant/0.jpg");
  ASSERT_EQ(run_command({"pack", photos(), out("y.rec"), "-q"}).code, 0);
  write_file(out("x.rec.frx"), file_contents(out("y.rec.frx")));
  const CommandResult result = run_command({"verify", rec(), "-q"}, own_cache());
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, StartsWith(out("x.rec.frx") + ": the sidecar does not belong"));
}

// There a change makes the sidecar look like another file's; its checksums still tell the record.
TEST_F(CommandTest, verify_finds_a_changed_bit_in_the_first_and_in_the_last_4_kib) {
  pack_photos();
  const std::string whole = file_contents(rec());
  ASSERT_GT(whole.size(), 8192u);
  struct Case {
    size_t offset;
    size_t record;
  };
  for (const Case& change : {Case{600, 0}, Case{whole.size() - 600, 6}}) {
    write_file(rec(), whole);
    damage(rec(), change.offset, std::string(1, static_cast<char>(whole[change.offset] ^ 1)));
    const CommandResult text = run_command({"verify", rec(), "-q"}, own_cache());
    EXPECT_EQ(text.code, 1);
    EXPECT_THAT(text.out,
                HasSubstr(rec() + ": record " + std::to_string(change.record) + ", offset "));
    const json report =
        json::parse(run_command({"verify", rec(), "-q", "--json"}, own_cache()).out);
    EXPECT_EQ(report.at("ok"), false);
    EXPECT_EQ(report.at("checksums"), true);
    ASSERT_EQ(report.at("damage").size(), 2u);
    EXPECT_EQ(report.at("damage")[0].at("path"), out("x.rec.frx"));
    EXPECT_EQ(report.at("damage")[1].at("path"), rec());
    EXPECT_EQ(report.at("damage")[1].at("record"), change.record);
  }
}

TEST_F(CommandTest, verify_says_that_checksums_are_unknown) {
  pack_photos();
  EXPECT_EQ(json::parse(run_command({"verify", rec(), "-q", "--json"}).out).at("checksums"), true);
  std::filesystem::remove(out("x.rec.frx"));
  const CommandResult text = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.out, rec() +
                          ": checksums unknown: payloads were read but not checked; 'fuelrail "
                          "index' records them\n" +
                          rec() + ": 7 records, none damaged\n");
  const json report = json::parse(run_command({"verify", rec(), "-q", "--json"}).out);
  EXPECT_EQ(report.at("ok"), true);
  EXPECT_EQ(report.at("checksums"), false);
  ASSERT_EQ(run_command({"index", rec(), "-q"}).code, 0);
  EXPECT_EQ(run_command({"verify", rec(), "-q"}).out, rec() + ": 7 records, all well\n");
}

TEST_F(CommandTest, recovery_uses_the_checksums_of_the_sidecar_beside_the_file) {
  pack_photos();
  const size_t middle = std::filesystem::file_size(rec()) / 2;
  damage(rec(), middle, "\x01\x02\x03");
  const CommandResult result = run_command({"verify", rec(), "-q", "--recover"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("checksum"));
}

TEST_F(CommandTest, damage_inside_an_image_is_found_by_decoding) {
  const std::string image = file_contents(photos() + "/ant/2.jpg");
  write_file(photos() + "/ant/2.jpg", image.substr(0, image.size() / 2));
  pack_photos();
  EXPECT_EQ(run_command({"verify", rec(), "-q"}).code, 0);
  const CommandResult result = run_command({"verify", rec(), "-q", "--decode"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("record 2, offset "));
}

TEST_F(CommandTest, recovery_reports_what_it_skips_and_verifies_the_rest) {
  pack_photos();
  const json records = json::parse(run_command({"ls", rec(), "--json"}).out);
  const std::string index = file_contents(out("x.idx"));
  const size_t offset = std::stoul(index.substr(index.find("\n3\t") + 3));
  std::filesystem::remove(out("x.rec.frx"));
  damage(rec(), offset, "XXXX");
  const CommandResult plain = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(plain.code, 1);
  EXPECT_THAT(plain.out, HasSubstr("offset " + std::to_string(offset)));
  EXPECT_THAT(plain.err, HasSubstr("--recover"));
  const json report = json::parse(run_command({"verify", rec(), "-q", "--recover", "--json"}).out);
  EXPECT_EQ(report.at("records"), 6);
  ASSERT_EQ(report.at("damage").size(), 1u);
  EXPECT_EQ(report.at("damage")[0].at("path"), rec());
  EXPECT_EQ(report.at("damage")[0].at("offset"), offset);
  EXPECT_GT(report.at("damage")[0].at("skipped_bytes"), 1000);
}

TEST_F(CommandTest, an_index_that_disagrees_with_its_file_is_found) {
  pack_photos();
  std::string index = file_contents(out("x.idx"));
  index[index.find("1\t") + 2] = '9';
  write_file(out("x.idx"), index);
  const CommandResult result = run_command({"verify", rec(), "-q"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("x.idx"));
}

TEST_F(CommandTest, a_sidecar_of_another_file_is_set_aside_and_never_overwritten) {
  pack_photos();
  std::filesystem::remove(photos() + "/ant/0.jpg");
  ASSERT_EQ(run_command({"pack", photos(), out("y.rec"), "-q"}).code, 0);
  const std::string foreign = file_contents(out("y.rec.frx"));
  write_file(out("x.rec.frx"), foreign);
  const CommandResult result = run_command({"info", rec(), "--json"}, own_cache());
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, StartsWith("fuelrail: warning: "));
  EXPECT_EQ(json::parse(result.out).at("records"), 7);
  EXPECT_EQ(json::parse(result.out).at("sidecar").at("place"), "cache");
  const CommandResult rebuilt = run_command({"index", rec(), "-q"});
  EXPECT_EQ(rebuilt.code, 1);
  EXPECT_EQ(file_contents(out("x.rec.frx")), foreign);
}

TEST_F(CommandTest, index_makes_the_sidecar_anew_and_keeps_class_names) {
  pack_photos();
  const std::string packed = file_contents(out("x.rec.frx"));
  const CommandResult result = run_command({"index", rec()});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, out("x.rec.frx") + "\n");
  EXPECT_EQ(file_contents(out("x.rec.frx")), packed);
  std::filesystem::remove(out("x.rec.frx"));
  EXPECT_EQ(run_command({"index", rec()}).code, 0);
  const json info = json::parse(run_command({"info", rec(), "--json"}).out);
  EXPECT_EQ(info.at("checksums"), true);
  EXPECT_EQ(info.at("classes"), nullptr);
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
      {{"pakc", "a", "b"}, "there is no command 'pakc'. Did you mean 'pack'?"},
      {{"pack", "--resise", "2", "a", "b.rec"},
       "pack: there is no option '--resise'. Did you mean '--resize'?"},
      {{"verify", "--deocde", "a"}, "there is no option '--deocde'. Did you mean '--decode'?"},
      {{"info"}, "info: FILE is required"},
      {{"info", "a.rec", "b.rec"}, "info: 'b.rec' is one argument too many"},
      {{}, "a command is missing"},
      {{"pack", photos(), rec(), "--quality", "0"}, "quality is out of range"},
      {{"pack", photos(), rec(), "--quality", "high"}, "--quality"},
      {{"pack", photos(), rec(), "--split", "train"}, "the split is not one"},
      {{"pack", photos(), rec(), "--split", "a=.9,b=.2"}, "split"},
      {{"pack", photos(), rec(), "--max-errors", "few"}, "the number of errors allowed"},
      {{"pack", photos(), rec(), "--root", "/tmp"}, "a root is for a list"},
      {{"pack", photos(), out("x.data")}, "ends in .rec"},
      {{"pack", photos(), rec(), "-j", "-2"}, "threads"},
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
  for (const char* command : {"pack", "info", "ls", "cat", "verify", "index"}) {
    const CommandResult result = run_command({command, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, HasSubstr(std::string("fuelrail ") + command));
    EXPECT_THAT(result.out, HasSubstr("Example"));
    EXPECT_EQ(result.err, "");
    EXPECT_THAT(run_command({"--help"}).out, HasSubstr(command));
  }
}

}  // namespace
}  // namespace fuelrail
