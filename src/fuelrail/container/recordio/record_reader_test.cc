#include "fuelrail/container/recordio/record_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/recordio/record_writer.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::recordio {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kGolden = std::string(FUELRAIL_SOURCE_DIR) + "/tests/golden/recordio/";
const std::string kMagicText = "\x0a\x23\xd7\xce";

std::shared_ptr<const Source> source_of(std::vector<std::byte> bytes) {
  return memory_source("file.rec", std::move(bytes));
}

struct File {
  std::vector<std::byte> bytes;
  std::vector<uint64_t> offsets;
};

File file_of(const std::vector<std::string>& payloads) {
  CollectingSink sink;
  RecordWriter writer(sink);
  File file;
  for (const std::string& payload : payloads)
    file.offsets.push_back(writer.append(as_bytes(payload)));
  file.bytes = sink.bytes();
  return file;
}

std::vector<std::string> read_all(RecordReader& reader) {
  std::vector<std::string> payloads;
  while (const auto record = reader.next()) payloads.emplace_back(as_text(record->payload));
  return payloads;
}

struct Recovered {
  std::vector<std::string> payloads;
  std::vector<Damage> damage;
};

Recovered recover(std::vector<std::byte> bytes) {
  Recovered result;
  RecordReader reader(source_of(std::move(bytes)),
                      {.recover = [&](const Damage& d) { result.damage.push_back(d); }});
  result.payloads = read_all(reader);
  return result;
}

// With the offset basis that manifest.tsv was generated with, one digit shorter than the standard
// one.
uint64_t fnv1a64(Bytes bytes) {
  uint64_t hash = 1469598103934665603;
  for (const std::byte b : bytes) hash = (hash ^ std::to_integer<uint64_t>(b)) * 0x100000001b3;
  return hash;
}

struct GoldenRecord {
  std::string file;
  uint64_t index = 0;
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t hash = 0;
};

std::vector<GoldenRecord> golden_records() {
  std::ifstream manifest(kGolden + "manifest.tsv");
  std::vector<GoldenRecord> records;
  for (std::string line; std::getline(manifest, line);) {
    if (line.starts_with("#")) continue;
    GoldenRecord record;
    std::istringstream(line) >> record.file >> record.index >> record.offset >> record.length >>
        std::hex >> record.hash;
    records.push_back(record);
  }
  return records;
}

TEST(RecordReader, golden_files_give_every_payload_and_are_written_to_the_same_bytes) {
  std::map<std::string, std::vector<GoldenRecord>> files;
  for (const GoldenRecord& record : golden_records()) files[record.file].push_back(record);
  ASSERT_EQ(files.size(), 3u);
  for (const auto& [name, records] : files) {
    const std::string path = kGolden + name;
    RecordReader reader(file_system_for(path).open(path));
    CollectingSink copy;
    RecordWriter writer(copy);
    for (const GoldenRecord& expected : records) {
      SCOPED_TRACE(name + " " + std::to_string(expected.index));
      const auto record = reader.next();
      ASSERT_TRUE(record);
      EXPECT_EQ(record->offset, expected.offset);
      EXPECT_EQ(record->payload.size(), expected.length);
      EXPECT_EQ(fnv1a64(record->payload), expected.hash);
      EXPECT_EQ(writer.append(record->payload), expected.offset);
    }
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(as_text(copy.bytes()), file_contents(path));
  }
}

TEST(RecordReader, clean_end_is_empty_again_and_again) {
  RecordReader reader(source_of(file_of({"one"}).bytes));
  ASSERT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.next());
  reader.seek(0);  // unlike upstream, `seek` works after the end
  const auto record = reader.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(as_text(record->payload), "one");
}

TEST(RecordReader, empty_file_is_a_clean_end) {
  RecordReader reader(source_of({}));
  EXPECT_FALSE(reader.next());
}

TEST(RecordReader, seek_goes_to_any_record_and_not_past_the_end) {
  const File file = file_of({"first", "second" + kMagicText, "third"});
  RecordReader reader(source_of(file.bytes));
  for (const size_t i : std::vector<size_t>{2, 0, 1, 1}) {
    reader.seek(file.offsets[i]);
    const auto record = reader.next();
    ASSERT_TRUE(record);
    EXPECT_EQ(record->offset, file.offsets[i]);
  }
  reader.seek(file.bytes.size());
  EXPECT_FALSE(reader.next());
  EXPECT_THROW(reader.seek(file.bytes.size() + 1), OutOfRangeError);
}

