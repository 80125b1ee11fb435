// The command on FFRecord files whose records are not labelled images: opaque bytes, packed
// folders, and records of several gigabytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using nlohmann::json;
using testing::call;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Said;

class CliOpaque : public ::testing::Test {
 protected:
  CliOpaque() {
    write_file(bytes_, ffrecord::file_of({"hello", "", std::string(95, 'x'), "the end"}));
    for (uint64_t i = 0; i < 6; ++i) {
      const std::string name = std::string(i < 4 ? "ant" : "bee") + "/" + std::to_string(i);
      const std::vector<std::byte> jpeg = make_jpeg(20, 30 + static_cast<int64_t>(i), i);
      write_file(photos_ + "/" + name + ".jpg", as_text(jpeg));
    }
    write_file(packed_, ffrecord::PackedFolderFile(photos_).contents());
  }

  static constexpr const char* kSchema = "--schema=class_folders";

  TemporaryDirectory directory_;
  std::string bytes_ = directory_ / "bytes.ffr";
  std::string photos_ = directory_ / "photos";
  std::string packed_ = directory_ / "packed.ffr";
};

TEST_F(CliOpaque, info_says_that_records_are_bytes_how_long_and_who_reads_them) {
  const Said said = call({"info", bytes_});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("records      4\n"));
  EXPECT_THAT(said.out, HasSubstr("content      opaque bytes"));
  EXPECT_THAT(said.out, HasSubstr("sizes        0 bytes to 95 bytes, 26 bytes on average\n"));
  EXPECT_THAT(said.out, HasSubstr("fields=[\"data\"]"));
  EXPECT_THAT(said.out, HasSubstr("fuelrail.ffrecord.FileReader"));
  for (const char* of_images : {"labels", "classes", "cannot be read", "images"}) {
    EXPECT_THAT(said.out, Not(HasSubstr(of_images)));
  }
  const json described = json::parse(call({"info", bytes_, "--json"}).out);
  EXPECT_EQ(described["opaque"], true);
  EXPECT_EQ(described["fields"], json::parse(R"([{"name": "data", "kind": "bytes"}])"));
  EXPECT_EQ(described["record_bytes"],
            json::parse(R"({"smallest": 0, "mean": 26, "largest": 95})"));
  EXPECT_EQ(described["sample"], nullptr);
}

TEST_F(CliOpaque, info_knows_a_packed_folder_and_how_to_open_it) {
  const Said said = call({"info", packed_});
  EXPECT_THAT(said.out, HasSubstr("1 packed folder of 6 files, and the list of their names"));
  EXPECT_THAT(said.out, HasSubstr("--schema class_folders"));
  EXPECT_THAT(said.out, HasSubstr("fuelrail.ffrecord.PackedFolder"));
}

TEST_F(CliOpaque, a_schema_makes_images_of_a_packed_folder_for_every_command) {
  const Said info = call({"info", packed_, kSchema});
  EXPECT_THAT(info.out, HasSubstr(": packed folder\n"));
  EXPECT_THAT(info.out, HasSubstr("records      6\n"));
  EXPECT_THAT(info.out, HasSubstr("classes      2: ant, bee\n"));
  EXPECT_THAT(info.out, HasSubstr("6 jpeg of 6 records sampled"));
  EXPECT_THAT(call({"ls", packed_, "4", kSchema}).out, HasSubstr("20 x 34"));
  EXPECT_THAT(call({"ls", packed_, "4", kSchema}).out, HasSubstr("bee\n"));
  EXPECT_EQ(call({"cat", packed_, "4", kSchema}).out, file_contents(photos_ + "/bee/4.jpg"));
  EXPECT_THAT(call({"verify", packed_, kSchema, "--decode"}).out, HasSubstr("6 records, all well"));
  EXPECT_THAT(call({"bench", packed_, kSchema, "--seconds", "0.02", "--crop", "16", "-q"}).out,
              HasSubstr("images/s"));
  EXPECT_FALSE(std::filesystem::exists(packed_ + ".frx"));  // no command needs one
}

