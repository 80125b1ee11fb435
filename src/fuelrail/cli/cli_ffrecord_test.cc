// The command on FFRecord files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/bytes.h"
#include "fuelrail/base/crc32.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::call;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Said;

// Eight images with labels of two classes, as `pack` writes them into a record file of any format.
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
  const Said said = call({"info", files.images});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("images.ffr: FFRecord\n"));
  EXPECT_THAT(said.out, HasSubstr("records      8\n"));
  EXPECT_THAT(said.out, HasSubstr("labels       one int64 per record\n"));
  EXPECT_THAT(said.out, HasSubstr("8 jpeg of 8 records sampled"));
  EXPECT_THAT(said.out, HasSubstr("checksums    known, and verified on every read"));
  EXPECT_THAT(said.out, HasSubstr("images.ffr.frx (just created)"));
  EXPECT_THAT(said.err, HasSubstr("the file had no sidecar; created "));
  EXPECT_THAT(call({"info", files.images, "--json"}).out, HasSubstr("\"format\":\"FFRecord\""));
}

TEST(CliFfrecord, ls_and_cat_show_records) {
  const FfrFiles files;
  EXPECT_THAT(call({"ls", files.images, "3"}).out, HasSubstr("20 x 30"));
  EXPECT_THAT(call({"ls", files.images, "3"}).out, HasSubstr(" 103 "));
  EXPECT_EQ(call({"cat", files.images, "3"}).out, as_text(make_jpeg(20, 30, 3)));
  EXPECT_EQ(call({"cat", files.images, "3", "--raw"}).out, image_records()[3]);
  const std::string any = files.directory / "any.ffr";
  write_file(any, ffrecord::file_of({"hello", "there"}));
  EXPECT_EQ(call({"cat", any, "1"}).out, "there");
  EXPECT_THAT(call({"ls", any}).out, HasSubstr(" 5  "));
}

TEST(CliFfrecord, verify_lists_every_bad_record) {
  const FfrFiles files;
  const Said well = call({"verify", files.images, "--decode"});
  EXPECT_EQ(well.code, 0) << well.out;
  EXPECT_THAT(well.out, HasSubstr("8 records, all well"));
  std::string bytes = file_contents(files.images);
  const size_t second = bytes.find(image_records()[2]), last = bytes.find(image_records()[6]);
  bytes[second + 200] ^= 1;
  bytes[last + 200] ^= 1;
  std::filesystem::remove(files.images +
                          ".frx");  // which would also report the changed end of the file
  write_file(files.images, bytes);
  const Said said = call({"verify", files.images});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("images.ffr: record 2, offset " + std::to_string(second) +
                                  ": the record's checksum is wrong"));
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
    const Said said = call({"verify", files.images});
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
  const Said said = call({"verify", files.images});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("the record table's checksum is wrong"));
  EXPECT_EQ(said.err, "");
  const Said recovering = call({"verify", files.images, "--recover"});
  EXPECT_THAT(recovering.err, HasSubstr("--recover is not needed for FFRecord files"));
}

TEST(CliFfrecord, verify_reports_a_sidecar_of_another_file) {
  const FfrFiles files;
  const std::string any = files.directory / "any.ffr";
  write_file(any, ffrecord::file_of({"hello", "there"}));
  call({"info", any});
  std::filesystem::rename(any + ".frx", files.images + ".frx");
  ::setenv("XDG_CACHE_HOME", (files.directory / "cache").c_str(), 1);
  const Said said = call({"verify", files.images});
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
    const Said said = call({"verify", path});
    EXPECT_EQ(said.code, wrong) << said.out;
    EXPECT_THAT(said.out, HasSubstr(wrong == 0 ? "1 record, all well"
                                               : "long.ffr: record 0, offset 24: the record's "
                                                 "checksum is wrong"));
  }
}

TEST(CliFfrecord, index_makes_the_sidecar_anew) {
  const FfrFiles files;
  const Said said = call({"index", files.images, "-q"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, files.images + ".frx\n");
  EXPECT_THAT(call({"info", files.images}).err, IsEmpty());
}

TEST(CliFfrecord, a_folder_of_files_is_one_dataset) {
  const FfrFiles files;
  write_file(files.directory / "more.ffr", ffrecord::file_of(image_records()));
  const std::string& folder = files.directory.path();
  const Said info = call({"info", folder});
  EXPECT_THAT(info.out, HasSubstr(": FFRecord\n"));
  EXPECT_THAT(info.out, HasSubstr("records      16\n"));
  EXPECT_THAT(info.out, HasSubstr("sidecar      2, one per file"));
  EXPECT_THAT(info.err, HasSubstr("images.ffr: the file had no sidecar"));
  EXPECT_THAT(info.err, HasSubstr("more.ffr: the file had no sidecar"));
  EXPECT_THAT(call({"verify", folder}).out, HasSubstr("16 records, all well"));
  EXPECT_EQ(call({"cat", folder, "8"}).out, as_text(make_jpeg(20, 30, 0)));
}

TEST(CliFfrecord, bench_measures_it) {
  const FfrFiles files;
  const Said said = call({"bench", files.images, "--seconds", "0.05", "--batch-size", "4",
                          "--threads", "1", "--crop", "16", "--json", "-q"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("\"records\":8"));
}

}  // namespace
}  // namespace fuelrail
