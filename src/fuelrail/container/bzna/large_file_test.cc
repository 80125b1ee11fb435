// Sparse `.bzna` files: one with as many records as ImageNet, in more than 4 GiB, and one with a
// record that is too long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/bzna/bzna_container.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/mp4_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::bzna {
namespace {

using namespace fuelrail::mp4;  // the boxes of a file

using fuelrail::testing::refusal_of;
using ::testing::HasSubstr;

constexpr uint64_t kManyRecords = 1'431'167;
constexpr uint64_t kHoleBytes = 3'100;  // of a record, none of which is written
constexpr uint64_t kFirstRecordAt = 40;
constexpr uint64_t kLastRecordAt = kFirstRecordAt + (kManyRecords - 1) * kHoleBytes;

bool has_sparse_files(const TemporaryDirectory& directory) {
  const std::string path = directory / "hole";
  write_file(path, "");
  std::filesystem::resize_file(path, 64 << 20);
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && found.st_blocks * 512 < 1 << 20;
}

std::string tables_of_all(uint64_t last_bytes) {
  std::vector<uint32_t> sizes(kManyRecords, kHoleBytes);
  sizes.back() = static_cast<uint32_t>(last_bytes);
  std::vector<uint64_t> offsets(kManyRecords);
  for (uint64_t i = 0; i < kManyRecords; ++i) offsets[i] = kFirstRecordAt + i * kHoleBytes;
  const std::string entry = stsd(mp4_box("mett", std::string(10, '\0')));
  const auto count = static_cast<uint32_t>(kManyRecords);
  return mp4_box("moov", trak(tkhd(0, 0), hdlr("meta", "bzna_input"),
                              entry + stsz(sizes) + stsc() + co64(offsets)) +
                             trak(tkhd(0, 0), hdlr("meta", "bzna_target"),
                                  entry + stsz_of_equal(8, count) + stsc({{1, count}}) +
                                      co64({kLastRecordAt + last_bytes})));
}

// Only the last record, and the tables at the end, have bytes of their own.
void write_large(const std::string& path, const std::string& last) {
  const uint64_t labels_at = kLastRecordAt + last.size();
  const uint64_t end = labels_at + 8 * kManyRecords;
  std::ofstream file(path, std::ios::binary);
  file << mp4_box("ftyp", "isom" + be32(0) + "bznaisom") << be32(1) << "mdat" << be64(end - 24);
  file.seekp(static_cast<std::streamoff>(kLastRecordAt)) << last;
  file.seekp(static_cast<std::streamoff>(end - 8)) << '\x07';  // the last label
  file.seekp(static_cast<std::streamoff>(end)) << tables_of_all(last.size());
  ASSERT_TRUE(file.flush());
}

// The memory growth of a child process that opens the file.
uint64_t opening_bytes(const std::string& path) {
  return std::stoull(in_forked_child([&] {
    ::malloc_trim(0);
    const auto most = [] {
      rusage usage;
      ::getrusage(RUSAGE_SELF, &usage);
      return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    };
    const uint64_t before = most();
    const auto file = open_bzna(path);
    return std::to_string(most() - before);
  }));
}

TEST(LargeBzna, opens_with_the_memory_of_its_tables) {
#ifdef FUELRAIL_SANITIZED
  GTEST_SKIP() << "its own memory is counted";
#endif
  TemporaryDirectory directory;
  if (!has_sparse_files(directory)) GTEST_SKIP() << "the file would take 4 GiB";
  const std::string path = directory / "imagenet.bzna";
  const std::string last = MadeRecord{.thumb = "the last one", .name = "z.jpg"}.bytes();
  ASSERT_NO_FATAL_FAILURE(write_large(path, last));
  EXPECT_LT(opening_bytes(path), uint64_t{100} << 20);
  const auto file = open_bzna(path);
  ASSERT_EQ(file->size(), kManyRecords);
  EXPECT_EQ(file->extent(0).offset, kFirstRecordAt);
  constexpr uint64_t kAfter4GiB = (uint64_t{1} << 32) / kHoleBytes + 1;
  EXPECT_EQ(file->extent(kAfter4GiB).offset, kFirstRecordAt + kAfter4GiB * kHoleBytes);
  EXPECT_EQ(file->extent(kAfter4GiB).length, kHoleBytes);
  const Read read(*file, kManyRecords - 1);
  EXPECT_EQ(read.field(0), "the last one");
  EXPECT_EQ(read.label(), 7);
  EXPECT_EQ(read.field(2), "z.jpg");
}

TEST(LargeBzna, a_record_of_more_than_2_gib_is_refused) {
  TemporaryDirectory directory;
  if (!has_sparse_files(directory)) GTEST_SKIP() << "the file would take 2 GiB";
  const std::string path = directory / "x.bzna";
  constexpr uint32_t kBytes = (uint32_t{1} << 31) + 1;
  const std::string entry = stsd(mp4_box("mett", std::string(10, '\0')));
  const std::string head = mp4_box("ftyp", "isom" + be32(0) + "bznaisom") +
                           mp4_box("moov", trak(tkhd(0, 0), hdlr("meta", "bzna_input"),
                                                entry + stsz({kBytes}) + stsc() + co64({1000}))) +
                           be32(0) + "mdat";
  write_file(path, head);
  std::filesystem::resize_file(path, 1000 + uint64_t{kBytes});
  const auto file = open_bzna(path);
  EXPECT_THAT(refusal_of<CorruptError>([&] { file->extent(0); }),
              HasSubstr("x.bzna: record 0, offset 1000: the record is longer than its format "
                        "allows: expected at most 2147483648 bytes, found 2147483649"));
  EXPECT_EQ(file->place(0).offset, 1000u);
  EXPECT_THAT(refusal_of<CorruptError>([&] { build_sidecar(path); }),
              HasSubstr("x.bzna: record 0, offset 1000"));
}

}  // namespace
}  // namespace fuelrail::bzna
