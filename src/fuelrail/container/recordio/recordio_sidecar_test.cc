// A RecordIO file and its sidecar: written by a scan or by build_sidecar, used, or ignored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/record_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::recordio {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void write_sidecar(const RecordFile& file, SidecarWriter& writer) {
  const auto source = file_system_for(file.path).open(file.path);
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*source), *sink);
  sink->commit();
}

TEST(RecordIoSidecar, is_left_behind_by_a_scan_and_used_next_time) {
  RecordFile file(
      std::vector<std::string>{std::string(5000, 'a'), "in the middle", std::string(5000, 'z')});
  const auto scanned = file.open();
  EXPECT_EQ(scanned->sidecar_location().place, SidecarPlace::kBeside);
  EXPECT_FALSE(scanned->verifies_checksums());
  ASSERT_TRUE(std::filesystem::exists(file.sidecar));
  // Damage far from both ends, which a scan would find, proves that there is no scan.
  std::string bytes = file_contents(file.path);
  bytes[scanned->extent(1).offset] ^= 1;
  write_file(file.path, bytes);
  const auto again = file.open();
  EXPECT_EQ(again->fingerprint(), scanned->fingerprint());
  EXPECT_EQ(again->sidecar().uri(), file.sidecar);
  EXPECT_THAT(file.warnings, IsEmpty());
}

TEST(RecordIoSidecar, with_checksums_finds_every_flipped_bit_of_a_payload) {
  RecordFile file(ImageFile::payloads());
  build_sidecar(file.path);
  const auto container = file.open();
  EXPECT_TRUE(container->verifies_checksums());
  EXPECT_NO_THROW(container->sidecar().verify());
  Sample sample;
  for (uint64_t i = 0; i < container->size(); ++i) {
    const Extent extent = container->extent(i);
    std::vector<std::byte> framed(extent.length);
    extent.source->read(extent.offset, framed);
    const uint64_t payload_end = PartHead(framed.data()).kind() == PartKind::kWhole
                                     ? kHeadBytes + PartHead(framed.data()).length()
                                     : framed.size() - 2;  // two bytes of padding here
    for (size_t bit = 0; bit < payload_end * 8; ++bit) {
      framed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      EXPECT_THROW(container->parse(i, framed, sample), Error) << "record " << i << " bit " << bit;
      framed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    }
    EXPECT_NO_THROW(container->parse(i, framed, sample));
  }
}

TEST(RecordIoSidecar, wrong_checksum_names_the_record) {
  RecordFile file(ImageFile::payloads());
  build_sidecar(file.path);
  const auto container = file.open();
  const Extent extent = container->extent(0);
  std::vector<std::byte> framed(extent.length);
  extent.source->read(0, framed);
  framed[40] ^= std::byte{1};
  Sample sample;
  EXPECT_THAT(refusal_of<CorruptError>([&] { container->parse(0, framed, sample); }),
              HasSubstr("x.rec: record 0, offset 0: the record's checksum is wrong"));
}

TEST(RecordIoSidecar, of_a_file_that_grew_is_set_aside_and_kept) {
  RecordFile file(std::vector<std::string>{"first", "second"});
  file.open();
  const std::string old_sidecar = file_contents(file.sidecar);
  write_file(file.path, framed_file({"first", "second", "third"}));
  const std::string cache = file.directory / "cache";
  ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  EXPECT_EQ(file.open()->size(), 3u);
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("does not belong to")));
  EXPECT_EQ(file_contents(file.sidecar), old_sidecar);
  EXPECT_EQ(file.open()->sidecar_location().place, SidecarPlace::kCache);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(RecordIoSidecar, that_does_not_span_its_file_is_set_aside) {
  RecordFile file(std::vector<std::string>{"first", "second"});
  SidecarWriter writer;
  writer.add_record({0, 16});
  write_sidecar(file, writer);
  const std::string cache = file.directory / "cache";
  ::setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  EXPECT_EQ(file.open()->size(), 2u);
  EXPECT_THAT(file.warnings, ElementsAre(HasSubstr("does not cover the whole file")));
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(RecordIoSidecar, of_a_file_that_was_cut_says_which_record_is_the_first_gone) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 5; ++i) payloads.push_back(std::string(2000, static_cast<char>('a' + i)));
  RecordFile file(payloads);
  build_sidecar(file.path);
  const std::string whole = file_contents(file.path);
  ASSERT_EQ(whole.size(), 5u * 2008);
  for (const size_t size : {3 * 2008, 3 * 2008 + 4, 4 * 2008 - 4}) {  // the first cuts no record
    write_file(file.path, whole.substr(0, size));
    const std::string refusal = refusal_of<TruncatedError>([&] { file.open(); });
    EXPECT_THAT(refusal, HasSubstr(file.path + ": record 3, offset 6024: the file is truncated"));
    EXPECT_THAT(refusal, HasSubstr("if the file was replaced on purpose, remove " + file.sidecar +
                                   " or ignore it"));
    EXPECT_THAT(refusal, HasSubstr("to a new file with 'fuelrail recover IN OUT'"));
    EXPECT_THROW(build_sidecar(file.path), TruncatedError);
  }
  EXPECT_THAT(file.warnings, IsEmpty());
  write_file(file.path, whole.substr(0, 3 * 2008));
  EXPECT_EQ(open_recordio(file.path, {.ignore_sidecar = true})->size(), 3u);
  std::vector<Damage> damage;
  const auto left = open_damaged(file.path, [&](const Damage& d) { damage.push_back(d); }).file;
  EXPECT_EQ(left->size(), 3u);
  EXPECT_TRUE(left->verifies_checksums());
  ASSERT_EQ(damage.size(), 1u);
  EXPECT_EQ(damage[0].offset, 3u * 2008);
  EXPECT_THAT(damage[0].reason, HasSubstr(": it ends before the start of 2 of its 5 records"));
}

