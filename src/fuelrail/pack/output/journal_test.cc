#include "fuelrail/pack/output/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::refusal_of;

class Journal : public ::testing::Test {
 protected:
  std::string output() const { return directory_ / "x.rec"; }
  std::string file() const { return output() + ".journal.partial"; }
  std::unique_ptr<PackJournal> open(const std::string& job = "job") const {
    return std::make_unique<PackJournal>(output(), job, true, std::chrono::milliseconds(0));
  }
  std::optional<JournalContents> parsed() const {
    const std::string bytes = file_contents(file());
    return parse_journal(as_bytes(bytes), "job");
  }
  TemporaryDirectory directory_;
};

TEST_F(Journal, what_was_written_is_read_again) {
  auto journal = open();
  EXPECT_FALSE(journal->left());
  journal->add_record(1234, 0xdeadbeef);
  journal->add_left_out("the end is missing");
  journal->add_completed(7, {.size_bytes = 1234, .first_crc = 5, .last_crc = 6});
  journal->flush();
  journal->add_record(8, 1);
  journal.reset();  // flushes
  EXPECT_TRUE(PackJournal::is_left(output()));
  journal = open();
  ASSERT_TRUE(journal->left());
  const JournalContents& left = *journal->left();
  ASSERT_EQ(left.items.size(), 3u);
  EXPECT_EQ(left.items[0].framed_bytes, 1234u);
  EXPECT_EQ(left.items[0].crc, 0xdeadbeef);
  EXPECT_EQ(left.items[1].framed_bytes, 0u);
  EXPECT_EQ(left.reasons.at(1), "the end is missing");
  EXPECT_EQ(left.completed.at(7), (FileIdentity{1234, 5, 6}));
  EXPECT_EQ(left.valid_bytes, file_contents(file()).size());
}

TEST_F(Journal, its_bytes_are_those_of_the_header) {
  const auto journal = open("j");
  journal->add_record(0x0102, 0x03040506);
  journal->flush();
  std::string expected = "frpackj1";
  const auto add = [&](auto value) {
    std::vector<std::byte> bytes(sizeof value);
    store_le(bytes.data(), value);
    expected += as_text(bytes);
  };
  add(uint32_t{1});
  add(crc32(as_bytes("j")));
  expected += "j";
  const std::string entries("\x01\x02\x01\x00\x00\x06\x05\x04\x03", 9);
  add(uint32_t{9});
  add(crc32(as_bytes(entries)));
  expected += entries;
  EXPECT_EQ(file_contents(file()), expected);
}

TEST_F(Journal, items_that_do_not_count_any_more_are_gone) {
  auto journal = open();
  for (uint32_t i = 1; i <= 5; ++i) journal->add_record(i, i);
  journal->add_left_out("bad");
  journal->add_completed(0, {});
  journal.reset();
  journal = open();
  journal->keep(3);
  EXPECT_FALSE(journal->left());
  journal->add_record(9, 9);
  journal.reset();
  const auto contents = parsed();
  ASSERT_TRUE(contents);
  ASSERT_EQ(contents->items.size(), 4u);
  EXPECT_EQ(contents->items[3].framed_bytes, 9u);
  EXPECT_THAT(contents->reasons, IsEmpty());
  EXPECT_THAT(contents->completed, IsEmpty());
}

TEST_F(Journal, a_block_that_is_cut_off_or_damaged_ends_it) {
  auto journal = open();
  journal->add_record(1, 1);
  journal->flush();
  journal->add_record(2, 2);
  journal.reset();
  const std::string bytes = file_contents(file());
  for (size_t cut = 1; cut < 17; ++cut) {
    const std::string shorter = bytes.substr(0, bytes.size() - cut);
    const auto contents = parse_journal(as_bytes(shorter), "job");
    ASSERT_TRUE(contents) << cut;
    EXPECT_EQ(contents->items.size(), 1u) << cut;
    EXPECT_EQ(contents->valid_bytes, bytes.size() - 17) << cut;
  }
  std::string damaged = bytes;
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  EXPECT_EQ(parse_journal(as_bytes(damaged), "job")->items.size(), 1u);

  write_file(file(), damaged);
  journal = open();  // new entries follow the intact ones
  journal->keep(1);
  journal->add_record(3, 3);
  journal.reset();
  ASSERT_EQ(parsed()->items.size(), 2u);
  EXPECT_EQ(parsed()->items[1].framed_bytes, 3u);
}

TEST_F(Journal, another_jobs_journal_is_not_used) {
  open("job")->add_record(1, 1);
  {
    const auto other = open("another job");
    EXPECT_FALSE(other->left());
    EXPECT_TRUE(other->is_foreign());
  }
  EXPECT_EQ(parsed()->items.size(), 1u);  // its job may still be resumed
  open("another job")->begin_anew();
  EXPECT_FALSE(parsed());
  write_file(file(), "frpackj1 and nothing that makes sense");
  EXPECT_TRUE(open()->is_foreign());
  EXPECT_FALSE(parse_journal({}, "job"));
}

TEST_F(Journal, entries_of_no_known_kind_make_it_no_journal) {
  open().reset();
  std::string bytes = file_contents(file());
  const std::string entry = "\x09";
  const auto add = [&](uint32_t value) {
    std::vector<std::byte> le(sizeof value);
    store_le(le.data(), value);
    bytes += as_text(le);
  };
  add(1);
  add(crc32(as_bytes(entry)));
  bytes += entry;
  EXPECT_FALSE(parse_journal(as_bytes(bytes), "job"));
}

TEST_F(Journal, a_second_one_of_the_same_output_is_refused) {
  const auto journal = open();
  EXPECT_EQ(
      refusal_of<IoError>([&] { open(); }).find(output() + ": another job is writing the output"),
      0u);
}

TEST_F(Journal, a_finished_one_goes) {
  const auto journal = open();
  journal->add_record(1, 1);
  journal->flush();
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("x.rec.journal.partial"));
  journal->finish();
  EXPECT_THAT(names_in(directory_.path()), IsEmpty());
}

TEST_F(Journal, it_is_time_to_flush_when_much_has_come) {
  PackJournal journal(output(), "job", true, std::chrono::hours(1));
  EXPECT_FALSE(journal.due());
  for (int i = 0; i < 8000; ++i) journal.add_record(1, 1);
  EXPECT_TRUE(journal.due());
  journal.flush();
  EXPECT_FALSE(journal.due());
}

}  // namespace
}  // namespace fuelrail::pack
