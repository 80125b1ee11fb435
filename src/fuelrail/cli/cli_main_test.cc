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
#include "fuelrail/base/crc32.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Said {
  int code = -1;
  std::string out;
  std::string err;
};

// In this process, as Python's entry point calls it.
Said call(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "fuelrail");
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Said said;
  said.code = cli_main(static_cast<int>(arguments.size()), arguments.data());
  said.out = ::testing::internal::GetCapturedStdout();
  said.err = ::testing::internal::GetCapturedStderr();
  return said;
}

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

TEST(CliMain, puts_signal_handlers_back) {
  for (const int signal : {SIGINT, SIGPIPE, SIGXFSZ}) {
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

// Here and not with the binary, which may lie where others may not look.
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

// --- FFRecord ---

// Eight images of two classes' labels, as `pack` writes them into a record file of any format.
std::vector<std::string> image_records() {
  std::vector<std::string> records;
  for (uint64_t i = 0; i < 8; ++i) {
    const float label = static_cast<float>(i % 2);
    std::vector<std::byte> payload;
    append_image_record(100 + i, {&label, 1}, make_jpeg(20, 30, i), payload);
    records.emplace_back(as_text(payload));
  }
  return records;
}

struct FfrFiles {
  FfrFiles() { write_file(images, ffrecord::file_of(image_records())); }
  TemporaryDirectory directory;
  std::string images = directory / "images.ffr";
};

TEST(CliFfrecord, info_says_what_the_file_is_and_makes_its_sidecar) {
  const FfrFiles files;
  const Said said = call({"info", files.images.c_str()});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("images.ffr: FFRecord\n"));
  EXPECT_THAT(said.out, HasSubstr("records      8\n"));
  EXPECT_THAT(said.out, HasSubstr("labels       one int64 a record\n"));
  EXPECT_THAT(said.out, HasSubstr("8 jpeg of 8 records looked at"));
  EXPECT_THAT(said.out, HasSubstr("checksums    known, and verified on every read"));
  EXPECT_THAT(said.out, HasSubstr("images.ffr.frx (made just now)"));
  EXPECT_THAT(said.err, HasSubstr("the file had no sidecar; made "));
  EXPECT_THAT(call({"info", files.images.c_str(), "--json"}).out,
              HasSubstr("\"format\":\"FFRecord\""));
}

TEST(CliFfrecord, ls_and_cat_show_records) {
  const FfrFiles files;
  EXPECT_THAT(call({"ls", files.images.c_str(), "3"}).out, HasSubstr("20 x 30"));
  EXPECT_THAT(call({"ls", files.images.c_str(), "3"}).out, HasSubstr(" 103 "));
  EXPECT_EQ(call({"cat", files.images.c_str(), "3"}).out, as_text(make_jpeg(20, 30, 3)));
  EXPECT_EQ(call({"cat", files.images.c_str(), "3", "--raw"}).out, image_records()[3]);
  const std::string any = files.directory / "any.ffr";
  write_file(any, ffrecord::file_of({"hello", "there"}));
  EXPECT_EQ(call({"cat", any.c_str(), "1"}).out, "there");
  EXPECT_THAT(call({"ls", any.c_str()}).out, HasSubstr(" 5  "));
}

TEST(CliFfrecord, verify_lists_every_bad_record) {
  const FfrFiles files;
  const Said well = call({"verify", files.images.c_str(), "--decode"});
  EXPECT_EQ(well.code, 0) << well.out;
  EXPECT_THAT(well.out, HasSubstr("8 records, all well"));
  std::string bytes = file_contents(files.images);
  const size_t second = bytes.find(image_records()[2]), last = bytes.find(image_records()[6]);
  bytes[second + 200] ^= 1;
  bytes[last + 200] ^= 1;
  std::filesystem::remove(files.images + ".frx");  // which would tell of the file's ends, too
  write_file(files.images, bytes);
  const Said said = call({"verify", files.images.c_str()});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("images.ffr: record 2, offset " + std::to_string(second) +
                                  ": the record is damaged: its checksum is wrong"));
  EXPECT_THAT(said.out, HasSubstr("images.ffr: record 6, offset "));
  EXPECT_THAT(said.out, HasSubstr("8 records, 2 problems"));
}

