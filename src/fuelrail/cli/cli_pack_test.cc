// Parts and resuming of `fuelrail pack`, and `merge`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/packer_rig.h"

namespace fuelrail {
namespace {

using testing::call;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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
  EXPECT_EQ(call({"merge", out("x.rec"), out("y.rec"), "-q"}).code, 3);  // it is there
  const Said twice = call({"merge", out("n.rec"), out("x.rec"), out("x.rec")});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("the file is to be merged twice"));
  EXPECT_EQ(call({"merge", out("n.rec")}).code, 2);
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
  EXPECT_THAT(parts.out, HasSubstr("there already as this job makes it\n" + out("x.part002.rec")));
}

}  // namespace
}  // namespace fuelrail
