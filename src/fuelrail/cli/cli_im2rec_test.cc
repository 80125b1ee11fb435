// Tests of `fuelrail im2rec`. tests/python/mxnet/test_im2rec_command.py compares it with MXNet's
// own tool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail {
namespace {

using testing::call;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using testing::Said;
using ::testing::StartsWith;

class Im2rec : public Packer {
 protected:
  Said im2rec(const std::string& prefix, std::vector<std::string> options) const {
    options.insert(options.begin(), {"im2rec", out(prefix), photos()});
    return call(options);
  }

  // A list of all photographs in the folders' order.
  void list_photos(const std::string& prefix) const {
    ASSERT_EQ(im2rec(prefix, {"--list", "--recursive", "--no-shuffle"}).code, 0);
  }

  // Records, index and sidecar.
  void expect_same_files(const std::string& stem, const std::string& expected) const {
    for (const char* end : {".rec", ".idx", ".rec.frx"}) {
      EXPECT_EQ(file_contents(out(stem) + end), file_contents(out(expected) + end)) << end;
    }
  }
};

TEST_F(Im2rec, makes_lists_and_then_packs_them) {
  const Said listed = im2rec("train", {"--list", "--recursive"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_EQ(listed.out, "ant 0\nbee 1\ncat dog 2\n");
  EXPECT_THAT(names_in(out()), ElementsAre("train.lst"));
  const Said packed = im2rec("train", {"--resize", "16", "--num-thread", "2", "-q"});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("train.rec: 12 records"));
  EXPECT_THAT(names_in(out()), ElementsAre("train.idx", "train.lst", "train.rec", "train.rec.frx"));
  EXPECT_THAT(call({"ls", out("train.rec"), "0"}).out, HasSubstr("16"));
}

TEST_F(Im2rec, a_list_that_is_there_is_replaced_with_overwrite_alone) {
  write_file(out("train.lst"), "mine");
  const Said said = im2rec("train", {"--list", "--recursive"});
  EXPECT_EQ(said.code, 3);
  EXPECT_THAT(said.err, HasSubstr("train.lst: the output already exists"));
  EXPECT_EQ(file_contents(out("train.lst")), "mine");
  EXPECT_EQ(im2rec("train", {"--list", "--recursive", "--overwrite"}).code, 0);
  EXPECT_NE(file_contents(out("train.lst")), "mine");
}

TEST_F(Im2rec, what_is_no_image_does_not_pass_through) {
  write_file(photo("bee/1.jpg"), "no image");
  write_file(photo("bee/2.jpg"), "");
  im2rec("train", {"--list", "--recursive", "--no-shuffle"});
  const Said said = im2rec("train", {"--pass-through", "--max-errors", "2", "-q"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.err, HasSubstr("bee/1.jpg cannot be packed: "));
  EXPECT_EQ(records_of(out("train.rec")).size(), 10u);
  EXPECT_EQ(im2rec("train", {"--pass-through", "--max-errors", "1", "--overwrite"}).code, 1);
}

TEST_F(Im2rec, labels_that_are_lost_are_said) {
  write_file(out("x.lst"), "5\t1\t2\tant/0.jpg\n6\t3\tant/1.jpg\n");
  EXPECT_THAT(im2rec("x", {"-q"}).err, HasSubstr("x.lst: lines with several labels: 1 of 2. Only"));
  EXPECT_EQ(im2rec("x", {"-q", "--pack-label", "--overwrite"}).err, "");
}

TEST_F(Im2rec, packs_every_list_of_the_prefix) {
  im2rec("train", {"--list", "--recursive", "--chunks", "2", "--no-shuffle"});
  const Said packed = im2rec("tr", {"--pass-through", "-q"});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_EQ(records_of(out("train_0.rec")).size(), 6u);
  EXPECT_EQ(records_of(out("train_1.rec")).size(), 6u);
  EXPECT_EQ(records_of(out("train_0.rec"))[0].image, file_contents(photo("ant/0.jpg")));
}

TEST_F(Im2rec, a_prefix_without_a_list_is_an_error) {
  const Said said = im2rec("nothing", {});
  EXPECT_EQ(said.code, 3);
  EXPECT_THAT(said.err, HasSubstr("no image list has this prefix"));
}

TEST_F(Im2rec, options_go_as_mxnets_do) {
  write_file(out("x.lst"), "5\t1\t2\tant/0.jpg\n6\t3\t4\tant/1.jpg\n");
  EXPECT_EQ(im2rec("x", {"--color", "-1", "--encoding", ".png", "--quality", "3", "--pack-label",
                         "--center-crop", "-q"})
                .code,
            0);
  const std::vector<Packed> records = records_of(out("x.rec"));
  EXPECT_EQ(records.at(1).id, 6u);
  EXPECT_THAT(records.at(1).labels, ElementsAre(3, 4));
  EXPECT_THAT(records.at(0).image, StartsWith("\x89PNG"));
  for (const char* color : {"2", "-2", "x", "0.5"}) {
    EXPECT_EQ(im2rec("x", {"--color", color}).code, 2) << color;
  }
  for (const char* method : {"5", "8", "11", "32", "-1"}) {
    EXPECT_EQ(im2rec("x", {"--inter-method", method}).code, 2) << method;
  }
  EXPECT_EQ(im2rec("x", {"--encoding", ".bmp"}).code, 2);
  EXPECT_THAT(im2rec("x", {"--color", "2"}).err, HasSubstr("expected -1, 0, 1, found 2"));
  EXPECT_EQ(im2rec("x", {"--quality", "0", "--overwrite"}).code, 2);
  EXPECT_EQ(im2rec("x", {"-q"}).code, 3);  // it exists
  EXPECT_EQ(im2rec("x", {"-q", "--overwrite"}).code, 0);
  EXPECT_THAT(records_of(out("x.rec")).at(1).labels, ElementsAre(3));
}

TEST_F(Im2rec, help_has_the_rows_of_the_options_tables) {
  const std::string help = call({"im2rec", "--help"}).out;
  EXPECT_THAT(
      help,
      HasSubstr("Length of the shorter side, in pixels. 0 keeps the size (0 to 32768; default 0)"));
  EXPECT_THAT(help, HasSubstr("(.jpg, .jpeg, .png; default '.jpg')"));
  EXPECT_THAT(help, HasSubstr("Number of threads that read and encode (1 to 1024; default 1)"));
}

TEST_F(Im2rec, lists_that_cannot_be_are_refused) {
  for (const char* option : {"--train-ratio", "--test-ratio"}) {
    EXPECT_EQ(im2rec("x", {"--list", "--recursive", option, "1.5"}).code, 2) << option;
  }
  EXPECT_EQ(im2rec("x", {"--list", "--recursive", "--exts", "jpg"}).code, 2);
  EXPECT_EQ(im2rec("x", {"--list", "--recursive", "--chunks", "0"}).code, 2);
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(Im2rec, what_cannot_be_read_is_named_and_the_exit_code_says_so) {
  write_file(photo("bee/1.jpg"), "no image");
  im2rec("train", {"--list", "--recursive", "--no-shuffle"});
  const Said over = im2rec("train", {"-q"});
  EXPECT_EQ(over.code, 1);
  EXPECT_THAT(over.err, HasSubstr(photo("bee/1.jpg") + ": the bytes are not an image"));
  EXPECT_THAT(over.err, HasSubstr("At most 0 of 12 images may be skipped"));
  EXPECT_FALSE(std::filesystem::exists(out("train.rec")));
  const Said within = im2rec("train", {"-q", "--max-errors", "1"});
  EXPECT_EQ(within.code, 1);
  EXPECT_THAT(within.out, HasSubstr("11 records"));
}

TEST_F(Im2rec, parts_that_are_made_on_their_own_are_merged_into_the_file_of_one_run) {
  for (const char* prefix : {"whole", "p"}) list_photos(prefix);
  ASSERT_EQ(im2rec("whole", {"--resize", "16", "-q"}).code, 0);
  for (const char* part : {"2", "0", "1"}) {  // each on its own machine
    const Said said = im2rec("p", {"--resize", "16", "--nsplit", "3", "--part", part, "-q"});
    ASSERT_EQ(said.code, 0) << said.err;
    EXPECT_THAT(said.out, HasSubstr("p.part00" + std::string(part) + ".rec: 4 records"));
  }
  const Said merged = call({"merge", out("m.rec"), out("p.part000.rec"), out("p.part001.rec"),
                            out("p.part002.rec"), "-q"});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("m.rec: 12 records"));
  expect_same_files("m", "whole");
}

TEST_F(Im2rec, all_parts_in_one_go_are_those_that_are_made_on_their_own) {
  for (const char* prefix : {"p", "q"}) list_photos(prefix);
  ASSERT_EQ(im2rec("p", {"--pass-through", "--nsplit", "2", "-q"}).code, 0);
  ASSERT_EQ(im2rec("q", {"--pass-through", "--nsplit", "2", "--part", "1", "-q"}).code, 0);
  EXPECT_FALSE(std::filesystem::exists(out("q.part000.rec")));
  expect_same_files("q.part001", "p.part001");
}

TEST_F(Im2rec, every_list_of_the_prefix_is_split) {
  ASSERT_EQ(im2rec("train", {"--list", "--recursive", "--chunks", "2"}).code, 0);
  ASSERT_EQ(im2rec("train", {"--pass-through", "--nsplit", "2", "--part", "0", "-q"}).code, 0);
  for (const char* name : {"train_0.part000.rec", "train_1.part000.rec"}) {
    EXPECT_EQ(records_of(out(name)).size(), 3u) << name;
  }
}

TEST_F(Im2rec, parts_that_cannot_be_are_refused) {
  list_photos("x");
  EXPECT_EQ(im2rec("x", {"--nsplit", "2", "--part", "2", "-q"}).code, 2);
  EXPECT_EQ(im2rec("x", {"--part", "1", "-q"}).code, 2);
  EXPECT_EQ(im2rec("x", {"--nsplit", "13", "-q"}).code, 2);
  EXPECT_EQ(im2rec("x", {"--nsplit", "0", "-q"}).code, 2);
  EXPECT_THAT(names_in(out()), ElementsAre("x.lst"));
}

TEST_F(Im2rec, a_run_that_failed_goes_on_with_resume) {
  for (const char* prefix : {"x", "whole"}) list_photos(prefix);
  ASSERT_EQ(im2rec("whole", {"--resize", "16", "-q"}).code, 0);
  const std::string last = file_contents(photo("cat dog/2.jpg"));
  write_file(photo("cat dog/2.jpg"), "no image");
  const std::vector<std::string> options{"--resize", "16", "--max-errors", "0", "--resume", "-q"};
  EXPECT_EQ(im2rec("x", options).code, 1);
  EXPECT_FALSE(std::filesystem::exists(out("x.rec")));
  EXPECT_THAT(names_in(out()), IsSupersetOf({"x.rec.journal.partial", "x.rec.partial"}));
  write_file(photo("cat dog/2.jpg"), last);
  std::filesystem::remove(
      photo("ant/0.jpg"));  // an image that is already written is not read again
  const Said said = im2rec("x", options);
  EXPECT_EQ(said.code, 0) << said.err;
  expect_same_files("x", "whole");
  EXPECT_THAT(names_in(out()), ElementsAre("whole.idx", "whole.lst", "whole.rec", "whole.rec.frx",
                                           "x.idx", "x.lst", "x.rec", "x.rec.frx"));
}

TEST_F(Im2rec, what_is_done_already_is_a_success_with_resume) {
  im2rec("train", {"--list", "--recursive", "--chunks", "2"});
  const std::vector<std::string> options{"--resize", "16", "-q", "--resume"};
  EXPECT_EQ(im2rec("train_0", options).code, 0);
  const Said said = im2rec("train", options);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("already complete\n" + out("train_1.rec")));
  EXPECT_EQ(im2rec("train", {"--resize", "17", "-q", "--resume"}).code, 3);
  EXPECT_EQ(im2rec("train", {"--resize", "16", "-q"}).code, 3);
}

TEST_F(Im2rec, a_part_that_is_done_already_is_a_success_with_resume) {
  list_photos("x");
  EXPECT_EQ(im2rec("x", {"--nsplit", "3", "--part", "1", "-q"}).code, 0);
  const Said parts = im2rec("x", {"--nsplit", "3", "-q", "--resume"});
  EXPECT_EQ(parts.code, 0) << parts.err;
  EXPECT_THAT(parts.out, HasSubstr("already complete\n" + out("x.part002.rec")));
}

TEST_F(Im2rec, an_interrupted_comparison_says_that_it_begins_anew) {
  write_file(out("x.lst"), "5\t1\tant/0.jpg\n6\t3\tant/1.jpg\n");
  ASSERT_EQ(im2rec("x", {"-q"}).code, 0);
  const auto made = outputs();
  FaultyFileSystem interrupting(local_file_system());
  interrupting.arm(Fault::kInterrupt, 0);
  Said said;
  {
    const FileSystemOverride instead("file", interrupting);
    said = im2rec("x", {"-q", "--resume"});
  }
  EXPECT_EQ(said.code, 130);
  EXPECT_THAT(said.err, HasSubstr("an unfinished comparison starts over"));
  for (const auto& [name, bytes] : made) EXPECT_TRUE(outputs().at(name) == bytes) << name;
  EXPECT_THAT(im2rec("x", {"-q", "--resume"}).out, HasSubstr("already complete"));
}

}  // namespace
}  // namespace fuelrail