TEST(CliFfrecord, verify_sees_truncation_and_appended_bytes_in_the_last_record) {
  const FfrFiles files;
  const std::string bytes = file_contents(files.images);
  const std::vector<std::string> changes{bytes + "more", bytes.substr(0, bytes.size() - 4)};
  for (const std::string& changed : changes) {
    std::filesystem::remove(files.images + ".frx");
    write_file(files.images, changed);
    const Said said = call({"verify", files.images.c_str()});
    EXPECT_EQ(said.code, 1);
    EXPECT_THAT(said.out, HasSubstr("images.ffr: record 7, offset "));
    EXPECT_THAT(said.out, HasSubstr("8 records, 1 problem"));
  }
}

TEST(CliFfrecord, verify_says_what_is_wrong_with_a_table) {
  const FfrFiles files;
  std::string bytes = file_contents(files.images);
  bytes[20] ^= 1;
  write_file(files.images, bytes);
  const Said said = call({"verify", files.images.c_str()});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("the file's table is damaged: its checksum is wrong"));
  EXPECT_EQ(said.err, "");
  const Said recovering = call({"verify", files.images.c_str(), "--recover"});
  EXPECT_THAT(recovering.err, HasSubstr("only damage of RecordIO's framing can be passed over"));
}

TEST(CliFfrecord, verify_reports_a_sidecar_of_another_file) {
  const FfrFiles files;
  const std::string any = files.directory / "any.ffr";
  write_file(any, ffrecord::file_of({"hello", "there"}));
  call({"info", any.c_str()});
  std::filesystem::rename(any + ".frx", files.images + ".frx");
  ::setenv("XDG_CACHE_HOME", (files.directory / "cache").c_str(), 1);
  const Said said = call({"verify", files.images.c_str()});
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("the sidecar does not belong to the file"));
}

TEST(CliFfrecord, verify_reads_a_record_that_is_too_long_for_an_image_piece_by_piece) {
  const TemporaryDirectory directory;
  const std::string path = directory / "long.ffr";
  const uint64_t length = (uint64_t{1} << 29) + 5;
  const std::vector<std::byte> zeros(1 << 24);
  uint32_t crc = 0;
  for (uint64_t done = 0; done < length; done += zeros.size()) {
    crc = crc32(Bytes(zeros).first(std::min<uint64_t>(zeros.size(), length - done)), crc);
  }
  for (const uint32_t wrong : {0u, 1u}) {
    write_file(path, ffrecord::file_of(1, {crc ^ wrong}, {24}, ""));
    std::filesystem::resize_file(path, 24 + length);  // a hole
    const Said said = call({"verify", path.c_str()});
    EXPECT_EQ(said.code, wrong) << said.out;
    EXPECT_THAT(said.out, HasSubstr(wrong == 0 ? "1 record, all well"
                                               : "long.ffr: record 0, offset 24: the record is "
                                                 "damaged: its checksum is wrong"));
  }
}

TEST(CliFfrecord, index_makes_the_sidecar_anew) {
  const FfrFiles files;
  const Said said = call({"index", files.images.c_str(), "-q"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, files.images + ".frx\n");
  EXPECT_THAT(call({"info", files.images.c_str()}).err, IsEmpty());
}

TEST(CliFfrecord, a_folder_of_files_is_one_dataset) {
  const FfrFiles files;
  write_file(files.directory / "more.ffr", ffrecord::file_of(image_records()));
  const std::string& folder = files.directory.path();
  const Said info = call({"info", folder.c_str()});
  EXPECT_THAT(info.out, HasSubstr(": FFRecord\n"));
  EXPECT_THAT(info.out, HasSubstr("records      16\n"));
  EXPECT_THAT(info.out, HasSubstr("sidecar      2, one a file"));
  EXPECT_THAT(info.err, HasSubstr("images.ffr: the file had no sidecar"));
  EXPECT_THAT(info.err, HasSubstr("more.ffr: the file had no sidecar"));
  EXPECT_THAT(call({"verify", folder.c_str()}).out, HasSubstr("16 records, all well"));
  EXPECT_EQ(call({"cat", folder.c_str(), "8"}).out, as_text(make_jpeg(20, 30, 0)));
}

TEST(CliFfrecord, bench_measures_it) {
  const FfrFiles files;
  const Said said = call({"bench", files.images.c_str(), "--seconds", "0.05", "--batch-size", "4",
                          "--threads", "1", "--crop", "16", "--json", "-q"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("\"records\":8"));
}

}  // namespace
}  // namespace fuelrail
