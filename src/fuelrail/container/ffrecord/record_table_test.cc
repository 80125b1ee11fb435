#include "fuelrail/container/ffrecord/record_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::ffrecord {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::shared_ptr<const Source> source_of(const std::string& file) {
  const Bytes bytes = as_bytes(file);
  return memory_source("x.ffr", {bytes.begin(), bytes.end()});
}

RecordTable table_of(const std::string& file, bool verify = true) {
  return RecordTable::read(*source_of(file), verify);
}

std::string all_bytes() {
  std::string bytes;
  for (int value = 0; value < 256; ++value) bytes += static_cast<char>(value);
  return bytes;
}

const std::vector<std::string> kRecords{"hello", "", "abcabcabcabcabcabcabc", all_bytes()};

// A source that claims a size but has no data. Reading more than 64 KiB at once is an error.
class HollowSource final : public Source {
 public:
  HollowSource(uint64_t size_bytes, std::string head) : size_(size_bytes), head_(std::move(head)) {}
  uint64_t size_bytes() const override { return size_; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t offset, MutableBytes into) const override {
    if (into.size() > 64 * 1024) throw std::logic_error("reads the whole table");
    for (std::byte& byte : into) {
      byte = offset < head_.size() ? static_cast<std::byte>(head_[offset]) : std::byte{0};
      ++offset;
    }
  }

 private:
  uint64_t size_;
  std::string head_;
  std::string uri_ = "hollow.ffr";
};

TEST(RecordTable, the_originals_golden_header_is_read) {
  const auto header = bytes_of_hex(
      "d1c6f851 0400000000000000 86a61036 00000000 71bbda2b 738c0529"
      "3c00000000000000 4100000000000000 4100000000000000 5600000000000000");
  const std::string file = file_of(kRecords);
  EXPECT_EQ(file.substr(0, header.size()), as_text(header));
  EXPECT_EQ(file.size(), 342);
  EXPECT_EQ(crc32(as_bytes(file)), 0xf3f09b3bu);

  const RecordTable table = table_of(file);
  ASSERT_EQ(table.size(), kRecords.size());
  EXPECT_TRUE(table.has_checksum());
  EXPECT_EQ(table.file_bytes(), file.size());
  for (uint64_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(file.substr(table.offset(i), table.length(i)), kRecords[i]) << i;
    EXPECT_EQ(table.crc(i), crc32(as_bytes(kRecords[i]))) << i;
  }
}

TEST(RecordTable, golden_files_of_the_original_have_their_records) {
  for (const char* name : {"part0.ffr", "folder.ffr"}) {
    const std::string file = file_contents(kGolden + name);
    const RecordTable table = table_of(file);
    EXPECT_GT(table.size(), 0);
    for (uint64_t i = 0; i < table.size(); ++i) {
      EXPECT_EQ(crc32(as_bytes(file).subspan(table.offset(i), table.length(i))), table.crc(i))
          << name << " " << i;
    }
    table.verify(name);
  }
}

TEST(RecordTable, a_file_of_no_records_is_twelve_bytes) {
  const std::string file = file_of({});
  EXPECT_EQ(file.size(), 12);
  EXPECT_EQ(table_of(file).size(), 0);
}

TEST(RecordTable, every_flipped_byte_of_the_header_is_seen) {
  const std::string file = file_of(kRecords);
  for (size_t at = 0; at < table_bytes(kRecords.size()); ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      try {
        table_of(damaged);
        ADD_FAILURE() << "byte " << at << " is not seen";
      } catch (const CorruptError&) {
      } catch (const TruncatedError&) {  // for a large count
      }
    }
  }
}

TEST(RecordTable, without_verification_counts_and_offsets_are_checked_all_the_same) {
  std::string file = file_of(kRecords);
  file[12] ^= 1;  // a record's checksum: nothing else depends on it
  EXPECT_EQ(table_of(file, false).size(), 4);
  EXPECT_THAT(refusal_of<CorruptError>([&] { table_of(file); }),
              HasSubstr("x.ffr: offset 0: the record table's checksum is wrong"));
  EXPECT_THAT(refusal_of<CorruptError>([&] { table_of(file, false).verify("y.ffr"); }),
              HasSubstr("y.ffr: offset 0: the record table's checksum is wrong"));
  file[4 + 7] = '\x80';
  EXPECT_THAT(refusal_of<CorruptError>([&] { table_of(file, false); }),
              HasSubstr("the number of records in the file's header is out of range"));
}

