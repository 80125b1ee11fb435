#include "fuelrail/split/split_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/split/input_split.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/split_files.h"

namespace fuelrail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal_of;

class CachedSplit : public ::testing::Test {
 protected:
  void SetUp() override { directory.add_records("x.rec", payloads); }
  std::string uri() const { return directory / "x.rec" + "#" + directory / "cache"; }
  std::vector<std::string> read(const InputSplitOptions& options = {}) const {
    InputSplit split(uri(), options);
    return records_left(split);
  }
  // The same file with other bytes in it, as big and as old as it was.
  void change_in_secret(const std::string& name) {
    const auto time = std::filesystem::last_write_time(directory / name);
    std::string contents = file_contents(directory / name);
    for (char& c : contents) {
      if (c == 'a') c = 'z';
    }
    write_file(directory / name, contents);
    std::filesystem::last_write_time(directory / name, time);
  }
  std::vector<std::string> payloads_with(char c) const {
    return std::vector<std::string>(500, std::string(92, c));
  }
  SplitDirectory directory;
  const std::vector<std::string> payloads = payloads_with('a');
};

TEST_F(CachedSplit, is_written_by_the_first_pass_and_read_by_the_second) {
  InputSplit split(uri());
  EXPECT_EQ(records_left(split), payloads);
  EXPECT_TRUE(std::filesystem::exists(directory / "cache"));
  // Bytes in the middle, so that only reading the cache gives the old ones.
  std::string contents = file_contents(directory / "x.rec");
  contents[25008] = 'z';
  write_file(directory / "x.rec", contents);
  split.before_first();
  EXPECT_EQ(records_left(split), payloads);
}

TEST_F(CachedSplit, belongs_to_the_state_of_the_files) {
  EXPECT_EQ(read(), payloads);
  change_in_secret("x.rec");  // its ends tell
  EXPECT_EQ(read(), payloads_with('z'));
  directory.add_records("x.rec", payloads_with('b'));
  std::filesystem::last_write_time(
      directory / "x.rec",
      std::filesystem::last_write_time(directory / "x.rec") + std::chrono::seconds(10));
  EXPECT_EQ(read(), payloads_with('b'));
  directory.add_records("x.rec", {"shorter"});
  EXPECT_THAT(read(), ElementsAre("shorter"));
}

TEST_F(CachedSplit, another_source_type_or_part_makes_it_anew) {
  EXPECT_EQ(read(), payloads);
  directory.add_records("y.rec", {"of y"});
  InputSplit other(directory / "y.rec" + "#" + directory / "cache");
  EXPECT_THAT(records_left(other), ElementsAre("of y"));
  EXPECT_EQ(read(), payloads);
  InputSplit lines(uri(), {.type = SplitType::kText});
  EXPECT_GT(records_left(lines).size(), 0u);
  EXPECT_EQ(read(), payloads);
  std::filesystem::copy_file(directory / "cache", directory / "cache.split2.part1");
  InputSplit part(uri(), {.part = 1, .nsplit = 2});
  EXPECT_EQ(records_left(part).size(), 250u);
}

TEST_F(CachedSplit, each_part_has_a_file_of_its_own) {
  for (uint64_t k = 0; k < 3; ++k) read({.part = k, .nsplit = 3});
  for (const char* name : {"cache.split3.part0", "cache.split3.part1", "cache.split3.part2"}) {
    EXPECT_TRUE(std::filesystem::exists(directory / name)) << name;
  }
  InputSplit split(uri(), {.part = 0, .nsplit = 3});
  std::vector<std::string> all;
  for (uint64_t k = 0; k < 3; ++k) {
    split.reset_partition(k, 3);
    for (const std::string& record : records_left(split)) all.push_back(record);
  }
  EXPECT_EQ(all, payloads);
}

TEST_F(CachedSplit, any_chunk_size_reads_what_any_other_has_written) {
  for (const uint64_t written : {1, 100, 12345, 1 << 20}) {
    std::filesystem::remove(directory / "cache");
    EXPECT_EQ(read({.chunk_bytes = written}), payloads);
    for (const uint64_t chunk : {7, 1000, 1 << 20}) {
      EXPECT_EQ(read({.chunk_bytes = chunk}), payloads);
    }
  }
}

TEST_F(CachedSplit, pass_that_was_broken_off_goes_on_being_written_by_the_next) {
  InputSplit split(uri(), {.chunk_bytes = 1000});
  for (int i = 0; i < 123; ++i) split.next_record();
  split.before_first();
  EXPECT_FALSE(std::filesystem::exists(directory / "cache"));
  EXPECT_EQ(records_left(split), payloads);
  EXPECT_TRUE(std::filesystem::exists(directory / "cache"));
  split.before_first();
  EXPECT_EQ(records_left(split), payloads);
}

TEST_F(CachedSplit, split_that_is_dropped_in_its_first_pass_leaves_nothing) {
  {
    InputSplit split(uri(), {.chunk_bytes = 1000});
    split.next_record();
  }
  EXPECT_THAT(names_in(directory.path()), ElementsAre("x.rec"));
}