// A sidecar of this kind belongs to an FFRecord file, or a different program wrote it.
TEST(RecordIoSidecar, without_a_table_is_set_aside_where_the_file_is_shorter) {
  RecordFile file(std::vector<std::string>{std::string(5000, 'a'), std::string(5000, 'b')});
  const std::string whole = file_contents(file.path);
  SidecarWriter writer;
  for (int i = 0; i < 2; ++i) writer.add_length(5008);
  write_sidecar(file, writer);
  write_file(file.path, whole.substr(0, 5008));
  EXPECT_EQ(file.open()->size(), 1u);
  EXPECT_THAT(file.warnings, Contains(HasSubstr("the sidecar does not belong to")));
}

TEST(RecordIoSidecar, of_a_file_that_is_damaged_at_its_ends_stays_in_use) {
  std::vector<std::string> payloads;
  for (uint64_t i = 0; i < 5; ++i)
    payloads.push_back(image_payload(i, {1}, std::string(2000, 'a')));
  RecordFile file(payloads);
  build_sidecar(file.path);
  std::string damaged = file_contents(file.path);
  damaged[14] = static_cast<char>(damaged[14] ^ 0x40);  // changes the first label to 0.75
  damaged[damaged.size() - 9] ^= 1;
  write_file(file.path, damaged);
  const auto container = file.open();
  EXPECT_THAT(file.warnings, IsEmpty());
  EXPECT_EQ(container->schema().fields[1].dtype, DType::kInt64);
  Reader read(*container);
  EXPECT_THROW(read(0), CorruptError);
  EXPECT_THROW(read(4), CorruptError);
  for (const uint64_t i : {1U, 2U, 3U}) EXPECT_NO_THROW(read(i));
  const std::string sidecar = file_contents(file.sidecar);
  EXPECT_THROW(build_sidecar(file.path), CorruptError);  // does not accept the damage
  EXPECT_EQ(file_contents(file.sidecar), sidecar);
}

// Only the checksums of the ends show the change.
TEST(RecordIoSidecar, without_checksums_distrusts_the_records_at_an_end_that_has_changed) {
  RecordFile file(std::vector<std::string>(6, std::string(3000, 'a')));
  file.open();
  std::string damaged = file_contents(file.path);
  damaged[100] ^= 1;
  write_file(file.path, damaged);
  const auto container = file.open();
  EXPECT_THAT(file.warnings, IsEmpty());
  Reader read(*container);
  EXPECT_THAT(refusal_of<CorruptError>([&] { read(0); }), HasSubstr("record 0, offset 0: "));
  EXPECT_THROW(read(1), CorruptError);  // begins in the first 4 KiB
  for (const uint64_t i : {2U, 3U, 4U, 5U}) EXPECT_NO_THROW(read(i));
  EXPECT_THROW(build_sidecar(file.path), CorruptError);
}