TEST(RecordReader, records_across_blocks_come_back) {
  std::mt19937 random(11);
  std::vector<std::string> payloads;
  for (const size_t size :
       std::vector<size_t>{100, 5 << 20, 3, 4 << 20, (4 << 20) - 8, 0, 9 << 20, 17, 3 << 20}) {
    std::string payload(size, '\0');
    for (size_t at = 0; at < size; at += 97) payload[at] = static_cast<char>(random());
    for (size_t at = 1 << 20; at + 4 <= size; at += 1 << 20) payload.replace(at, 4, kMagicText);
    payloads.push_back(std::move(payload));
  }
  const File file = file_of(payloads);
  for (const uint64_t block_bytes : {uint64_t{4} << 20, uint64_t{64} << 10, uint64_t{8}}) {
    RecordReader reader(source_of(file.bytes), {.block_bytes = block_bytes});
    EXPECT_TRUE(read_all(reader) == payloads) << block_bytes;
  }
}

TEST(RecordReader, file_cut_anywhere_inside_a_record_is_truncated) {
  const File file = file_of({"first", "ab" + kMagicText + "cd", "abcd" + kMagicText + "ef"});
  for (size_t size = 0; size < file.bytes.size(); ++size) {
    std::vector<std::byte> cut(file.bytes.begin(), file.bytes.begin() + ptrdiff_t(size));
    RecordReader reader(source_of(cut));
    if (std::count(file.offsets.begin(), file.offsets.end(), size) != 0) {
      EXPECT_NO_THROW(read_all(reader)) << size;
    } else {
      EXPECT_THROW(read_all(reader), TruncatedError) << size;
    }
  }
}

TEST(RecordReader, truncated_last_record_is_reported_with_path_and_offset) {
  File file = file_of({"first", "second"});
  file.bytes.erase(file.bytes.end() - 4, file.bytes.end());
  RecordReader reader(source_of(file.bytes));
  EXPECT_TRUE(reader.next());
  for (int again = 0; again < 2; ++again) {
    try {
      reader.next();
      ADD_FAILURE();
    } catch (const TruncatedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("file.rec: offset 16: the data ends inside a record: "
                                          "expected 16 bytes, found 12"));
    }
  }
}

TEST(RecordReader, record_longer_than_the_file_is_refused_before_anything_is_allocated) {
  File file = file_of({"first"});
  store_le(file.bytes.data() + 4, uint32_t{0x1FFFFFFF});
  RecordReader reader(source_of(file.bytes));
  EXPECT_THROW(reader.next(), TruncatedError);
}

TEST(RecordReader, file_of_another_kind_is_corrupt) {
  const std::string text = "\x89PNG\r\n\x1a\n and so on";
  const Bytes bytes = as_bytes(text);
  RecordReader reader(source_of({bytes.begin(), bytes.end()}));
  EXPECT_THROW(reader.next(), CorruptError);
}

TEST(Recovery, undamaged_files_are_read_as_ever) {
  const std::vector<std::string> payloads = {"a", "abcd" + kMagicText + "ef", "", kMagicText};
  const Recovered result = recover(file_of(payloads).bytes);
  EXPECT_EQ(result.payloads, payloads);
  EXPECT_TRUE(result.damage.empty());
}

TEST(Recovery, overwritten_magic_costs_one_record_and_is_reported) {
  File file = file_of({"first", "second", "third"});
  file.bytes[file.offsets[1]] ^= std::byte{1};
  const Recovered result = recover(file.bytes);
  EXPECT_THAT(result.payloads, ElementsAre("first", "third"));
  ASSERT_EQ(result.damage.size(), 1u);
  EXPECT_EQ(result.damage[0].path, "file.rec");
  EXPECT_EQ(result.damage[0].offset, file.offsets[1]);
  EXPECT_EQ(result.damage[0].skipped_bytes, file.offsets[2] - file.offsets[1]);
  EXPECT_THAT(result.damage[0].reason, HasSubstr("magic number is wrong"));
}

