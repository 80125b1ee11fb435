#include "fuelrail/pack/part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void append_one(Part& part) {
  std::vector<std::byte> payload;
  const float label = 1;
  append_image_record(7, {&label, 1}, as_bytes("image"), payload);
  part.append_image(payload, crc32(payload));
}

// A part of images, complete but for its commit.
struct FinishedPart : Part {
  explicit FinishedPart(const std::string& uri, bool overwrite = true) : Part(uri, 1, overwrite) {
    append_one(*this);
    finish_images({"ant", "bee"});
  }
};

TEST(Part, nothing_has_its_name_before_the_commit_and_everything_after_it) {
  const TemporaryDirectory directory;
  FinishedPart part(directory / "x.rec");
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
  FinishedPart part(directory / "x.rec");
  EXPECT_EQ(std::filesystem::file_size(directory / "x.rec.partial"), part.bytes());
  EXPECT_EQ(file_contents(directory / "x.idx.partial"), "7\t0\n");
  EXPECT_EQ(file_contents(directory / "x.rec"), "old");
}

TEST(Part, an_old_data_file_never_stands_beside_new_companions) {
  const TemporaryDirectory directory;
  write_file(directory / "x.rec", "old");
  write_file(directory / "x.idx", "old");
  FinishedPart part(directory / "x.rec");
  part.begin_commit();
  EXPECT_FALSE(std::filesystem::exists(directory / "x.rec"));
  EXPECT_EQ(file_contents(directory / "x.idx"), "old");
  part.commit_companions();
  EXPECT_FALSE(std::filesystem::exists(directory / "x.rec"));
}

TEST(Part, a_commit_that_fails_half_way_leaves_no_companions) {
  const TemporaryDirectory directory;
  {
    FinishedPart part(directory / "x.rec");
    part.begin_commit();
    part.commit_companions();
  }
  EXPECT_THAT(names_in(directory.path()), IsEmpty());
}

TEST(Part, an_old_data_file_that_cannot_be_removed_keeps_its_companions) {
  const TemporaryDirectory directory;
  write_file(directory / "x.idx", "old");
  write_file(directory / "x.rec.frx", "old");
  {
    FinishedPart part(directory / "x.rec");
    std::filesystem::create_directory(directory / "x.rec");  // which no removal of a file removes
    EXPECT_THROW(part.begin_commit(), IoError);
  }
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
  EXPECT_EQ(file_contents(directory / "x.idx"), "old");
}

TEST(Part, given_up_before_the_commit_it_leaves_nothing) {
  const TemporaryDirectory directory;
  { FinishedPart part(directory / "x.rec"); }
  EXPECT_THAT(names_in(directory.path()), IsEmpty());
}

TEST(Part, an_old_data_file_is_not_replaced_unless_that_is_allowed) {
  const TemporaryDirectory directory;
  {
    FinishedPart part(directory / "x.rec", false);
    write_file(directory / "x.rec", "mine");
    EXPECT_THROW(part.begin_commit(), IoError);
  }
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.rec"));
  EXPECT_EQ(file_contents(directory / "x.rec"), "mine");
}

TEST(Part, of_an_ffrecord_file_has_a_sidecar_and_no_index) {
  const TemporaryDirectory directory;
  Part part(directory / "x.ffr", 5, true);  // fewer come
  append_one(part);
  append_one(part);
  part.finish_images({"ant", "bee"});
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.ffr.frx.partial", "x.ffr.partial"));
  part.begin_commit();
  part.commit_companions();
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.ffr.frx", "x.ffr.partial"));
  part.commit_data();
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.ffr", "x.ffr.frx"));
  EXPECT_EQ(part.bytes(), std::filesystem::file_size(directory / "x.ffr"));

  const auto source = file_system_for(directory / "x.ffr").open(directory / "x.ffr");
  const auto table = ffrecord::RecordTable::read(*source, true);
  EXPECT_EQ(table.size(), 2u);
  const auto sidecar =
      Sidecar::open(file_system_for(directory / "x.ffr.frx").open(directory / "x.ffr.frx"));
  EXPECT_EQ(sidecar->identity(), identify(*source));
  EXPECT_FALSE(sidecar->has_table());
  EXPECT_FALSE(sidecar->has_checksums());
  EXPECT_FALSE(sidecar->has_keys());
  EXPECT_EQ(sidecar->fingerprint().records, 2u);
  EXPECT_EQ(sidecar->fingerprint().bytes, table.length(0) + table.length(1));
  EXPECT_EQ(sidecar->labels(), (LabelSummary{1, true}));
  EXPECT_THAT(sidecar->classes(), ElementsAre("ant", "bee"));
}

TEST(Part, of_a_format_that_there_is_not_is_refused) {
  const TemporaryDirectory directory;
  for (const char* name : {"x", "x.tar", ".rec", ".ffr", "x.REC"}) {
    EXPECT_THROW(Part(directory / name, 1, true), InvalidArgumentError) << name;
  }
  EXPECT_THAT(names_in(directory.path()), IsEmpty());
}

}  // namespace
}  // namespace fuelrail