TEST(RecordIoSidecar, ignored_is_neither_read_nor_written) {
  RecordFile file(std::vector<std::string>{"first", "second"});
  EXPECT_EQ(open_recordio(file.path, {.ignore_sidecar = true})->size(), 2u);
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
  build_sidecar(file.path);
  FaultyFileSystem files(local_file_system());
  std::set<std::string> touched;
  files.watch = [&](std::string_view, const std::string& uri) { touched.insert(uri); };
  const FileSystemOverride instead("file", files);
  const auto ignoring = open_recordio(file.path, {.ignore_sidecar = true});
  EXPECT_THAT(touched, ElementsAre(file.path));
  EXPECT_EQ(ignoring->sidecar_location().place, SidecarPlace::kMemory);
  EXPECT_FALSE(ignoring->verifies_checksums());
}

// The table has right checksums and the right number of bytes.
TEST(RecordIoSidecar, whose_table_lies_is_an_error_that_names_it) {
  const std::vector<std::string> payloads{std::string(40, 'a'), std::string(40, 'b'),
                                          std::string(40, 'c'), std::string(40, 'd')};
  const auto table_of = [&](const std::vector<uint64_t>& order) {
    RecordFile file(payloads);
    SidecarWriter writer;
    for (const uint64_t i : order) writer.add_record({i * 48, 48}, crc32(as_bytes(payloads[i])));
    write_sidecar(file, writer);
    const auto container = file.open();
    EXPECT_THAT(file.warnings, IsEmpty());
    Reader read(*container);
    std::string refused;
    for (uint64_t i = 0; i < 4; ++i) {
      try {
        read(i);
      } catch (const CorruptError& error) {
        EXPECT_THAT(error.what(), HasSubstr(file.sidecar + ": record " + std::to_string(i) +
                                            ": records in the sidecar's record table overlap"));
        refused += std::to_string(i);
      }
    }
    return refused;
  };
  EXPECT_EQ(table_of({0, 1, 2, 3}), "");
  EXPECT_EQ(table_of({0, 2, 1, 3}), "0123");
  EXPECT_EQ(table_of({0, 1, 1, 3}), "123");
  EXPECT_EQ(table_of({0, 0, 2, 3}), "012");
}

TEST(RecordIoSidecar, that_names_wrong_places_is_found_when_a_record_is_read) {
  RecordFile file(std::vector<std::string>{
      image_payload(1, {0}, "abcd"), image_payload(2, {0}, "efgh"), image_payload(3, {0}, "ijkl")});
  SidecarWriter writer;
  for (const RecordEntry entry : {RecordEntry{0, 36}, RecordEntry{40, 32}, RecordEntry{72, 36}}) {
    writer.add_record(entry);
  }
  writer.set_labels({});
  write_sidecar(file, writer);
  const auto container = file.open();
  Reader read(*container);
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { read(0); }),
      HasSubstr(file.sidecar + ": record 0: records in the sidecar's record table overlap"));
}

TEST(RecordIoSidecar, with_a_record_longer_than_any_can_be_is_refused_when_it_is_read) {
  RecordFile file(std::vector<std::string>{"first"});
  std::filesystem::resize_file(file.path, 16 + kMaxFramedBytes + 1);  // a hole, not a gigabyte
  SidecarWriter writer;
  writer.add_record({0, 16});
  writer.add_record({16, kMaxFramedBytes + 1});
  write_sidecar(file, writer);
  const auto container = file.open();
  Reader read(*container);
  EXPECT_EQ(read.field(0, 0), "first");
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { container->extent(1); }),
      HasSubstr("x.rec: record 1, offset 16: the record table says that the record is longer than "
                "RecordIO allows: expected at most 1073741832 bytes, found 1073741833. "
                "Build a new sidecar with 'fuelrail index'"));
}

