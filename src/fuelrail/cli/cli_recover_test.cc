// `fuelrail recover`: its output, its report of losses, and the hint to it by `verify`; and damage
// that `verify` finds outside the records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail {
namespace {

using ::testing::AllOf;
using testing::call;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::Said;

using CliRecover = Packer;

TEST_F(CliRecover, what_is_lost_is_listed_and_is_a_data_problem) {
  pack_photos();
  std::string contents = file_contents(out("x.rec"));
  contents[contents.size() / 2] = static_cast<char>(contents[contents.size() / 2] ^ 1);
  write_file(out("x.rec"), contents);
  const Said verified = call({"verify", out("x.rec"), "-q"});
  EXPECT_THAT(verified.err, HasSubstr("'fuelrail recover " + out("x.rec") + " OUT'"));
  const Said said = call({"recover", out("x.rec"), out("good.rec"), "-q"});
  EXPECT_EQ(said.code, 1) << said.err;
  EXPECT_THAT(said.out, HasSubstr("the record's checksum is wrong: "));
  EXPECT_THAT(said.out, HasSubstr(out("good.rec") + ": 11 records, "));
  EXPECT_THAT(said.out, EndsWith(out("x.rec") + ": 1 of 12 records lost\n"));
  EXPECT_EQ(call({"verify", out("good.rec"), "-q"}).code, 0);
}

TEST_F(CliRecover, verify_finds_a_split_with_a_sample_that_is_not_a_record) {
  const std::string record = bzna::MadeRecord().bytes();
  write_file(directory_ / "stills/a/0.mp4", record);
  const std::vector<pack::SplitSource> sources{{"train", directory_ / "stills"}};
  pack::pack(sources, out("x.bzna"), {});
  EXPECT_EQ(call({"verify", out("x.bzna"), "-q"}).code, 0);
  std::filesystem::remove(out("x.bzna.frx"));  // its checksum of the file's end would be wrong too
  std::string contents = file_contents(out("x.bzna"));
  contents[contents.find("stco", contents.find("bzna_input_train")) + 15] ^= 1;
  write_file(out("x.bzna"), contents);
  const Said said = call({"verify", out("x.bzna"), "-q"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, AllOf(HasSubstr("of the track 'bzna_input_train' has a sample that is not "
                                        "a record"),
                              HasSubstr("1 record, 1 problem")));
}

TEST_F(CliRecover, a_cut_file_without_a_sidecar_gives_what_verify_counts) {
  pack_photos();
  std::filesystem::remove(out("x.rec.frx"));
  std::filesystem::resize_file(out("x.rec"), std::filesystem::file_size(out("x.rec")) - 3);
  const Said verified = call({"verify", out("x.rec"), "-q"});
  EXPECT_THAT(verified.out, HasSubstr("to a new file with 'fuelrail recover IN OUT'"));
  EXPECT_THAT(verified.err, HasSubstr("fuelrail recover"));
  EXPECT_THAT(call({"verify", out("x.rec"), "-q", "--recover"}).out, HasSubstr("11 records, "));
  const Said said = call({"recover", out("x.rec"), out("good.rec"), "-q"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("the data ends inside a record: "));
  EXPECT_THAT(said.out, HasSubstr(out("good.rec") + ": 11 records, "));
  EXPECT_THAT(said.out, HasSubstr("without its sidecar the original number of records is unknown"));
  EXPECT_THAT(said.out, HasSubstr("checksums unknown"));
}

TEST_F(CliRecover, nothing_lost_is_a_success) {
  pack_photos();
  const Said said = call({"recover", out("x.rec"), out("good.rec"), "-q"});
  EXPECT_EQ(said.code, 0);
  EXPECT_THAT(said.out, EndsWith(": 0 of 12 records lost\n"));
}

}  // namespace
}  // namespace fuelrail
