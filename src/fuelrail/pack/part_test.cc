#include "fuelrail/pack/part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void append_one(Part& part) {
  std::vector<std::byte> payload;
  const float label = 1;
  append_image_record(7, {&label, 1}, as_bytes("image"), payload);
  part.append(payload, crc32(payload));
}

TEST(Part, nothing_has_its_name_before_the_commit_and_everything_after_it) {
  const TemporaryDirectory directory;
  Part part(directory / "x.rec", true);
  append_one(part);
  part.finish({"ant", "bee"});
  EXPECT_THAT(names_in(directory.path()),
              ElementsAre("x.idx.partial", "x.rec.frx.partial", "x.rec.partial"));
  part.begin_commit();
  part.commit_companions();
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.idx", "x.rec.frx", "x.rec.partial"));
  part.commit_data();
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
  EXPECT_EQ(part.records(), 1u);
  EXPECT_EQ(part.bytes(), std::filesystem::file_size(directory / "x.rec"));
  EXPECT_THAT(open_container(directory / "x.rec")->classes(), ElementsAre("ant", "bee"));
}

TEST(Part, the_bytes_are_all_written_before_any_name_changes) {
  const TemporaryDirectory directory;
  write_file(directory / "x.rec", "old");
  Part part(directory / "x.rec", true);
  append_one(part);
  part.finish({});
  EXPECT_EQ(std::filesystem::file_size(directory / "x.rec.partial"), part.bytes());
  EXPECT_EQ(file_contents(directory / "x.idx.partial"), "7\t0\n");
  EXPECT_EQ(file_contents(directory / "x.rec"), "old");
}

TEST(Part, an_old_data_file_never_stands_beside_new_companions) {
  const TemporaryDirectory directory;
  write_file(directory / "x.rec", "old");
  write_file(directory / "x.idx", "old");
  Part part(directory / "x.rec", true);
  append_one(part);
  part.finish({});
  part.begin_commit();
  EXPECT_FALSE(std::filesystem::exists(directory / "x.rec"));
  EXPECT_EQ(file_contents(directory / "x.idx"), "old");
  part.commit_companions();
  EXPECT_FALSE(std::filesystem::exists(directory / "x.rec"));
}

TEST(Part, a_commit_that_fails_half_way_leaves_no_companions) {
  const TemporaryDirectory directory;
  {
    Part part(directory / "x.rec", true);
    append_one(part);
    part.finish({});
    part.begin_commit();
    part.commit_companions();
  }
  EXPECT_THAT(names_in(directory.path()), IsEmpty());
}

TEST(Part, given_up_before_the_commit_it_leaves_nothing) {
  const TemporaryDirectory directory;
  {
    Part part(directory / "x.rec", true);
    append_one(part);
    part.finish({});
  }
  EXPECT_THAT(names_in(directory.path()), IsEmpty());
}

TEST(Part, an_old_data_file_is_not_replaced_unless_that_is_allowed) {
  const TemporaryDirectory directory;
  {
    Part part(directory / "x.rec", false);
    append_one(part);
    part.finish({});
    write_file(directory / "x.rec", "mine");
    EXPECT_THROW(part.begin_commit(), IoError);
  }
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.rec"));
  EXPECT_EQ(file_contents(directory / "x.rec"), "mine");
}

}  // namespace
}  // namespace fuelrail
