// How much of a `.bzna` file is read for its tables, and in the search for its records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/container/bzna/file_scan.h"
#include "fuelrail/container/bzna/outer_file.h"
#include "fuelrail/testing/mp4_file.h"

namespace fuelrail::bzna {
namespace {

using namespace fuelrail::mp4;  // the boxes of a file

using ::testing::SizeIs;

class CountedBytes final : public Source {
 public:
  explicit CountedBytes(std::string bytes) : bytes_(std::move(bytes)) {}
  uint64_t size_bytes() const override { return bytes_.size(); }
  const std::string& uri() const override { return uri_; }
  void read(uint64_t offset, MutableBytes into) const override {
    ++reads_;
    read_ += into.size();
    const Bytes piece = as_bytes(bytes_).subspan(offset, into.size());
    std::copy(piece.begin(), piece.end(), into.begin());
  }
  uint64_t reads() const { return reads_; }
  uint64_t bytes_read() const { return read_; }

 private:
  std::string bytes_;
  std::string uri_ = "counted.bzna";
  mutable uint64_t reads_ = 0;
  mutable uint64_t read_ = 0;
};

// A file whose labels, from 0 on, are this far apart.
CountedBytes file_of_labels(uint32_t count, uint64_t distance) {
  const std::string type = mp4_box("ftyp", "isom" + be32(0) + "bznaisom");
  std::string data;
  std::vector<uint64_t> offsets;
  for (uint32_t i = 0; i < count; ++i) {
    offsets.push_back(type.size() + 8 + data.size());
    data += std::string({static_cast<char>(i)}) + std::string(distance - 1, '\0');
  }
  const std::string entry = stsd(mp4_box("mett", std::string(10, '\0')));
  const std::vector<uint32_t> eights(count, 8);
  const auto track = [&](const char* name) {
    return trak(tkhd(0, 0), hdlr("meta", name), entry + stsz(eights) + stsc() + co64(offsets));
  };
  return CountedBytes(type + mp4_box("mdat", data) +
                      mp4_box("moov", track("bzna_input") + track("bzna_target")));
}

TEST(BznaTables, labels_that_are_far_apart_are_read_alone) {
  constexpr uint32_t kLabels = 50;
  const CountedBytes file = file_of_labels(kLabels, 64 << 10);
  const RecordTable table = read_record_table(file);
  ASSERT_THAT(table.labels, SizeIs(kLabels));
  EXPECT_EQ(table.labels[49], 49);
  EXPECT_LT(file.bytes_read(), uint64_t{512} << 10);  // of 3 MiB
}

TEST(BznaTables, labels_that_follow_each_other_are_read_together) {
  constexpr uint32_t kLabels = 100;
  const CountedBytes file = file_of_labels(kLabels, 8);
  const RecordTable table = read_record_table(file);
  ASSERT_THAT(table.labels, SizeIs(kLabels));
  EXPECT_EQ(table.labels[99], 99);
  EXPECT_LT(file.reads(), uint64_t{20});
}

// Each of many false records extends to the end of the file.
TEST(BznaSearch, overlapping_false_records_are_not_read_again_and_again) {
  constexpr size_t kFileBytes = 4 << 20, kRecords = 500;
  const std::string tables = mp4_box("moov", "");
  std::string file = mp4_box("ftyp", "isom" + be32(0) + "bznaisom") +
                     mp4_box("mdat", std::string(kFileBytes - 32 - tables.size(), '\0')) + tables;
  for (size_t i = 0; i < kRecords; ++i) {
    const size_t at = 32 + i * 4096;
    file.replace(at, 16,
                 be32(8) + "ftyp" +
                     be32(static_cast<uint32_t>(kFileBytes - tables.size() - at - 8)) + "mdat");
  }
  const CountedBytes source(file);
  std::vector<Damage> damage;
  const RecordTable found =
      find_records(source, [&](const Damage& report) { damage.push_back(report); }, {});
  EXPECT_EQ(found.size(), 0u);
  EXPECT_THAT(damage, SizeIs(kRecords));
  EXPECT_LT(source.bytes_read(), 10 * kFileBytes);
}

}  // namespace
}  // namespace fuelrail::bzna
