#include "fuelrail/container/ffrecord/file_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/idle_reads.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::ffrecord {
namespace {

using fuelrail::testing::refusal_of;

std::vector<std::string> numbered_records(size_t count, size_t most_bytes = 3'000) {
  std::mt19937_64 random(count);
  std::vector<std::string> records;
  for (size_t i = 0; i < count; ++i) {
    std::string record(random() % most_bytes, '\0');
    for (size_t k = 0; k < record.size(); ++k) record[k] = static_cast<char>(i * 131 + k * 7);
    records.push_back(std::move(record));
  }
  return records;
}

class FfrecordReader : public ::testing::Test {
 protected:
  ~FfrecordReader() override { free_idle_read_queues(); }  // for tests that fork
  std::string write(const std::string& name, const std::vector<std::string>& records) {
    write_file(directory_ / name, file_of(records));
    return directory_ / name;
  }
  // Changes a byte of the file.
  void damage(const std::string& path, uint64_t offset) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const auto byte = static_cast<char>(file.get() + 1);
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(byte);
  }
  void drop_from_cache(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY);
    ::fsync(file);
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    ::close(file);
  }

  TemporaryDirectory directory_;
};

std::string text_of(const RecordBytes& record) { return std::string(as_text(record.bytes)); }

const std::vector<FileReaderOptions> kEveryWay{
    {},
    {.check_data = false},
    {.read = {.threads = 2, .backend = ReadBackend::kPread}},
    {.read = {.threads = 3, .direct = true}},
    {.read = {.threads = 0}}};