TEST_F(CliOpaque, a_schema_that_cannot_be_is_a_usage_error) {
  const Said unknown = call({"info", packed_, "--schema", "class_folder"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown schema"));
  EXPECT_THAT(unknown.err, HasSubstr("class_folders"));
  const Said folder = call({"info", photos_, kSchema});
  EXPECT_EQ(folder.code, 2);
  EXPECT_THAT(folder.err, HasSubstr("Omit the schema"));
  EXPECT_EQ(call({"verify", photos_ + "/x.rec", "--recover", kSchema}).code, 2);
  const Said bytes = call({"ls", bytes_, kSchema});  // an existing schema, but data without it
  EXPECT_EQ(bytes.code, 1);
  EXPECT_THAT(bytes.err, HasSubstr("the file is not a packed folder"));
}

TEST_F(CliOpaque, a_packed_folder_converts_into_what_packing_the_folder_makes) {
  for (const std::string format : {"rec", "ffr"}) {
    const std::string made = directory_ / ("made." + format);
    const std::string expected = directory_ / ("expected." + format);
    const Said said = call({"convert", packed_, made, kSchema, "-q"});
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.out, HasSubstr("6 records"));
    EXPECT_EQ(call({"pack", photos_, expected, "-q"}).code, 0);
    EXPECT_EQ(file_contents(made), file_contents(expected));
    EXPECT_EQ(file_contents(made + ".frx"), file_contents(expected + ".frx"));
  }
  EXPECT_EQ(file_contents(directory_ / "made.idx"), file_contents(directory_ / "expected.idx"));
}

TEST_F(CliOpaque, converting_a_damaged_packed_folder_names_the_record_and_leaves_nothing) {
  std::string contents = file_contents(packed_);
  contents[contents.find(file_contents(photos_ + "/ant/2.jpg")) + 9] ^= 1;
  write_file(packed_, contents);
  const Said said = call({"convert", packed_, directory_ / "x.rec", kSchema, "-q"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("packed.ffr: record 2, offset "));
  EXPECT_THAT(said.err, HasSubstr("checksum is wrong"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / "x.rec"));
  EXPECT_EQ(call({"convert", directory_ / "x.rec", directory_ / "y.ffr", kSchema}).code, 3);
}

TEST_F(CliOpaque, converting_a_packed_folder_without_a_schema_says_what_it_makes) {
  const Said said = call({"convert", packed_, directory_ / "x.rec", "-q"});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.err, HasSubstr("warning: " + packed_ + ": this is a packed folder"));
  EXPECT_THAT(said.err, HasSubstr("'class_folders'"));
  EXPECT_THAT(call({"info", directory_ / "x.rec"}).out, HasSubstr("opaque bytes"));
  EXPECT_EQ(call({"convert", bytes_, directory_ / "y.rec", "-q"}).err, "");
}

TEST_F(CliOpaque, what_takes_another_command_names_it) {
  const Said pack = call({"pack", packed_, directory_ / "x.rec"});
  EXPECT_EQ(pack.code, 2);
  EXPECT_THAT(pack.err, HasSubstr("convert it with --schema class_folders"));
  for (const char* command : {"index", "convert"}) {
    std::vector<std::string> arguments{command, directory_.path()};
    if (arguments[0] == "convert") arguments.push_back(directory_ / "x.rec");
    const Said said = call(arguments);
    EXPECT_EQ(said.code, 2);
    EXPECT_THAT(said.err, HasSubstr("record files"));
  }
}

TEST_F(CliOpaque, bench_reads_the_bytes_and_says_so) {
  const std::vector<std::string> arguments{"bench", bytes_,         "--epochs", "3", "--seconds",
                                           "0.02",  "--batch-size", "2",        "-q"};
  const Said said = call(arguments);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("field 'data' of opaque records"));
  EXPECT_THAT(said.out, HasSubstr("records/s"));
  EXPECT_THAT(said.out, Not(HasSubstr("images")));
  std::vector<std::string> as_json = arguments;
  as_json.push_back("--json");
  const json report = json::parse(call(as_json).out);
  EXPECT_EQ(report["settings"]["field"], "data");
  EXPECT_EQ(report["settings"]["crop"], nullptr);
  EXPECT_EQ(report["loader"]["records"], 12);
  EXPECT_EQ(report["limit"]["held_records"], 4);
  EXPECT_GT(report["limit"]["records"], 0);
}

TEST_F(CliOpaque, bench_of_no_records_says_that_there_are_none) {
  write_file(bytes_, ffrecord::file_of(std::vector<std::string>{}));
  const Said said = call({"bench", bytes_});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("the dataset has no records"));
  EXPECT_EQ(call({"info", bytes_}).code, 0);
}

// --- Long records ---

uint32_t crc_of_zeros(uint64_t length, uint32_t crc = 0) {
  const std::vector<std::byte> zeros(1 << 24);
  for (uint64_t done = 0; done < length; done += zeros.size()) {
    crc = crc32(Bytes(zeros).first(std::min<uint64_t>(zeros.size(), length - done)), crc);
  }
  return crc;
}

