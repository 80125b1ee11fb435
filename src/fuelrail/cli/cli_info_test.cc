// The reports of `info` on damage and on datasets without sidecars.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fuelrail/container/image_record.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/photographs.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::call;
using ::testing::HasSubstr;
using testing::Said;

// Three image records; the last byte of the second one does not match its checksum.
std::string file_with_a_damaged_image() {
  std::vector<std::string> records;
  for (uint64_t i = 0; i < 3; ++i) {
    const float label = 1;
    std::vector<std::byte> payload;
    append_image_record(i, {&label, 1}, make_jpeg(20, 30, i), payload);
    records.emplace_back(as_text(payload));
  }
  std::string file = ffrecord::file_of(records);
  file[file.size() - records[2].size() - 1] ^= 1;
  return file;
}

TEST(CliInfo, a_damaged_image_among_those_looked_at_is_a_data_problem) {
  const TemporaryDirectory directory;
  const std::string path = directory / "x.ffr";
  write_file(path, file_with_a_damaged_image());
  const Said said = call({"info", path});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("2 jpeg, 1 unreadable of 3 records sampled"));
  EXPECT_THAT(said.err, HasSubstr("x.ffr: 1 record of the sample cannot be read; 'fuelrail "
                                  "verify' reports the cause"));
  const Said as_json = call({"info", path, "--json"});
  EXPECT_EQ(as_json.code, 1);
  EXPECT_EQ(nlohmann::json::parse(as_json.out)["sample"]["unreadable"], 1);
}

TEST(CliInfo, a_packed_folder_of_images_needs_no_sidecar) {
  const TemporaryDirectory directory;
  write_file(directory / "photos/ant/0.jpg", as_text(make_jpeg(20, 30, 0)));
  const std::string path = directory / "packed.ffr";
  write_file(path, ffrecord::PackedFolderFile(directory / "photos").contents());
  EXPECT_THAT(call({"info", path, "--schema=class_folders"}).out,
              HasSubstr("sidecar      none: a packed folder needs no sidecar\n"));
  EXPECT_THAT(call({"info", directory / "photos"}).out,
              HasSubstr("sidecar      none: a folder needs no sidecar\n"));
}

}  // namespace
}  // namespace fuelrail