// The first record's length reaches exactly to the third record. Without the search inside the
// record, the second record would be lost unnoticed.
TEST(Recovery, length_that_swallows_the_next_record_costs_only_its_own) {
  File file = file_of({"firstfir", "secondse", "third"});
  store_le(file.bytes.data() + 4, uint32_t{8 + 8 + 8});
  const Recovered result = recover(file.bytes);
  EXPECT_THAT(result.payloads, ElementsAre("secondse", "third"));
  ASSERT_EQ(result.damage.size(), 1u);
  EXPECT_EQ(result.damage[0].offset, 0u);
  EXPECT_EQ(result.damage[0].skipped_bytes, file.offsets[1]);
}

// As above, but the wrong length ends inside the next record's head.
TEST(Recovery, length_that_ends_in_the_next_head_costs_only_its_own) {
  for (uint32_t length = 9; length < 24; ++length) {
    File file = file_of({"firstfir", "secondse", "third"});
    store_le(file.bytes.data() + 4, length);
    EXPECT_THAT(recover(file.bytes).payloads, ElementsAre("secondse", "third")) << length;
  }
}

TEST(Recovery, length_past_the_files_end_costs_only_its_own) {
  File file = file_of({"first", "second", "third"});
  store_le(file.bytes.data() + 4, uint32_t{1'000'000});
  EXPECT_THAT(recover(file.bytes).payloads, ElementsAre("second", "third"));
}

TEST(Recovery, first_part_without_its_last_costs_only_its_own) {
  File file = file_of({"abcd" + kMagicText + "ef", "second"});
  file.bytes.erase(file.bytes.begin() + 12, file.bytes.begin() + 24);  // removes the last part
  EXPECT_THAT(recover(file.bytes).payloads, ElementsAre("second"));
}

TEST(Recovery, truncated_end_is_skipped_to_the_end) {
  File file = file_of({"first", "second"});
  file.bytes.erase(file.bytes.end() - 3, file.bytes.end());
  const Recovered result = recover(file.bytes);
  EXPECT_THAT(result.payloads, ElementsAre("first"));
  ASSERT_EQ(result.damage.size(), 1u);
  EXPECT_EQ(result.damage[0].offset, file.offsets[1]);
  EXPECT_EQ(result.damage[0].skipped_bytes, file.bytes.size() - file.offsets[1]);
}

TEST(Recovery, garbage_alone_gives_no_record_and_one_report) {
  std::vector<std::byte> bytes(10 << 20, std::byte{0x5a});
  bytes.resize(bytes.size() + 3);
  const Recovered result = recover(bytes);
  EXPECT_TRUE(result.payloads.empty());
  ASSERT_EQ(result.damage.size(), 1u);
  EXPECT_EQ(result.damage[0].skipped_bytes, bytes.size());
}

TEST(Recovery, head_across_a_block_is_found) {
  std::vector<std::byte> bytes((8 << 20) - 4, std::byte{0x5a});
  const File file = file_of({"behind the garbage"});
  bytes.insert(bytes.end(), file.bytes.begin(), file.bytes.end());
  const Recovered result = recover(bytes);
  EXPECT_THAT(result.payloads, ElementsAre("behind the garbage"));
}

// If one record is damaged, all others are read, unless the damage created new records.
TEST(Recovery, random_damage_in_one_record_loses_no_other) {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> payloads;
    for (int i = 0; i < 8; ++i) {
      payloads.push_back("record " + std::to_string(i) + std::string(random() % 40, 'x'));
      if (random() % 3 == 0) payloads.back().replace(4, 4, kMagicText);
    }
    File file = file_of(payloads);
    const size_t hit = random() % 8;
    const uint64_t begin = file.offsets[hit];
    const uint64_t end = hit == 7 ? file.bytes.size() : file.offsets[hit + 1];
    for (auto bytes = 1 + random() % 8; bytes > 0; --bytes) {
      file.bytes[begin + random() % (end - begin)] = static_cast<std::byte>(random());
    }
    const Recovered result = recover(file.bytes);
    for (size_t i = 0; i < payloads.size(); ++i) {
      if (i == hit) continue;
      ASSERT_THAT(result.payloads, ::testing::Contains(payloads[i])) << round;
    }
  }
}

}  // namespace
}  // namespace fuelrail::recordio
