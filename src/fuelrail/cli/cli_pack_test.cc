// Parts and resuming of `fuelrail pack`, and `merge`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/testing/absent_codec.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/made_jpeg.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail {
namespace {

using testing::call;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Said;

class CliPack : public Packer {
 protected:
  Said pack_into(const std::string& name, std::vector<std::string> options) const {
    options.insert(options.begin(), {"pack", photos(), out(name), "-q"});
    return call(options);
  }
};

TEST_F(CliPack, parts_are_packed_on_their_own_and_merged) {
  ASSERT_EQ(pack_into("whole.rec", {}).code, 0);
  for (const char* part : {"0", "1", "2"}) {
    const Said said = pack_into("p.rec", {"--nsplit", "3", "--part", part});
    ASSERT_EQ(said.code, 0) << said.err;
  }
  const std::vector<std::string> merge{
      "merge", out("m.rec"), out("p.part000.rec"), out("p.part001.rec"), out("p.part002.rec"),
      "-q"};
  EXPECT_EQ(call(merge).code, 0);
  for (const char* end : {".rec", ".idx", ".rec.frx"}) {
    EXPECT_EQ(file_contents(out("m") + end), file_contents(out("whole") + end)) << end;
  }
}

TEST_F(CliPack, what_cannot_be_merged_is_refused) {
  ASSERT_EQ(pack_into("x.rec", {}).code, 0);
  ASSERT_EQ(pack_into("y.rec", {}).code, 0);
  EXPECT_EQ(call({"merge", out("x.rec"), out("y.rec"), "-q"}).code, 3);  // it exists
  const Said twice = call({"merge", out("n.rec"), out("x.rec"), out("x.rec")});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("the source is listed twice"));
  EXPECT_EQ(call({"merge", out("n.rec")}).code, 2);
  const Said shared = call({"merge", out("n.rec"), out("x.rec"), out("y.rec"), "-q"});
  EXPECT_THAT(shared.err, HasSubstr("Open the files together with fuelrail.open([a, b])"));
  std::filesystem::rename(photo("bee"), photo("wasp"));
  ASSERT_EQ(pack_into("z.rec", {}).code, 0);
  const Said others = call({"merge", out("n.rec"), out("x.rec"), out("z.rec"), "-q"});
  EXPECT_THAT(others.err, HasSubstr("Pack this file again with the first file's class names"));
}

TEST_F(CliPack, a_missing_codec_is_one_error) {
  const LentDecoding lent(testing::kAbsentDecoding);
  write_file(photo("ant/2.jpg"), "RARE");
  write_file(photo("bee/1.jpg"), "RARE");
  for (const Said& said : {call({"verify", photos(), "--decode", "-q"}),
                           pack_into("x.rec", {"--decode", "--max-errors", "5"})}) {
    EXPECT_NE(said.code, 0);
    EXPECT_THAT(said.err, HasSubstr(photo("ant/2.jpg")));
    EXPECT_THAT(said.err, HasSubstr("Install 'rare'"));
    EXPECT_THAT(said.err, Not(HasSubstr(photo("bee/1.jpg"))));
  }
}

