#include "fuelrail/container/recordio/record_writer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/collecting_sink.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::recordio {
namespace {

const std::string kMagicText = "\x0a\x23\xd7\xce";

// Counts bytes without storing them, for records of half a gigabyte.
class CountingSink final : public Sink {
 public:
  const std::string& uri() const override { return uri_; }
  void write(Bytes bytes) override { position_ += bytes.size(); }
  uint64_t position() const override { return position_; }
  void rewrite(uint64_t, Bytes) override { ADD_FAILURE() << "a record file is only appended to"; }
  void read_back(uint64_t, MutableBytes) override { ADD_FAILURE() << "nothing is kept"; }
  void truncate(uint64_t) override { ADD_FAILURE() << "a record file is only appended to"; }
  void commit_as(const std::string&) override {}
  [[nodiscard]] bool commit_new() override { return true; }

 private:
  std::string uri_ = "counted";
  uint64_t position_ = 0;
};

// Zeros that take no memory until they are written to.
class SparseZeros {
 public:
  explicit SparseZeros(size_t size)
      : size_(size),
        at_(::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~SparseZeros() { ::munmap(at_, size_); }
  SparseZeros(const SparseZeros&) = delete;
  SparseZeros& operator=(const SparseZeros&) = delete;
  Bytes bytes() const { return {static_cast<const std::byte*>(at_), size_}; }

 private:
  size_t size_;
  void* at_;
};

TEST(RecordWriter, five_records_begin_where_upstream_says) {
  CollectingSink sink;
  RecordWriter writer(sink);
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(writer.append(as_bytes("12345678")), 16 * i);
  EXPECT_EQ(sink.position(), 80u);
  EXPECT_EQ(writer.escapes(), 0u);
}

TEST(RecordWriter, large_payloads_are_framed_as_small_ones_are) {
  for (const size_t size : {size_t{1} << 20, (size_t{1} << 20) + 1, (size_t{3} << 20) + 2}) {
    std::string payload(size, 'x');
    payload.replace(400'000, 4, kMagicText);
    payload.replace(size - 2, 2, "yz");
    CollectingSink sink;
    RecordWriter writer(sink);
    writer.append(as_bytes(payload));
    std::vector<std::byte> expected;
    append_framed(as_bytes(payload), expected);
    EXPECT_TRUE(sink.bytes() == expected);
    EXPECT_EQ(writer.escapes(), 1u);
  }
}

TEST(RecordWriter, longest_record_is_accepted_and_one_byte_more_refused) {
  const SparseZeros zeros(kMaxPayloadBytes + 1);
  CountingSink sink;
  RecordWriter writer(sink);
  EXPECT_EQ(writer.append(zeros.bytes().first(kMaxPayloadBytes)), 0u);
  EXPECT_EQ(sink.position(), kHeadBytes + kMaxPayloadBytes + 1);
  EXPECT_THROW(writer.append(zeros.bytes()), InvalidArgumentError);
  EXPECT_EQ(sink.position(), kHeadBytes + kMaxPayloadBytes + 1);
}

TEST(CommitRecordFile, file_and_index_have_their_names_and_no_foreign_sidecar) {
  const TemporaryDirectory directory;
  const std::string file = directory / "a.rec", index = directory / "a.idx";
  write_file(file, "before");
  write_file(sidecar_uri(file), "of the file before");
  const auto records = file_system_for(file).create(file);
  const auto keys = file_system_for(index).create(index);
  RecordWriter(*records).append(as_bytes("one"));
  keys->write(as_bytes("0\t0\n"));
  EXPECT_EQ(file_contents(file), "before");
  commit_record_file(*records, keys.get());
  EXPECT_EQ(file_contents(file).size(), 12u);
  EXPECT_EQ(file_contents(index), "0\t0\n");
  EXPECT_FALSE(std::filesystem::exists(sidecar_uri(file)));
}

TEST(CommitRecordFile, whatever_fails_no_file_has_the_index_of_another) {
  const TemporaryDirectory directory;
  const std::string file = directory / "a.rec", index = directory / "a.idx";
  FaultyFileSystem faulty(local_file_system());
  const FileSystemOverride instead("file", faulty);
  bool failed = true;
  for (uint64_t n = 0; failed; ++n) {
    write_file(file, "before");
    write_file(index, "before");
    const auto records = faulty.create(file);
    const auto keys = faulty.create(index);
    keys->write(as_bytes("after"));
    records->write(as_bytes("after"));
    faulty.arm(Fault::kError, n);
    failed = false;
    try {
      commit_record_file(*records, keys.get());
    } catch (const IoError&) {
      failed = true;
    }
    faulty.arm(Fault::kNone, 0);
    const std::string known = std::filesystem::exists(index) ? file_contents(index) : "";
    EXPECT_TRUE(known.empty() || known == file_contents(file)) << n << ": " << known;
    EXPECT_TRUE(failed || known == "after");
    const std::string old = index + ".old.partial";
    EXPECT_EQ(known.empty(), std::filesystem::exists(old)) << n;
    if (known.empty()) {
      EXPECT_EQ(file_contents(old), "before");
    }
    std::filesystem::remove(old);
  }
}

TEST(CommitRecordFile, there_need_be_no_index) {
  const TemporaryDirectory directory;
  const auto records = file_system_for(directory / "a.rec").create(directory / "a.rec");
  commit_record_file(*records, nullptr);
  EXPECT_EQ(file_contents(directory / "a.rec"), "");
}

}  // namespace
}  // namespace fuelrail::recordio