TEST(RecordTable, a_count_that_cannot_be_is_refused_before_anything_is_allocated) {
  for (const int64_t count : {int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{1} << 62}) {
    EXPECT_THAT(refusal_of<CorruptError>([&] { table_of(file_of(count, {}, {}, "records")); }),
                HasSubstr("offset 4: the number of records in the file's header is out of range"));
  }
  EXPECT_THAT(refusal_of<TruncatedError>([] { table_of(file_of(1 << 30, {}, {}, "records")); }),
              HasSubstr("the file is shorter than its record table: expected at least 12884901900 "
                        "bytes, found 19"));
}

TEST(RecordTable, a_sparse_file_with_room_for_its_count_allocates_nothing_either) {
  const std::string head = little_endian<uint32_t>(1) + little_endian<int64_t>(int64_t{1} << 40);
  const HollowSource source(uint64_t{1} << 45, head);
  EXPECT_THAT(refusal_of<CorruptError>([&] { RecordTable::read(source, true); }),
              HasSubstr("record 1099511627775"));
}

// Like a sparse file: zeros everywhere except in `head` and in the last offset.
class SparseSource final : public Source {
 public:
  SparseSource(uint64_t records, std::string head)
      : size_(table_bytes(records) + 1), last_(table_bytes(records) - 8), head_(std::move(head)) {}
  uint64_t size_bytes() const override { return size_; }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t offset, MutableBytes into) const override {
    bytes_read_ += into.size();
    std::fill(into.begin(), into.end(), std::byte{0});
    if (offset < head_.size()) {
      const Bytes there = as_bytes(head_).subspan(offset);
      std::copy_n(there.begin(), std::min(there.size(), into.size()), into.begin());
    }
    if (offset == last_) store_le(into.data(), size_ - 1);
  }
  uint64_t bytes_read() const { return bytes_read_; }

 private:
  uint64_t size_;
  uint64_t last_;
  std::string head_;
  std::string uri_ = "sparse.ffr";
  mutable uint64_t bytes_read_ = 0;
};

// Memory is used only as far as it is filled: the first MiB of a table of 3 GiB.
TEST(RecordTable, a_sparse_file_with_a_right_last_offset_costs_no_more_than_it_has) {
  const uint64_t records = uint64_t{1} << 28;
  const std::string head =
      little_endian<uint32_t>(1) + little_endian<int64_t>(static_cast<int64_t>(records));
  const SparseSource source(records, head);
  for (const bool verify : {true, false}) {
    EXPECT_THAT(refusal_of<CorruptError>([&] { RecordTable::read(source, verify); }),
                HasSubstr("record 0, offset 1073741836: an offset in the record table is out of "
                          "range"));
  }
  EXPECT_LT(source.bytes_read(), uint64_t{3} << 20);
}

TEST(RecordTable, offsets_that_cannot_be_are_refused_by_record) {
  const auto refusal = [](const std::vector<int64_t>& offsets) {
    const std::string file = file_of(3, {0, 0, 0}, offsets, "0123456789");  // 48 to 58
    return refusal_of<CorruptError>([&] { table_of(file); });
  };
  EXPECT_THAT(refusal({48, 52, 51}),
              HasSubstr("x.ffr: record 2, offset 40: an offset in the record table is out of "
                        "range: expected 52 to 58, found 51. Restore the file, or write it"));
  EXPECT_THAT(refusal({47, 52, 53}), HasSubstr("record 0, offset 24: "));
  EXPECT_THAT(refusal({48, -1, 53}), HasSubstr("expected 48 to 58, found -1"));
  EXPECT_THAT(refusal({48, 59, 53}), HasSubstr("record 1, offset 32: "));
  EXPECT_THAT(refusal({48, 49, -1}), HasSubstr("expected 48 to 58, found -1"));
  EXPECT_EQ(table_of(file_of(3, {0, 0, 0}, {48, 58, 58}, "0123456789")).length(2), 0);
  EXPECT_EQ(table_of(file_of(1, {0}, {30}, "0123456789")).length(0), 4);  // gaps do no harm
}