TEST_F(FfrecordReader, gives_the_records_in_the_order_of_the_request) {
  const auto records = numbered_records(500);
  const std::string path = write("a.ffr", records);
  for (const FileReaderOptions& options : kEveryWay) {
    const FileReader reader({path}, options);
    ASSERT_EQ(reader.size(), records.size());
    std::mt19937_64 random(1);
    for (const size_t count : {0, 1, 2, 3, 64, 2'000}) {
      drop_from_cache(path);
      std::vector<uint64_t> indices(count);
      for (uint64_t& index : indices) index = random() % records.size();
      for (int round = 0; round < 2; ++round) {  // first without, then with the page cache
        const auto read = reader.read(indices);
        ASSERT_EQ(read.size(), count);
        for (size_t i = 0; i < count; ++i) EXPECT_EQ(text_of(read[i]), records[indices[i]]);
      }
    }
  }
}

TEST_F(FfrecordReader, several_files_are_one_index_space) {
  const auto a = numbered_records(7);
  const auto b = numbered_records(20);
  const std::vector<std::string> uris{write("a.ffr", a), write("none.ffr", {}), write("b.ffr", b),
                                      directory_ / "a.ffr"};
  const FileReader reader(uris, {});
  EXPECT_EQ(reader.size(), 34u);
  EXPECT_EQ(reader.table(1).size(), 0u);
  const std::vector<uint64_t> indices{33, 0, 6, 7, 26, 27, 7};
  const auto read = reader.read(indices);
  EXPECT_EQ(text_of(read[0]), a[6]);
  EXPECT_EQ(text_of(read[1]), a[0]);
  EXPECT_EQ(text_of(read[2]), a[6]);
  EXPECT_EQ(text_of(read[3]), b[0]);
  EXPECT_EQ(text_of(read[4]), b[19]);
  EXPECT_EQ(text_of(read[5]), a[0]);
  EXPECT_EQ(text_of(read[6]), b[0]);
  EXPECT_THROW(reader.table(4), OutOfRangeError);
}

TEST_F(FfrecordReader, reads_what_the_original_wrote) {
  const FileReader reader({kGolden + "part0.ffr"}, {});
  std::vector<uint64_t> indices(reader.size());
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  EXPECT_EQ(reader.read(indices).size(), 8u);
}

TEST_F(FfrecordReader, an_index_beyond_the_end_is_refused_before_anything_is_read) {
  const FileReader reader({write("a.ffr", numbered_records(5))}, {});
  for (const uint64_t index : {uint64_t{5}, ~uint64_t{0}}) {
    const std::vector<uint64_t> indices{0, index};
    EXPECT_NE(
        refusal_of<OutOfRangeError>([&] { reader.read(indices); }).find("index is out of range"),
        std::string::npos);
  }
}

TEST_F(FfrecordReader, a_damaged_record_is_named_and_the_others_are_read) {
  const std::vector<std::string> records{"hello", "", "abcabc", std::string(5'000, 'x')};
  const std::string path = write("a.ffr", records);
  damage(path, 12 + 12 * 4 + 6);
  for (const FileReaderOptions& options : kEveryWay) {
    const FileReader reader({write("b.ffr", {"first"}), path}, options);
    const std::vector<uint64_t> good{1, 2, 4};
    EXPECT_EQ(reader.read(good).size(), 3u);
    const std::vector<uint64_t> all{4, 3, 2, 1, 3};
    if (!options.check_data) {
      EXPECT_NE(text_of(reader.read(all)[1]), records[2]);
      continue;
    }
    const std::string said = refusal_of<CorruptError>([&] { reader.read(all); });
    EXPECT_NE(said.find(path + ": record 2, offset 65: the record's checksum"), std::string::npos)
        << said;
    EXPECT_EQ(reader.read(good).size(), 3u);
  }
}

TEST_F(FfrecordReader, of_several_damaged_records_the_first_that_was_asked_for_is_named) {
  const std::string path = write("a.ffr", std::vector<std::string>(300, std::string(50, 'x')));
  for (const uint64_t record : {7, 90, 250}) damage(path, 12 + 12 * 300 + record * 50);
  const FileReader reader({path}, {});
  std::vector<uint64_t> indices(300);
  for (size_t i = 0; i < 300; ++i) indices[i] = 299 - i;
  EXPECT_NE(refusal_of<CorruptError>([&] { reader.read(indices); }).find("record 250"),
            std::string::npos);
}

TEST_F(FfrecordReader, a_file_that_was_cut_off_since_is_truncated) {
  const std::string path = write("a.ffr", std::vector<std::string>(10, std::string(1'000, 'x')));
  const FileReader reader({path}, {});
  std::filesystem::resize_file(path, 12 + 12 * 10 + 4'500);
  const std::vector<uint64_t> indices{1, 4, 5};
  EXPECT_NE(refusal_of<TruncatedError>([&] { reader.read(indices); }).find("record 4"),
            std::string::npos);
}

TEST_F(FfrecordReader, a_closed_reader_says_so_and_keeps_its_tables) {
  FileReader reader({write("a.ffr", numbered_records(5))}, {});
  const std::vector<uint64_t> indices{1};
  const auto kept = reader.read(indices);
  reader.close();
  reader.close();
  EXPECT_NE(refusal_of<StateError>([&] { reader.read(indices); }).find("the reader is closed"),
            std::string::npos);
  EXPECT_THROW(
      reader.verify([](uint64_t, const std::exception_ptr&) {}, [](uint64_t) { return true; }),
      StateError);
  EXPECT_EQ(reader.size(), 5u);
  reader.verify_tables();
  EXPECT_EQ(text_of(kept[0]), numbered_records(5)[1]);
}

TEST_F(FfrecordReader, a_kept_record_is_nobody_elses) {
  const auto records = numbered_records(50, 100'000);
  const FileReader reader({write("a.ffr", records)}, {});
  std::vector<uint64_t> indices(records.size());
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  std::vector<RecordBytes> kept;
  for (int round = 0; round < 20; ++round) {
    auto read = reader.read(indices);
    kept.push_back(read[static_cast<size_t>(round)]);
    std::fill(read[40].bytes.begin(), read[40].bytes.end(), std::byte{1});
  }
  for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(text_of(kept[i]), records[i]);
}

TEST_F(FfrecordReader, reads_into_memory_of_the_callers) {
  const FileReader reader({write("a.ffr", {"one", "", "three"})}, {});
  std::string memory(8, '-');
  const MutableBytes all(reinterpret_cast<std::byte*>(memory.data()), memory.size());
  ASSERT_EQ(reader.length(2), 5u);
  const std::vector<RecordBytes> into{
      {all.first(5), {}, nullptr}, {all.first(0), {}, nullptr}, {all.last(3), {}, nullptr}};
  reader.read(std::vector<uint64_t>{2, 1, 0}, into);
  EXPECT_EQ(memory, "threeone");
  EXPECT_FALSE(reader.reuses_memory_for(2));
  EXPECT_THROW(static_cast<void>(reader.length(3)), OutOfRangeError);
}

TEST_F(FfrecordReader, verify_reports_every_bad_record_whatever_the_reader_checks) {
  std::vector<std::string> records(200, std::string(700, 'x'));
  records.emplace_back(size_t{40} << 20, 'y');  // longer than the verification buffer
  records.emplace_back(size_t{33} << 20, 'z');
  records.emplace_back("last");
  const std::string path = write("a.ffr", records);
  damage(path, 12 + 12 * 203 + 3 * 700);
  damage(path, 12 + 12 * 203 + 150 * 700 + 699);
  damage(path, 12 + 12 * 203 + 200 * 700 + (size_t{40} << 20) + 5);
  for (const bool check : {true, false}) {
    const FileReader reader({write("b.ffr", {"one", "two"}), path}, {.check_data = check});
    std::vector<uint64_t> bad;
    uint64_t told = 0;
    reader.verify(
        [&](uint64_t index, const std::exception_ptr& failure) {
          bad.push_back(index);
          const std::string error =
              refusal_of<CorruptError>([&] { std::rethrow_exception(failure); });
          EXPECT_NE(error.find("the record's checksum is wrong"), std::string::npos) << error;
        },
        [&](uint64_t done) {
          told = done;
          return true;
        });
    EXPECT_EQ(bad, (std::vector<uint64_t>{5, 152, 203}));
    EXPECT_EQ(told, 205u);
  }
  const FileReader reader({path}, {});
  EXPECT_THROW(
      reader.verify([](uint64_t, const std::exception_ptr&) {}, [](uint64_t) { return false; }),
      StateError);
}

TEST_F(FfrecordReader, many_threads_and_many_readers_read_at_once) {
  const auto records = numbered_records(300);
  const std::string path = write("a.ffr", records);
  std::vector<std::unique_ptr<FileReader>> readers;
  for (int i = 0; i < 64; ++i) {
    readers.push_back(std::make_unique<FileReader>(std::vector{path}, kEveryWay[i % 5u]));
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 64; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (int round = 0; round < 4; ++round) {
        std::vector<uint64_t> indices(40);
        for (uint64_t& index : indices) index = random() % records.size();
        const auto read = readers[(t + static_cast<size_t>(round)) % 64]->read(indices);
        for (size_t i = 0; i < 40; ++i) EXPECT_EQ(text_of(read[i]), records[indices[i]]);
        if (round == 1) drop_from_cache(path);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(FfrecordReader, a_forked_child_reads_after_its_parent_has) {
  const auto records = numbered_records(300);
  const std::string path = write("a.ffr", records);
  for (const FileReaderOptions& options : kEveryWay) {
    const FileReader reader({path}, options);
    std::vector<uint64_t> indices(records.size());
    for (size_t i = 0; i < indices.size(); ++i) indices[i] = i;
    drop_from_cache(path);
    static_cast<void>(reader.read(indices));
    EXPECT_EQ(in_forked_child([&]() -> std::string {
                drop_from_cache(path);
                const auto read = reader.read(indices);
                for (size_t i = 0; i < read.size(); ++i) {
                  if (text_of(read[i]) != records[i]) return "wrong";
                }
                return "right";
              }),
              "right");
  }
}

TEST_F(FfrecordReader, a_wrong_option_is_refused_when_it_is_made) {
  const std::string path = write("a.ffr", {"x"});
  EXPECT_THROW(FileReader({path}, {.read = {.threads = -1}}), InvalidArgumentError);
  EXPECT_THROW(FileReader({path}, {.read = {.threads = 5'000}}), InvalidArgumentError);
  const FileReader threads({path}, {.read = {.backend = ReadBackend::kPread}});
  EXPECT_EQ(threads.read_backend(), "pread");
  if (io_uring_refusal().empty()) {
    EXPECT_EQ(FileReader({path}, {}).read_backend(), "io_uring");
  }
}

TEST_F(FfrecordReader, a_table_without_checksum_is_said) {
  std::string bytes = file_of({"one", "two"});
  std::fill(bytes.begin(), bytes.begin() + 4, '\0');
  write_file(directory_ / "old.ffr", bytes);
  std::vector<std::string> said;
  const FileReader reader({directory_ / "old.ffr"},
                          {.warn = [&](const std::string& text) { said.push_back(text); }});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("no checksum"), std::string::npos);
}

// /dev/shm refuses direct reads. Where it allows them (Linux 6.x), there is no warning.
TEST_F(FfrecordReader, direct_reads_that_are_refused_are_said_once) {
  const std::string path = "/dev/shm/fuelrail-file-reader-test.ffr";
  write_file(path, file_of(numbered_records(50)));
  std::vector<std::string> said;
  {
    const FileReader reader({path},
                            {.read = {.threads = 16, .direct = true},
                             .warn = [&](const std::string& text) { said.push_back(text); }});
    const std::vector<uint64_t> indices{1, 2, 30};
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(text_of(reader.read(indices)[2]), numbered_records(50)[30]);
  }
  std::filesystem::remove(path);
  EXPECT_LE(said.size(), 1u);
}

}  // namespace
}  // namespace fuelrail::ffrecord