TEST_F(CachedSplit, shuffled_reading_is_cached_and_still_shuffled_anew) {
  InputSplitOptions indexed{.type = SplitType::kIndexedRecordIo, .batch_size = 16};
  const std::string file = framed_records(numbered_records(300));
  directory.add("n.rec", file);
  indexed.index_uri = directory.add("n.idx", index_of(file));
  indexed.shuffle = true;
  for (const InputSplitOptions& options : {indexed, InputSplitOptions{.shuffle_parts = 7}}) {
    InputSplit plain(directory / "n.rec", options);
    InputSplit cached(directory / "n.rec" + "#" + directory / "n.cache", options);
    for (int pass = 0; pass < 3; ++pass) {
      EXPECT_EQ(records_left(cached), records_left(plain));
      cached.before_first();
      plain.before_first();
    }
    EXPECT_TRUE(std::filesystem::exists(directory / "n.cache"));
  }
}

TEST_F(CachedSplit, lines_are_cached_with_their_files_boundaries) {
  SplitDirectory texts;
  texts.add("a", "one\ntwo");
  texts.add("b", "three\n");
  texts.add("c", "four");
  InputSplit split(texts.list() + "#" + texts / "cache", {.type = SplitType::kText});
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_THAT(records_left(split), ElementsAre("one", "two", "three", "four"));
    split.before_first();
  }
}

TEST_F(CachedSplit, errors_name_the_file_and_not_its_cache) {
  std::string damaged = file_contents(directory / "x.rec");
  damaged[25000] = 'x';
  write_file(directory / "x.rec", damaged);
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_THAT(refusal_of<CorruptError>([&] { read(); }), HasSubstr("x.rec: offset 25000"));
  }
}

TEST_F(CachedSplit, cut_or_damaged_cache_is_made_anew) {
  read();
  const std::string whole = file_contents(directory / "cache");
  for (const size_t size : {size_t{0}, size_t{8}, size_t{30}, whole.size() - 1}) {
    write_file(directory / "cache", whole.substr(0, size));
    EXPECT_EQ(read(), payloads) << size;
    EXPECT_EQ(file_contents(directory / "cache"), whole);
  }
}

TEST_F(CachedSplit, file_that_is_no_cache_is_left_alone) {
  for (const char* contents : {"precious", "x", "more than eight bytes of something else"}) {
    write_file(directory / "cache", contents);
    EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { read(); }),
                HasSubstr("the cache's name is taken by a file that is no cache"));
    EXPECT_EQ(file_contents(directory / "cache"), contents);
  }
  EXPECT_THROW(InputSplit(directory / "x.rec" + "#" + directory.path()), Error);
}

TEST_F(CachedSplit, file_that_is_read_cannot_be_its_cache) {
  EXPECT_THAT(refusal_of<InvalidArgumentError>(
                  [&] { InputSplit(directory / "x.rec" + "#" + directory / "x.rec"); }),
              HasSubstr("would overwrite one of the files that are read"));
}

TEST_F(CachedSplit, cache_among_the_files_that_are_read_is_refused_the_first_time) {
  const std::string below = directory / "below";
  std::filesystem::create_directories(below + "/deep");
  std::filesystem::create_directory_symlink(below, directory / "link");
  write_file(below + "/x.txt", "1\n2\n");
  InputSplitOptions options{.type = SplitType::kText, .nsplit = 2};
  const auto refusal = [&](const std::string& uri) {
    return refusal_of<InvalidArgumentError>([&] { InputSplit(uri, options); });
  };
  for (const char* cache : {"below/c", "below/../below/./c", "link/c"}) {
    for (const char* list : {"below", "below/", "below/.*", "link"}) {
      EXPECT_THAT(refusal(directory / list + "#" + directory / cache),
                  HasSubstr("/c.split2.part0: the cache would be read the next time"));
    }
  }
  const auto read = [&](const std::string& uri) {
    InputSplit split(uri, options);
    return records_left(split).size();
  };
  for (int run = 0; run < 2; ++run) {
    EXPECT_EQ(read(below + "#" + below + "/deep/c"), 2u);
    EXPECT_EQ(read(below + "/.*txt#" + below + "/c"), 2u);
    EXPECT_EQ(read(below + "/.*txt#" + directory / "below.c"), 2u);
    std::filesystem::remove(below + "/c.split2.part0");
  }
  options.recurse_directories = true;
  EXPECT_THAT(refusal(below + "#" + below + "/deep/d"), HasSubstr("would be read the next time"));
}

TEST_F(CachedSplit, cache_that_cannot_be_written_is_an_error) {
  EXPECT_THROW(
      {
        InputSplit split(directory / "x.rec" + "#" + directory / "no/such/directory/cache");
        records_left(split);
      },
      Error);
}

TEST_F(CachedSplit, cache_that_could_not_be_written_is_begun_anew_by_the_next_pass) {
  memory_file_system().make_directory("memory://cached_split");
  FaultyFileSystem faulty(memory_file_system());
  const FileSystemOverride instead("memory", faulty);
  for (uint64_t operation = 0, failures = 1; failures != 0; ++operation) {
    failures = 0;
    const std::string cache = "memory://cached_split/" + std::to_string(operation);
    InputSplit split(directory / "x.rec" + "#" + cache, {.chunk_bytes = 10000});
    faulty.arm(Fault::kDiskFull, operation);
    try {
      records_left(split);
    } catch (const IoError&) {
      ++failures;
    }
    faulty.arm(Fault::kNone, 0);
    split.before_first();
    ASSERT_EQ(records_left(split), payloads) << operation;
    EXPECT_TRUE(memory_file_system().stat(cache).has_value()) << operation;
  }
}

}  // namespace
}  // namespace fuelrail