TEST_F(CliPack, an_error_says_what_was_expected_and_what_to_do) {
  write_file(directory_ / "lists/x.lst", "0\t1\tant/0.jpg\n");
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::vector<std::string> said;
  };
  const std::string rec = out("x.rec");
  const std::vector<Case> cases{
      {{"pack", directory_ / "nosuch", rec},
       3,
       {"nosuch: the source does not exist", "expected a folder with one sub-folder per class",
        "Check the path"}},
      {{"pack", photos(), rec, "--resize", "abc"},
       2,
       {"pack: --resize is not a number: expected a whole number, found 'abc'", "pack --help"}},
      {{"pack", photos(), rec, "--resize", "-99999999999999999999"},
       2,
       {"`resize` is out of range: expected 1 to 32768, found -99999999999999999999"}},
      {{"pack", photos(), rec, "--resize"},
       2,
       {"pack: --resize needs a value. See 'fuelrail pack --help'."}},
      {{"pack", photos(), rec, "--resize", "1", "--resize", "2"},
       2,
       {"pack: --resize is given more than once. See 'fuelrail pack --help'."}},
      {{"pack", photos(), rec, "--resume=5"},
       2,
       {"pack: --resume takes no value. See 'fuelrail pack --help'."}},
      {{"pack", photos(), rec, "--split", ""},
       2,
       {"pack: --split needs a value. See 'fuelrail pack --help'."}},
      {{"pack", photos(), rec, "--split"}, 2, {"pack: --split needs a value."}},
      {{"pack", photos(), rec, "--seed", "-1"},
       2,
       {"`seed` is out of range: expected at least 0, found -1"}},
      {{"pack", photos(), rec, "--threads", "0"},
       2,
       {"`threads` is out of range: expected 1 to 1024, found 0"}},
      {{"bench", out("not_opened.rec"), "--threads", "2000"},
       2,
       {"`threads` is out of range: expected 1 to 1024, found 2000"}},
      {{"bench", photos(), "--batch-size", "0"},
       2,
       {"`batch_size` is out of range: expected 1 to 1048576, found 0"}},
      {{"bench", out("not_opened.rec"), "--batch-size", "2000000"},
       2,
       {"`batch_size` is out of range: expected 1 to 1048576, found 2000000"}},
      {{"bench", out("not_opened.rec"), "--seconds", "0"},
       2,
       {"`seconds` is out of range: expected 0.01 to 86400, found 0"}},
      {{"bench", photos(), "--thread", "2"}, 2, {"Did you mean '--threads'?"}},
      {{"pack", directory_ / "lists/x.lst", rec},
       1,
       {"lists/ant/0.jpg: no such file or directory",
        "the list's paths are not relative to " + directory_ / "lists", "--root"}},
      {{"pack", photos(), out("none/x.rec")},
       3,
       {out("none") + ": the folder does not exist. Create the folder first",
        "Create the folder first"}},
  };
  for (const Case& wrong : cases) {
    const Said said = call(wrong.arguments);
    EXPECT_EQ(said.code, wrong.code) << said.err;
    for (const std::string& text : wrong.said) EXPECT_THAT(said.err, HasSubstr(text));
    EXPECT_THAT(said.err, Not(HasSubstr("journal")));
  }
}

TEST_F(CliPack, says_how_many_progressive_jpegs_became_baseline) {
  const std::vector<std::byte> jpeg = make_jpeg({.progressive = true});
  for (const char* name : {"ant/1.jpg", "bee/2.jpg"}) write_file(photo(name), as_text(jpeg));
  for (int i = 0; i < 12; ++i)
    write_file(photo("cat dog/p" + std::to_string(i) + ".jpg"), as_text(jpeg));
  const Said plain = call({"pack", photos(), out("plain.rec")});
  EXPECT_THAT(plain.out, Not(HasSubstr("baseline")));
  EXPECT_THAT(plain.err, HasSubstr("tip: some of these JPEGs are progressive"));
  EXPECT_THAT(call({"doctor", out("plain.rec")}).out, HasSubstr("are progressive"));
  EXPECT_THAT(call({"info", out("plain.rec")}).out, HasSubstr("pack progressive ones with"));
  const Said parts = call({"pack", photos(), out("n.rec"), "--nsplit", "2", "--entry-points"});
  EXPECT_EQ(parts.err.find("progressive"), parts.err.rfind("progressive")) << parts.err;
  const Said recoded = call({"pack", photos(), out("x.rec"), "--baseline"});
  EXPECT_THAT(recoded.out, HasSubstr("14 progressive JPEGs stored as baseline\n"));
  EXPECT_THAT(recoded.err, Not(HasSubstr("progressive")));
}

TEST_F(CliPack, a_run_that_failed_goes_on_with_resume) {
  const std::string whole = file_contents(photo("cat dog/2.jpg"));
  write_file(photo("cat dog/2.jpg"), "no image");
  EXPECT_EQ(pack_into("x.rec", {"--resume"}).code, 1);
  EXPECT_THAT(names_in(out()),
              ElementsAre("x.rec.errors.jsonl", "x.rec.journal.partial", "x.rec.partial"));
  write_file(photo("cat dog/2.jpg"), whole);
  EXPECT_EQ(pack_into("x.rec", {"--resume"}).code, 0);
  EXPECT_THAT(names_in(out()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
  EXPECT_EQ(records_of(out("x.rec")).size(), 12u);
}

TEST_F(CliPack, a_part_that_is_done_already_is_a_success_with_resume) {
  EXPECT_EQ(pack_into("x.rec", {"--nsplit", "3", "--part", "1"}).code, 0);
  const Said parts = pack_into("x.rec", {"--nsplit", "3", "--resume"});
  EXPECT_EQ(parts.code, 0) << parts.err;
  EXPECT_THAT(parts.out, HasSubstr("already complete\n" + out("x.part002.rec")));
}

}  // namespace
}  // namespace fuelrail