TEST(RecordIoSidecar, whose_labels_contradict_the_file_is_found_when_a_record_is_read) {
  const auto opened_as = [](const std::vector<float>& labels, LabelSummary summary) -> std::string {
    RecordFile file(std::vector<std::string>{image_payload(1, labels, "abcd")});
    SidecarWriter writer;
    writer.add_record({0, std::filesystem::file_size(file.path)});
    writer.set_labels(summary);
    write_sidecar(file, writer);
    const auto container = file.open();
    Reader read(*container);
    try {
      read(0);
    } catch (const CorruptError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(opened_as({0.5f}, {.width = 1, .integral = true}),
              HasSubstr("labels are whole numbers, but this record's label is not"));
  EXPECT_THAT(opened_as({NAN}, {.width = 1, .integral = true}),
              HasSubstr("labels are whole numbers, but this record's label is not"));
  EXPECT_THAT(opened_as({1, 2}, {.width = 1, .integral = true}), HasSubstr("number of labels"));
  EXPECT_THAT(opened_as({1, 2}, {.width = 3, .integral = true}),
              HasSubstr("number of labels than the other records: expected 3, found 2"));
  EXPECT_EQ(opened_as({1, 2}, {.width = -1, .integral = true}), "accepted");
}

TEST(BuildSidecar, adds_checksums_and_keeps_class_names) {
  RecordFile file(ImageFile::payloads());
  const auto source = file_system_for(file.path).open(file.path);
  SidecarWriter writer;
  writer.add_record({0, source->size_bytes()});  // a table is not copied, right or wrong
  writer.set_classes({"cat", "dog"});
  const auto sink = file_system_for(file.path).create(file.sidecar);
  writer.write_to(identify(*source), *sink);
  sink->commit();

  const SidecarLocation location = build_sidecar(file.path).location;
  EXPECT_EQ(location.place, SidecarPlace::kBeside);
  EXPECT_EQ(location.uri, file.sidecar);
  const auto container = file.open();
  EXPECT_EQ(container->size(), 4u);
  EXPECT_TRUE(container->verifies_checksums());
  EXPECT_THAT(container->classes(), ElementsAre("cat", "dog"));
  EXPECT_EQ(container->sidecar().payload_crc(3), crc32(as_bytes(ImageFile::payloads()[3])));
}

TEST(BuildSidecar, without_checksums_equals_what_a_scan_leaves) {
  RecordFile file(MultiLabelFile::payloads());
  file.open();
  const std::string scanned = file_contents(file.sidecar);
  build_sidecar(file.path, {.checksums = false});
  EXPECT_EQ(file_contents(file.sidecar), scanned);
}

TEST(BuildSidecar, reports_progress_and_stops_when_told) {
  RecordFile file(std::vector<std::string>(5000, "x"));
  std::vector<uint64_t> done;
  build_sidecar(file.path, {.progress = [&](uint64_t at, uint64_t total) {
                  EXPECT_EQ(total, 5000u * 12);
                  done.push_back(at);
                  return true;
                }});
  EXPECT_GT(done.size(), 3u);
  EXPECT_EQ(done.back(), 5000u * 12);
  const std::string before = file_contents(file.sidecar);
  EXPECT_THROW(build_sidecar(file.path, {.progress = [](uint64_t, uint64_t) { return false; }}),
               StateError);
  EXPECT_EQ(file_contents(file.sidecar), before);
}

TEST(BuildSidecar, does_not_make_damage_the_truth) {
  RecordFile file(
      std::vector<std::string>{std::string(5000, 'a'), "in the middle", std::string(5000, 'z')});
  build_sidecar(file.path);
  const std::string sound = file_contents(file.path);
  const std::string sidecar = file_contents(file.sidecar);
  std::string damaged = sound;
  damaged[damaged.find("middle")] = 'M';
  write_file(file.path, damaged);
  const std::string refusal = refusal_of<CorruptError>([&] { build_sidecar(file.path); });
  EXPECT_THAT(refusal, HasSubstr(file.path + ": record 1, offset 5008: "));
  EXPECT_THAT(refusal, HasSubstr("move " + file.sidecar + " away"));
  EXPECT_EQ(file_contents(file.sidecar), sidecar);

  write_file(file.path, sound);
  build_sidecar(file.path);
  EXPECT_EQ(file_contents(file.sidecar), sidecar);

  write_file(file.path, damaged);  // on purpose
  std::filesystem::remove(file.sidecar);
  build_sidecar(file.path);
  EXPECT_TRUE(file.open()->verifies_checksums());
}

TEST(BuildSidecar, replaces_one_whose_checksums_are_damaged) {
  // Enough records that the checksums, at the sidecar's end, have blocks, which no opening reads.
  RecordFile file(std::vector<std::string>(263'000, ""));
  build_sidecar(file.path);
  const std::string sound = file_contents(file.sidecar);
  std::string damaged = sound;
  damaged[damaged.size() - 100'000] ^= 1;
  write_file(file.sidecar, damaged);
  EXPECT_THROW(file.open()->sidecar().payload_crc(238'000), CorruptError);
  build_sidecar(file.path);
  EXPECT_EQ(file_contents(file.sidecar), sound);
}

TEST(BuildSidecar, does_not_overwrite_what_is_no_sidecar_of_the_file) {
  RecordFile file(std::vector<std::string>{"x"});
  write_file(file.sidecar, "somebody's notes");
  EXPECT_THROW(build_sidecar(file.path), CorruptError);
  EXPECT_EQ(file_contents(file.sidecar), "somebody's notes");
}

}  // namespace
}  // namespace fuelrail::recordio
