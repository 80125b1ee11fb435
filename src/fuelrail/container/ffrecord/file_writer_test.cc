#include "fuelrail/container/ffrecord/file_writer.h"

#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <string>
#include <utility>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/ffrecord/record_table.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/hex.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::ffrecord {
namespace {

using fuelrail::testing::refusal_of;

void write_all(const std::vector<std::string>& records, uint64_t expected, Sink& sink) {
  FileWriter writer(sink, expected);
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(writer.append(as_bytes(records[i])), i);
  writer.finish();
  EXPECT_EQ(writer.records(), records.size());
}

std::string written(const std::vector<std::string>& records, uint64_t expected) {
  CollectingSink sink;
  write_all(records, expected, sink);
  EXPECT_FALSE(sink.committed());
  return std::string(as_text(sink.bytes()));
}

// Records of different lengths; each byte shows its record and position.
std::vector<std::string> some_records(size_t count, size_t bytes) {
  std::vector<std::string> records(count);
  for (size_t i = 0; i < count; ++i) {
    for (size_t at = 0; at < bytes + i % 7; ++at) {
      records[i] += static_cast<char>(at * 31 + at / 256 + i * 101);
    }
  }
  return records;
}

TEST(FfrecordFileWriter, a_file_is_byte_for_byte_the_originals) {
  std::string all_bytes(256, '\0');
  for (size_t i = 0; i < all_bytes.size(); ++i) all_bytes[i] = static_cast<char>(i);
  const std::string file = written({"hello", "", "abcabcabcabcabcabcabc", all_bytes}, 4);
  EXPECT_EQ(file.size(), 342u);
  EXPECT_EQ(hex_of(as_bytes(file).first(60)),
            "d1c6f8510400000000000000"
            "86a610360000000071bbda2b738c0529"
            "3c000000000000004100000000000000"
            "41000000000000005600000000000000");
  EXPECT_EQ(crc32(as_bytes(file)), 0xf3f09b3bu);
}

TEST(FfrecordFileWriter, sample_of_the_format_page_is_true) {
  std::string expected;
  for (const std::string& line : format_page_block("ffrecord.md", "ffrecord")) {
    const size_t colon = line.find(": ");
    ASSERT_NE(colon, std::string::npos) << line;
    EXPECT_EQ(std::stoul(line.substr(0, colon), nullptr, 16), expected.size()) << line;
    expected += as_text(bytes_of_hex(line.substr(colon + 2, line.find(';') - colon - 2)));
  }
  EXPECT_EQ(hex_of(as_bytes(written({"hello", "", "abcabcabc"}, 3))), hex_of(as_bytes(expected)));
}

// For any expected number of records.
TEST(FfrecordFileWriter, the_records_of_an_original_file_give_that_file) {
  for (const char* name : {"part0.ffr", "folder.ffr"}) {
    const auto original = file_system_for(kGolden).open(kGolden + name);
    const RecordTable table = RecordTable::read(*original, true);
    std::vector<std::string> records;
    for (uint64_t i = 0; i < table.size(); ++i) {
      records.emplace_back(table.length(i), '\0');
      original->read(table.offset(i), std::as_writable_bytes(std::span(records.back())));
    }
    for (const uint64_t expected : {uint64_t{0}, table.size(), table.size() + 1, uint64_t{10000}}) {
      EXPECT_TRUE(written(records, expected) == file_contents(kGolden + name)) << name << expected;
    }
  }
}

TEST(FfrecordFileWriter, a_file_without_records_is_its_head) {
  for (const uint64_t expected : {0, 1, 100}) {
    EXPECT_EQ(written({}, expected), file_of({})) << expected;
    EXPECT_EQ(written({}, expected).size(), 12u);
  }
}

TEST(FfrecordFileWriter, records_may_be_empty) {
  for (const uint64_t expected : {0, 1, 3, 4}) {
    EXPECT_EQ(written({"", "", ""}, expected), file_of({"", "", ""})) << expected;
    EXPECT_EQ(written({"", "x", ""}, expected), file_of({"", "x", ""})) << expected;
  }
}

// Moves records by less and by more than one block, forwards and backwards, with a last block of
// any length.
TEST(FfrecordFileWriter, records_are_moved_when_another_number_was_expected) {
  const auto large = some_records(5, 700'000);
  const auto many = some_records(120'000, 3);
  for (const uint64_t expected : {0, 4, 5, 6, 300'000}) {
    EXPECT_TRUE(written(large, expected) == file_of(large)) << expected;
  }
  for (const uint64_t expected : {0, 90'000, 300'000}) {
    EXPECT_TRUE(written(many, expected) == file_of(many)) << expected;
  }
}

TEST(FfrecordFileWriter, a_record_in_pieces_is_as_one_in_one_piece) {
  CollectingSink sink;
  FileWriter writer(sink, 0);
  writer.begin_record();
  writer.add(as_bytes("ab"));
  writer.add({});
  writer.add(as_bytes("cde"));
  EXPECT_EQ(writer.end_record(), 0u);
  EXPECT_EQ(writer.append(as_bytes("f"), crc32(as_bytes("f"))), 1u);
  writer.begin_record();
  EXPECT_EQ(writer.end_record(), 2u);
  writer.finish();
  EXPECT_EQ(as_text(sink.bytes()), file_of({"abcde", "f", ""}));
}

// A sink that runs out of memory once.
class PoorSink final : public MemorySink {
 public:
  PoorSink() : MemorySink("poor") {}
  void write(Bytes bytes) override {
    if (std::exchange(lacks_memory, false)) throw std::bad_alloc();
    MemorySink::write(bytes);
  }
  bool lacks_memory = false;
};

// Such a file would have offsets and checksums of different records in a table that looks valid.
TEST(FfrecordFileWriter, a_file_that_lacks_a_record_is_never_finished) {
  for (const bool in_pieces : {false, true}) {
    PoorSink sink;
    FileWriter writer(sink, 3);
    writer.append(as_bytes("abc"));
    if (in_pieces) writer.begin_record();
    sink.lacks_memory = true;
    EXPECT_THROW(in_pieces ? writer.add(as_bytes("de")) : (void)writer.append(as_bytes("de")),
                 std::bad_alloc);
    EXPECT_THROW(writer.append(as_bytes("f")), StateError);
    EXPECT_THROW(writer.begin_record(), StateError);
    EXPECT_THROW(writer.add(as_bytes("f")), StateError);
    EXPECT_THROW(writer.end_record(), StateError);
    EXPECT_NE(refusal_of<StateError>([&] { writer.finish(); }).find("an earlier write failed"),
              std::string::npos);
  }
}

TEST(FfrecordFileWriter, calls_in_another_order_are_refused_and_change_nothing) {
  CollectingSink sink;
  FileWriter writer(sink, 2);
  EXPECT_THROW(writer.add(as_bytes("x")), StateError);
  EXPECT_THROW(writer.end_record(), StateError);
  writer.begin_record();
  writer.add(as_bytes("ab"));
  EXPECT_NE(refusal_of<StateError>([&] { writer.append(as_bytes("x")); }).find("in pieces"),
            std::string::npos);
  EXPECT_THROW(writer.begin_record(), StateError);
  EXPECT_THROW(writer.finish(), StateError);
  writer.add(as_bytes("c"));
  writer.end_record();
  writer.append(as_bytes("d"));
  writer.finish();
  EXPECT_THROW(writer.append(as_bytes("x")), StateError);
  EXPECT_THROW(writer.finish(), StateError);
  EXPECT_EQ(as_text(sink.bytes()), file_of({"abc", "d"}));
}

TEST(FfrecordFileWriter, more_records_than_a_file_can_have_are_refused_at_once) {
  for (const uint64_t expected : {uint64_t{1} << 60, std::numeric_limits<uint64_t>::max()}) {
    CollectingSink sink;
    EXPECT_THROW(FileWriter(sink, expected), InvalidArgumentError);
    EXPECT_EQ(sink.position(), 0u);
  }
}

// For a failure of any sink operation, and any expected number of records.
TEST(FfrecordFileWriter, a_file_is_right_or_the_sinks_error_whatever_fails) {
  memory_file_system().make_directory("memory://file_writer_test");
  const std::string uri = "memory://file_writer_test/x.ffr";
  const std::vector<std::string> records{"abc", "", std::string(1'200'000, 'd')};
  for (const Fault fault : {Fault::kError, Fault::kDiskFull}) {
    for (const uint64_t expected : {0, 2, 3, 4}) {
      uint64_t operations = 0;
      for (uint64_t n = 0; n <= operations; ++n) {
        FaultyFileSystem files(memory_file_system());
        files.arm(fault, n);
        bool committed = false;
        try {
          const auto sink = files.create(uri);
          write_all(records, expected, *sink);
          sink->commit();
          committed = true;
        } catch (const IoError& error) {
          EXPECT_TRUE(error.failure().starts_with("injected fault")) << error.what();
        }
        operations = files.operations();
        EXPECT_EQ(committed, n >= operations);
        if (committed) {
          std::string file(memory_file_system().stat(uri)->size_bytes, '\0');
          memory_file_system().open(uri)->read(0, std::as_writable_bytes(std::span(file)));
          EXPECT_TRUE(file == file_of(records)) << n;
        } else {
          EXPECT_FALSE(memory_file_system().stat(uri)) << n;
        }
        memory_file_system().remove(uri);
      }
      EXPECT_GE(operations, 8u);
    }
  }
}

}  // namespace
}  // namespace fuelrail::ffrecord
