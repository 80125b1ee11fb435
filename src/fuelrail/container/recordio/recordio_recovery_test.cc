// Opens the readable records of a damaged RecordIO file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/record_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::recordio {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(RecordIo, recovery_opens_the_rest_and_leaves_no_sidecar) {
  RecordFile file(
      {image_payload(1, {0}, "a"), image_payload(2, {1}, "b"), image_payload(3, {2}, "c")});
  std::string bytes = file_contents(file.path);
  bytes[36] ^= 1;  // the second record's magic
  write_file(file.path, bytes);
  std::vector<Damage> damage;
  const auto container =
      open_damaged(file.path, [&](const Damage& d) { damage.push_back(d); }).file;
  ASSERT_EQ(container->size(), 2u);
  Reader read(*container);
  EXPECT_EQ(read.field(0, 0), "a");
  EXPECT_EQ(read.field(1, 0), "c");
  EXPECT_EQ(read(1).id, 3u);
  ASSERT_THAT(damage, SizeIs(1));
  EXPECT_EQ(damage[0].path, file.path);
  EXPECT_EQ(damage[0].offset, 36u);
  EXPECT_EQ(damage[0].skipped_bytes, 36u);
  EXPECT_EQ(container->sidecar_location().place, SidecarPlace::kMemory);
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

// Six records of 4 KiB each; the sidecar has checksums.
struct DamagedFile : RecordFile {
  DamagedFile() : RecordFile(payloads()) { build_sidecar(path); }
  static std::vector<std::string> payloads() {
    std::vector<std::string> made;
    for (uint64_t i = 0; i < 6; ++i) {
      made.push_back(image_payload(i, {float(i)}, std::string(4096, char('a' + i))));
    }
    return made;
  }
  static constexpr size_t kRecordBytes = 8 + 24 + 4096;
  void flip(size_t at) {
    std::string bytes = file_contents(path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file(path, bytes);
  }
  std::shared_ptr<const fuelrail::RecordFile> recover() {
    return open_damaged(path, [this](const Damage& d) { damage.push_back(d); }).file;
  }
  std::vector<Damage> damage;
};

TEST(RecordIo, recovery_verifies_payloads_by_the_files_sidecar) {
  DamagedFile file;
  file.flip(2 * DamagedFile::kRecordBytes + 1000);  // a payload
  file.flip(4 * DamagedFile::kRecordBytes);         // a magic
  const auto container = file.recover();
  ASSERT_EQ(container->size(), 5u);
  EXPECT_TRUE(container->verifies_checksums());
  Reader read(*container);
  for (const uint64_t i : {0U, 1U, 3U, 4U}) EXPECT_NO_THROW(read(i)) << i;
  EXPECT_EQ(read(4).id, 5u);
  EXPECT_THAT(refusal_of<CorruptError>([&] { read(2); }), HasSubstr("record 2, offset 8256: "));
  EXPECT_THAT(file.damage, SizeIs(1));
}

TEST(RecordIo, recovery_reports_a_record_that_the_files_sidecar_does_not_have) {
  DamagedFile file;
  file.flip(2 * DamagedFile::kRecordBytes + 5);  // makes the length too short
  const auto container = file.recover();
  EXPECT_EQ(container->size(), 5u);
  EXPECT_TRUE(container->verifies_checksums());
  ASSERT_THAT(file.damage, ::testing::Not(IsEmpty()));
  EXPECT_EQ(file.damage[0].offset, 2 * DamagedFile::kRecordBytes);
  Reader read(*container);
  EXPECT_EQ(read(2).id, 3u);
}

TEST(RecordIo, recovery_without_known_checksums_claims_to_verify_nothing) {
  DamagedFile file;
  std::filesystem::remove(file.sidecar);
  file.flip(2 * DamagedFile::kRecordBytes + 1000);
  const auto container = file.recover();
  EXPECT_EQ(container->size(), 6u);
  EXPECT_FALSE(container->verifies_checksums());
  Reader read(*container);
  EXPECT_NO_THROW(read(2));
}

TEST(RecordIo, recovery_takes_the_kind_of_the_records_from_the_files_sidecar) {
  RecordFile file({image_payload(1, {0}, "a"), image_payload(2, {1}, "b"), "bytes"});
  build_sidecar(file.path);
  std::string bytes = file_contents(file.path);
  bytes[0] ^= 1;  // now half of the records are images
  write_file(file.path, bytes);
  const Salvage salvage = open_damaged(file.path, [](const Damage&) {});
  ASSERT_NE(salvage.own, nullptr);
  EXPECT_EQ(salvage.file->size(), 2u);
  EXPECT_TRUE(salvage.file->schema().has("image"));
}

TEST(RecordIo, recovery_reads_the_index_when_it_is_asked_for_a_key) {
  RecordFile file(std::vector<std::string>{"a", "b"});
  write_file(file.directory / "x.idx", "no index");
  size_t warnings = 0;
  const Salvage salvage = open_damaged(file.path, [](const Damage&) {},
                                       {.warn = [&](const std::string&) { ++warnings; }});
  EXPECT_EQ(warnings, 0u);
  EXPECT_EQ(salvage.key(0, 5), 5u);
  EXPECT_EQ(warnings, 1u);
}

TEST(RecordIo, recovery_of_garbage_is_an_error) {
  RecordFile file(std::vector<std::string>{"x"});
  write_file(file.path, "This is no RecordIO file.");
  EXPECT_THROW(open_damaged(file.path, [](const Damage&) {}), CorruptError);
}

}  // namespace
}  // namespace fuelrail::recordio
