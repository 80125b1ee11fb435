#include "fuelrail/container/sidecar/sidecar_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kBlock = 4096;
constexpr uint64_t kStretch = 64 * kBlock;  // bytes per read

// A section with blocks, alone in a file, of three and a half stretches.
class SectionOfBlocks : public ::testing::Test {
 protected:
  SectionOfBlocks() {
    for (size_t i = 0; i < data_.size(); ++i) data_[i] = static_cast<std::byte>(i * 7 / 3);
    for (size_t at = 0; at < data_.size(); at += kBlock) {
      const Bytes block = Bytes(data_).subspan(at, std::min<size_t>(kBlock, data_.size() - at));
      crcs_.resize(crcs_.size() + 4);
      store_le(crcs_.data() + crcs_.size() - 4, crc32(block));
    }
    write_file(path_, as_text(data_));
  }

  SidecarSection section(int64_t may_keep = 1 << 30) {
    left_ = may_keep;
    return SidecarSection({.size = data_.size(), .block_bytes = kBlock, .crc = crc32(crcs_)},
                          file_system_for(path_).open(path_), 0, crcs_, &left_);
  }

  void overwrite(size_t at, std::string_view bytes) {
    std::string contents = file_contents(path_);
    contents.replace(at, bytes.size(), bytes);
    const auto size = std::filesystem::file_size(path_);
    write_file(path_, contents);  // in place
    ASSERT_EQ(std::filesystem::file_size(path_), size);
  }

  bool reads_right(const SidecarSection& section, uint64_t offset, size_t length = 16) const {
    std::vector<std::byte> found(length);
    section.read(offset, found);
    return std::ranges::equal(found, Bytes(data_).subspan(offset, length));
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_ / "x.frx";
  std::vector<std::byte> data_ = std::vector<std::byte>(kStretch * 7 / 2 + 5);
  std::vector<std::byte> crcs_;
  std::atomic<int64_t> left_ = 0;
};

TEST_F(SectionOfBlocks, any_range_is_read_also_over_the_ends_of_what_is_kept) {
  const SidecarSection section = this->section();
  for (const uint64_t offset :
       {uint64_t{0}, uint64_t{kBlock} - 3, kStretch - 7, 3 * kStretch - 1, data_.size() - 16}) {
    EXPECT_TRUE(reads_right(section, offset)) << offset;
  }
  EXPECT_EQ(section.all(), data_);
  EXPECT_EQ(left_, (1 << 30) - static_cast<int64_t>(data_.size()));  // each stretch once
  EXPECT_NO_THROW(section.verify());
  EXPECT_THROW(reads_right(section, data_.size() - 15), CorruptError);
}

TEST_F(SectionOfBlocks, with_a_damaged_block_are_not_read_together_again) {
  const std::string sound = file_contents(path_);
  overwrite(4, "changed");
  const SidecarSection section = this->section();
  EXPECT_THROW(reads_right(section, 5), CorruptError);
  EXPECT_TRUE(reads_right(section, kBlock + 5));
  write_file(path_, sound);
  EXPECT_TRUE(reads_right(section, 5));
  EXPECT_EQ(left_, 1 << 30);  // nothing was kept
}

TEST_F(SectionOfBlocks, without_room_to_keep_more_they_are_read_at_each_use) {
  const SidecarSection section = this->section(kStretch);
  EXPECT_TRUE(reads_right(section, kStretch + 1));  // is kept
  EXPECT_EQ(left_, 0);
  EXPECT_TRUE(reads_right(section, 5));
  EXPECT_TRUE(reads_right(section, kStretch - 5));
  EXPECT_EQ(left_, 0);
  overwrite(4, "changed");
  EXPECT_THROW(reads_right(section, 5), CorruptError);
  EXPECT_TRUE(reads_right(section, kBlock + 5));
}

TEST_F(SectionOfBlocks, that_change_in_place_are_what_they_were_or_an_error) {
  const SidecarSection section = this->section();
  EXPECT_TRUE(reads_right(section, 5));
  overwrite(4, "changed");
  overwrite(kStretch + 4, "changed");
  EXPECT_TRUE(reads_right(section, 5));
  EXPECT_THAT(testing::refusal_of<CorruptError>([&] { reads_right(section, kStretch + 8); }),
              HasSubstr("x.frx: the checksum of block 64 of section"));
  EXPECT_TRUE(reads_right(section, kStretch + kBlock));
  EXPECT_THROW(section.verify(), CorruptError);
}

TEST_F(SectionOfBlocks, of_a_file_that_is_cut_are_what_they_were_or_an_error) {
  const SidecarSection section = this->section();
  EXPECT_TRUE(reads_right(section, 5));
  std::filesystem::resize_file(path_, kStretch + kBlock);
  EXPECT_TRUE(reads_right(section, kStretch - 16));
  EXPECT_TRUE(reads_right(section, kStretch));
  EXPECT_THROW(reads_right(section, kStretch + kBlock), TruncatedError);
  std::filesystem::resize_file(path_, 0);
  EXPECT_TRUE(reads_right(section, 5));
  EXPECT_THROW(reads_right(section, kStretch), TruncatedError);
}

TEST_F(SectionOfBlocks, threads_read_at_once) {
  const SidecarSection section = this->section(3 * kStretch);
  std::vector<std::jthread> threads;
  std::array<int, 4> wrong{};
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 2000; ++i) {
        const uint64_t offset = (i * 7919 * 16) % (data_.size() - 16);
        wrong[t] += reads_right(section, offset) ? 0 : 1;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, (std::array<int, 4>{}));
  EXPECT_GE(left_, -static_cast<int64_t>(2 * kStretch));  // each thread may exceed the limit once
}

}  // namespace
}  // namespace fuelrail