TEST(RecordTable, a_file_that_ends_inside_its_head_or_its_table_is_truncated) {
  const std::string file = file_of(kRecords);
  for (size_t length = 0; length < table_bytes(kRecords.size()); ++length) {
    EXPECT_THAT(refusal_of<TruncatedError>([&] { table_of(file.substr(0, length)); }),
                HasSubstr("the file is shorter than its record table: expected at least "));
  }
}

TEST(RecordTable, a_shortened_or_lengthened_file_changes_its_last_record) {
  const std::string file = file_of(kRecords);
  EXPECT_EQ(table_of(file + "more").length(3), 260);
  EXPECT_EQ(table_of(file.substr(0, file.size() - 6)).length(3), 250);
  EXPECT_THAT(refusal_of<TruncatedError>([&] { table_of(file.substr(0, file.size() - 257)); }),
              HasSubstr("the file is truncated, so this record and all later ones are missing or "
                        "incomplete: expected more than "));
}

TEST(RecordTable, random_bytes_are_refused) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string file(random() % 300, '\0');
    for (char& c : file) c = static_cast<char>(random());
    EXPECT_THROW(table_of(file, round % 2 == 0), Error);
  }
}

TEST(RecordTable, a_table_that_was_never_written_is_said_to_be_so) {
  const std::string killed = std::string(12 + 12 * 3, '\0') + "the records that were written";
  for (const bool verify : {true, false}) {
    EXPECT_THAT(
        refusal_of<CorruptError>([&] { table_of(killed, verify); }),
        HasSubstr("x.ffr: offset 0: the record table was never written, because the writer "
                  "stopped early: expected a record count of at least 1, found 0 in a file of "
                  "77 bytes. Write the file again."));
  }
}

TEST(RecordTable, a_table_half_written_is_refused) {
  std::string killed = file_of(kRecords);
  killed.replace(0, 4, 4, '\0');
  killed.replace(28, 32, 32, '\0');  // the offsets
  EXPECT_THROW(table_of(killed), CorruptError);
}

TEST(RecordTable, a_table_without_a_checksum_is_read_with_one_warning) {
  std::string file = file_of(kRecords);
  file.replace(0, 4, 4, '\0');
  for (const bool verify : {true, false}) {
    std::vector<std::string> warnings;
    const RecordTable table = RecordTable::read(
        *source_of(file), verify, [&](const std::string& text) { warnings.push_back(text); });
    EXPECT_EQ(table.size(), 4);
    EXPECT_FALSE(table.has_checksum());
    EXPECT_THAT(warnings, ElementsAre(HasSubstr("x.ffr: the record table has no checksum")));
    table.verify("x.ffr");
  }
  EXPECT_EQ(table_of(file).size(), 4);  // without a listener, there is no warning
}

TEST(RecordTable, a_hundred_thousand_records_are_read) {
  constexpr int64_t kCount = 100'000;
  std::vector<uint32_t> crcs(kCount, 7);
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < kCount; ++i) offsets.push_back(12 + 12 * kCount + i / 2);
  const RecordTable table = table_of(file_of(kCount, crcs, offsets, std::string(kCount, 'x')));
  EXPECT_EQ(table.size(), kCount);
  EXPECT_EQ(table.length(99'999), kCount - 49'999);
  EXPECT_EQ(table.crc(99'999), 7u);
}

TEST(RecordTable, a_file_that_cannot_be_read_says_so) {
  TemporaryDirectory directory;
  const std::string path = directory / "x.ffr";
  write_file(path, file_of(kRecords));
  const auto source = file_system_for(path).open(path);
  std::filesystem::resize_file(path, 20);  // after it was opened
  EXPECT_THROW(RecordTable::read(*source, true), TruncatedError);
}

}  // namespace
}  // namespace fuelrail::ffrecord
