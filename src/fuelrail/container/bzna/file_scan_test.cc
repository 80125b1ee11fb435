// The search for the records of `.bzna` files whose tables are damaged.
#include "fuelrail/container/bzna/file_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/mp4_file.h"

namespace fuelrail::bzna {
namespace {

using namespace fuelrail::mp4;  // the boxes of a file

using ::testing::SizeIs;

TEST(BznaSearch, records_are_found_without_the_tables) {
  BznaFile file(four_records(), false);
  const std::string bytes = file_contents(file.path);
  const auto whole = file.open();
  const uint64_t third = whole->record_extent(2).offset;
  write_file(file.path, bytes.substr(0, third + 20));  // as a full disk leaves it
  std::vector<Damage> damage;
  const Salvage salvage =
      open_damaged(file.path, [&](const Damage& d) { damage.push_back(d); }, {}, {});
  ASSERT_EQ(salvage.file->size(), 2u);
  EXPECT_EQ(Read(*salvage.file, 0).field(0), "thumb");
  EXPECT_EQ(Read(*salvage.file, 0).label(), 3);
  EXPECT_EQ(Read(*salvage.file, 1).label(), -1);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_EQ(damage[0].offset, third);
  EXPECT_EQ(damage[0].skipped_bytes, 20u);
}

TEST(BznaSearch, a_damaged_record_does_not_hide_the_next) {
  BznaFile file(four_records(), false);
  std::string bytes = file_contents(file.path);
  const Extent second = file.open()->record_extent(1);
  bytes.replace(second.offset, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  bytes.resize(bytes.rfind("moov"));
  write_file(file.path, bytes);
  std::vector<Damage> damage;
  const Salvage salvage =
      open_damaged(file.path, [&](const Damage& d) { damage.push_back(d); }, {}, {});
  ASSERT_EQ(salvage.file->size(), 3u);
  EXPECT_EQ(Read(*salvage.file, 1).field(0), "third");
  ASSERT_THAT(damage, SizeIs(2));
  EXPECT_EQ(damage[0].record, 1u);
  EXPECT_EQ(damage[0].offset, second.offset);
  EXPECT_EQ(damage[0].skipped_bytes, second.length);
  EXPECT_EQ(damage[1].record, std::nullopt);  // the lost bytes may have been several records
}

// A record as another program may write it: the tables before the data, which has a 64-bit length.
std::string tables_first(const std::string& bitstream) {
  const std::string type = mp4_box("ftyp", "isom" + be32(0));
  const auto tables = [&](uint64_t at) {
    return mp4_box("moov",
                   trak(tkhd(64, 64), hdlr("vide", "bzna_input"),
                        stsd(video_entry("hvc1", 64, 64, mp4_box("hvcC", "sets"))) +
                            stsz({static_cast<uint32_t>(bitstream.size())}) + stsc() + co64({at})));
  };
  return type + tables(type.size() + tables(0).size() + 16) + long_mp4_box("mdat", bitstream);
}

TEST(BznaSearch, records_are_found_after_a_damaged_beginning) {
  BznaFile file(four_records(), false);
  std::string bytes = file_contents(file.path);
  bytes.replace(0, 30, 30, '\xff');
  write_file(file.path, bytes);
  EXPECT_THROW(file.open(), UnsupportedError);
  const Salvage salvage = open_damaged(file.path, [](const Damage&) {}, {}, {});
  ASSERT_EQ(salvage.file->size(), 4u);
  EXPECT_EQ(Read(*salvage.file, 3).field(0), "the last one");
}

TEST(BznaSearch, what_only_begins_like_a_record_is_not_found) {
  const std::string type = mp4_box("ftyp", "isom"), good = tables_first("good");
  std::string many = type;
  for (int i = 0; i < 20; ++i) many += mp4_box("free", "");
  const std::string tables = mp4_box("moov", ""), data = mp4_box("mdat", "x");
  for (const std::string& other :
       {type + data, type + tables, type + tables + data, type + mp4_box("meta", ""),
        many + tables + data, type + data + mp4_box("moov", "12345678"), type.substr(0, 9)}) {
    TemporaryDirectory directory;
    const std::string path = directory / "x.bzna";
    write_file(path, mp4_box("ftyp", "isom" + be32(0) + "bzna") + mp4_box("mdat", other + good));
    std::vector<Damage> damage;
    const Salvage salvage = open_damaged(path, [&](const Damage& d) { damage.push_back(d); },
                                         {.track = "bzna_input"}, {});
    ASSERT_EQ(salvage.file->size(), 1u);
    EXPECT_EQ(Read(*salvage.file, 0).field(0), "good");
    ASSERT_THAT(damage, SizeIs(2));
    EXPECT_EQ(damage[0].skipped_bytes, other.size());
  }
}

TEST(BznaSearch, records_of_other_programs_are_found_without_the_tables) {
  const std::string data = tables_first("first") + tables_first("second");
  for (const std::string& mdat : {mp4_box("mdat", data), long_mp4_box("mdat", data)}) {
    TemporaryDirectory directory;
    const std::string path = directory / "x.bzna";
    write_file(path, mp4_box("ftyp", "isom" + be32(0) + "bzna") + mdat);
    std::vector<Damage> damage;
    const Salvage salvage = open_damaged(path, [&](const Damage& d) { damage.push_back(d); },
                                         {.track = "bzna_input"}, {});
    ASSERT_EQ(salvage.file->size(), 2u);
    EXPECT_EQ(Read(*salvage.file, 1).field(0), "second");
    EXPECT_THAT(damage, SizeIs(1));  // the tables
  }
}

}  // namespace
}  // namespace fuelrail::bzna