// Records "first", zeros, and "last"; the long one is a hole. `flip`: changes its checksum.
void write_long(const std::string& path, uint64_t length, uint32_t flip = 0) {
  constexpr int64_t kTable = 12 + 3 * 12;
  const auto end = kTable + 5 + static_cast<int64_t>(length);
  write_file(
      path, ffrecord::file_of(
                3, {crc32(as_bytes("first")), crc_of_zeros(length) ^ flip, crc32(as_bytes("last"))},
                {kTable, kTable + 5, end}, "first"));
  std::filesystem::resize_file(path, static_cast<uint64_t>(end));
  std::ofstream(path, std::ios::app | std::ios::binary) << "last";
}

void expect_the_commands_work(const std::string& path, uint64_t length) {
  const std::string bytes = std::to_string(length);
  const Said info = call({"info", path});
  EXPECT_EQ(info.code, 0) << info.err;
  EXPECT_THAT(info.out, HasSubstr("content      opaque bytes"));
  EXPECT_EQ(json::parse(call({"info", path, "--json"}).out)["record_bytes"]["largest"], length);
  const Said ls = call({"ls", path});
  EXPECT_EQ(ls.code, 0) << ls.err;
  EXPECT_THAT(ls.out, HasSubstr(" " + bytes + "  "));
  const Said verify = call({"verify", path, "-q"});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("3 records, all well"));
  EXPECT_EQ(call({"index", path, "-q"}).code, 0);
  const std::string out = path + ".1";
  const Said cat = call({"cat", path, "1", "-o", out});
  EXPECT_EQ(cat.code, 0) << cat.err;
  EXPECT_EQ(std::filesystem::file_size(out), length);
  EXPECT_EQ(call({"cat", path, "2"}).out, "last");
}

TEST(CliLongRecords, are_listed_read_and_verified) {
  const TemporaryDirectory directory;
  const uint64_t length = (uint64_t{40} << 20) + 7;
  const std::string path = directory / "long.ffr";
  write_long(path, length);
  expect_the_commands_work(path, length);
  EXPECT_EQ(crc32(as_bytes(call({"cat", path, "1"}).out)), crc_of_zeros(length));
}

TEST(CliLongRecords, of_a_wrong_checksum_are_findings_and_leave_no_file) {
  const TemporaryDirectory directory;
  const std::string path = directory / "long.ffr";
  write_long(path, uint64_t{40} << 20, 1);
  const std::string wrong = "long.ffr: record 1, offset 53: the record's checksum is wrong";
  const Said verify = call({"verify", path, "-q"});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, HasSubstr(wrong));
  const Said cat = call({"cat", path, "1", "-o", directory / "out"});
  EXPECT_EQ(cat.code, 1);
  EXPECT_THAT(cat.err, HasSubstr(wrong));
  EXPECT_FALSE(std::filesystem::exists(directory / "out"));
  EXPECT_EQ(call({"cat", path, "1"}).code, 1);
  EXPECT_EQ(call({"ls", path}).code, 0);  // ls reads only the beginning
}

// A record of several gigabytes: needs FUELRAIL_LARGE_RECORDS and 5 GB of disk for the output of
// `cat`.
TEST(CliLongRecords, may_have_several_gigabytes) {
  if (::getenv("FUELRAIL_LARGE_RECORDS") == nullptr)
    GTEST_SKIP() << "set FUELRAIL_LARGE_RECORDS to run it";
  const TemporaryDirectory directory;
  const uint64_t length = (uint64_t{4} << 30) + 12345;
  const std::string path = directory / "long.ffr";
  write_long(path, length);
  expect_the_commands_work(path, length);
}

// The interrupt is noticed between two pieces: reading a long record of zeros stops at once.
TEST(CliLongRecords, an_interrupt_ends_verify_and_cat_within_one) {
  const TemporaryDirectory directory;
  const std::string path = directory / "long.ffr";
  const uint64_t length = uint64_t{1} << 40;  // a hole: minutes of reading
  write_file(path, ffrecord::file_of(1, {1}, {24}, ""));
  std::filesystem::resize_file(path, 24 + length);
  ASSERT_EQ(call({"ls", path}).code, 0);
  for (const char* command : {"verify", "cat", "index"}) {
    std::vector<std::string> arguments{command, path};
    if (arguments[0] == "cat") arguments.insert(arguments.end(), {"0", "-o", directory / "out"});
    std::thread interrupter([&] {
      // The command handles SIGINT before SIGTERM. ThreadSanitizer shows a handler shortly before
      // the kernel has it, so that of SIGINT alone would not be enough.
      struct sigaction termination {};
      while (::sigaction(SIGTERM, nullptr, &termination) == 0 &&
             termination.sa_handler == SIG_DFL) {
        std::this_thread::yield();
      }
      ::raise(SIGINT);
    });
    const Said said = call(arguments);
    interrupter.join();
    EXPECT_EQ(said.code, 130) << command << said.err;
  }
}

}  // namespace
}  // namespace fuelrail
