#include "fuelrail/pack/output/part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void append_one(Part& part) {
  std::vector<std::byte> payload;
  const float label = 1;
  append_image_record(7, {&label, 1}, as_bytes("image"), payload);
  part.append_image(payload, crc32(payload), 7);
}

// A part of images that is complete but not committed.
struct FinishedPart : Part {
  explicit FinishedPart(const std::string& uri, bool overwrite = true) : Part(uri, 1, overwrite) {
    append_one(*this);
    finish_images({"ant", "bee"});
  }
  FinishedPart(const std::string& uri, bool overwrite, const std::string& class_name,
               int records = 1)
      : Part(uri, 1, overwrite) {
    for (int i = 0; i < records; ++i) append_one(*this);
    finish_images({class_name});
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

// An old x.rec with its companions, as named by `replaced`, and a new one that will replace it.
class ReplacingPart : public ::testing::Test {
 protected:
  ReplacingPart() {
    make("old");
    old_ = named({"x.rec", "x.rec.frx", "x.idx"});
  }

  void make(const std::string& class_name) const { FinishedPart(rec_, true, class_name).commit(); }

  std::map<std::string, std::string> named(const std::vector<std::string>& names) const {
    std::map<std::string, std::string> contents;
    for (const std::string& name : names) contents[name] = file_contents(directory_ / name);
    return contents;
  }

  std::vector<std::string> classes() const {
    std::vector<std::string> said;
    const auto file = open_container(rec_, {.warn = [&](const auto& w) { said.push_back(w); }});
    said.insert(said.end(), file->classes().begin(), file->classes().end());
    return said;
  }

  int64_t index_entries() const {
    return std::ranges::count(file_contents(directory_ / "x.idx"), '\n');
  }

  TemporaryDirectory directory_;
  std::string rec_ = directory_ / "x.rec";
  std::map<std::string, std::string> old_;
};

TEST_F(ReplacingPart, the_old_file_has_its_companions_until_the_new_one_has_its_name) {
  FinishedPart part(rec_, true, "new", 2);
  EXPECT_THAT(names_in(directory_.path()),
              ElementsAre("x.idx", "x.idx.partial", "x.rec", "x.rec.frx", "x.rec.frx.partial",
                          "x.rec.partial"));
  part.begin_commit();
  part.commit_companions();
  EXPECT_EQ(named({"x.rec", "x.rec.frx", "x.idx"}), old_);
  EXPECT_THAT(classes(), ElementsAre("old"));
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("x.idx", "x.idx.next", "x.rec", "x.rec.frx",
                                                       "x.rec.frx.next", "x.rec.partial"));
  part.commit_data();
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
  EXPECT_THAT(classes(), ElementsAre("new"));
}

TEST_F(ReplacingPart, given_up_before_its_data_has_its_name_it_leaves_the_old_files_and_its_own) {
  {
    FinishedPart part(rec_, true, "new", 2);
    part.begin_commit();
    part.commit_companions();
  }
  EXPECT_EQ(named({"x.rec", "x.rec.frx", "x.idx"}), old_);
  EXPECT_THAT(classes(), ElementsAre("old"));
  std::filesystem::rename(directory_ / "x.rec.partial", rec_);  // the step that was missing
  EXPECT_THAT(classes(), ElementsAre("new"));
  EXPECT_THAT(names_in(directory_.path()),
              ElementsAre("x.idx", "x.idx.next", "x.rec", "x.rec.frx", "x.rec.frx.next"));
}

TEST_F(ReplacingPart, what_a_killed_one_has_not_named_gets_its_name_by_the_next) {
  {
    FinishedPart part(rec_, true, "new", 2);
    part.begin_commit();
    part.commit_companions();
  }
  std::filesystem::rename(directory_ / "x.rec.partial", rec_);
  const auto next = named({"x.rec", "x.rec.frx.next", "x.idx.next"});
  { FinishedPart given_up(rec_, true, "newer", 3); }
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
  EXPECT_EQ(file_contents(directory_ / "x.rec.frx"), next.at("x.rec.frx.next"));
  EXPECT_EQ(file_contents(directory_ / "x.idx"), next.at("x.idx.next"));
  make("newer");
  EXPECT_THAT(classes(), ElementsAre("newer"));
}

// Runs a second writer before each call of the first one that follows the renaming of X.rec.
TEST_F(ReplacingPart, writers_that_meet_leave_the_companions_of_the_one_that_was_last) {
  FaultyFileSystem hooked(local_file_system());
  const FileSystemOverride instead("file", hooked);
  bool met = true;
  for (int moment = 0; met; ++moment) {
    for (const bool commits : {true, false}) {
      FinishedPart first(rec_, true, "first", 2);
      first.begin_commit();
      first.commit_companions();
      bool second_is_named = false;
      int call = 0;
      hooked.watch = [&](std::string_view, const std::string&) {
        if (call++ != moment) return;
        try {
          FinishedPart second(rec_, true, "second", 3);
          second.begin_commit();
          second.commit_companions();
          if (commits) second.commit_data();
          second_is_named = commits;
        } catch (const IoError& error) {
          EXPECT_THAT(error.what(), HasSubstr("another job is writing the output"));
        }
      };
      first.commit_data();
      hooked.watch = {};
      met = call > moment;
      EXPECT_THAT(classes(), ElementsAre(second_is_named ? "second" : "first")) << moment;
      EXPECT_EQ(index_entries(), second_is_named ? 3 : 2) << moment;
      std::filesystem::remove(rec_ + ".partial");
      EXPECT_THAT(names_in(directory_.path()), ElementsAre("x.idx", "x.rec", "x.rec.frx"));
    }
  }
}

TEST_F(ReplacingPart, a_directory_in_the_place_of_the_file_keeps_its_companions) {
  std::filesystem::remove(rec_);
  {
    FinishedPart part(rec_);
    std::filesystem::create_directory(rec_);  // a directory that no file can replace
    part.begin_commit();
    part.commit_companions();
    EXPECT_THROW(part.commit_data(), IoError);
  }
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("x.rec"));
}

TEST(Part, a_commit_that_fails_half_way_leaves_no_companions) {
  for (const bool overwrite : {false, true}) {
    const TemporaryDirectory directory;
    {
      FinishedPart part(directory / "x.rec", overwrite);
      part.begin_commit();
      part.commit_companions();
    }
    EXPECT_THAT(names_in(directory.path()), IsEmpty());
  }
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
  Part part(directory / "x.ffr", 5, true);  // fewer records follow
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
}  // namespace fuelrail::pack
