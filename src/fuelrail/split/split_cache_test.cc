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

namespace fuelrail::split {
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
  // Changes the file's bytes, but not its size or time.
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
  // Changes a byte in the middle, so that only the cache still has the old byte.
  std::string contents = file_contents(directory / "x.rec");
  contents[25008] = 'z';
  write_file(directory / "x.rec", contents);
  split.before_first();
  EXPECT_EQ(records_left(split), payloads);
}

TEST_F(CachedSplit, belongs_to_the_state_of_the_files) {
  EXPECT_EQ(read(), payloads);
  change_in_secret("x.rec");  // the checksums of its first and last bytes show the change
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
                HasSubstr("the existing file is not a cache file"));
    EXPECT_EQ(file_contents(directory / "cache"), contents);
  }
  EXPECT_THROW(InputSplit(directory / "x.rec" + "#" + directory.path()), Error);
}

TEST_F(CachedSplit, file_that_is_read_cannot_be_its_cache) {
  EXPECT_THAT(refusal_of<InvalidArgumentError>(
                  [&] { InputSplit(directory / "x.rec" + "#" + directory / "x.rec"); }),
              HasSubstr("would overwrite one of the input files"));
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

// A directory `in` with a file of two lines, and a directory `out` beside it.
class CacheAmongFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    write_file(in + "/x.txt", "1\n2\n");
    std::filesystem::create_directories(in + "/deep");
    std::filesystem::create_directories(out + "/deep");
  }
  void TearDown() override { std::filesystem::current_path(working_directory); }
  std::string refusal(const std::string& list, const std::string& cache) const {
    return refusal_of<InvalidArgumentError>([&] { InputSplit(list + "#" + cache, options); });
  }
  void expect_would_be_read(const std::string& list, const std::string& cache) const {
    EXPECT_THAT(refusal(list, cache), HasSubstr("the next run would read the cache"))
        << list << "#" << cache;
  }
  // Runs twice: the second run finds the cache of the first.
  void expect_is_taken(const std::string& list, const std::string& cache) const {
    for (int run = 0; run < 2; ++run) {
      InputSplit split(list + "#" + cache, options);
      EXPECT_THAT(records_left(split), ElementsAre("1", "2")) << list << "#" << cache;
      EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(cache)));
    }
    std::filesystem::remove(cache);
  }
  const std::filesystem::path working_directory = std::filesystem::current_path();
  TemporaryDirectory directory;
  const std::string in = directory / "in";
  const std::string out = directory / "out";
  InputSplitOptions options{.type = SplitType::kText};
};

TEST_F(CacheAmongFiles, is_refused_the_first_time) {
  std::filesystem::create_directory_symlink(in, directory / "link");
  for (const char* cache : {"in/c", "in/../in/./c", "link/c"}) {
    for (const char* list : {"in", "in/", "in/.*", "link", "link/.*"}) {
      expect_would_be_read(directory / list, directory / cache);
    }
  }
  options.nsplit = 2;
  EXPECT_THAT(refusal(in, in + "/c"), HasSubstr("/c.split2.part0: the next run would read"));
}

TEST_F(CacheAmongFiles, one_beside_them_is_taken) {
  expect_is_taken(in, in + "/deep/c");
  expect_is_taken(in + "/.*txt", in + "/c");
  expect_is_taken(in + "/.*txt", directory / "in.c");
  expect_is_taken("file://" + in, out + "/c");
  options.recurse_directories = true;
  expect_is_taken(in, directory / "in.c");
}

TEST_F(CacheAmongFiles, file_uris_and_plain_names_are_one) {
  const std::string schemes[] = {"", "file://", "FILE://", "file://localhost"};
  for (const std::string& of_list : schemes) {
    for (const std::string& of_cache : schemes) {
      expect_would_be_read(of_list + in, of_cache + in + "/c");
      expect_would_be_read(of_list + in + "/.*", of_cache + in + "/c");
      EXPECT_THAT(refusal(of_list + in + "/x.txt", of_cache + in + "/x.txt"),
                  HasSubstr("would overwrite one of the input files"));
    }
  }
}

TEST_F(CacheAmongFiles, links_are_followed_by_file_uris_too) {
  std::filesystem::create_directory_symlink(in, directory / "link");
  expect_would_be_read("file://" + in, directory / "link/c");
  expect_would_be_read(directory / "link", "file://" + in + "/c");
  expect_would_be_read("file://" + directory / "link/.*", in + "/c");
}

TEST_F(CacheAmongFiles, directories_below_are_searched_through_links_when_they_are_read) {
  std::filesystem::create_directory_symlink(out, in + "/deep/link");
  expect_is_taken(in, out + "/c");
  expect_is_taken(in, in + "/deep/c");
  options.recurse_directories = true;
  for (const std::string& cache : {in + "/deep/c", in + "/deep/link/c", in + "/deep/link/deep/c",
                                   out + "/c", out + "/deep/c", "file://" + out + "/c"}) {
    expect_would_be_read(in, cache);
    expect_would_be_read("file://" + in, cache);
  }
  expect_is_taken(in, directory / "c");
}

// Uses a file that is itself a cache, because no other file would be replaced.
TEST_F(CacheAmongFiles, link_to_a_file_that_is_read_is_that_file) {
  const std::string file = out + "/file";
  {
    InputSplit split(in + "#" + file, options);
    records_left(split);
  }
  const std::string contents = file_contents(file);
  std::filesystem::create_symlink(file, out + "/link");
  for (const auto& [list, cache] : {std::pair(file, out + "/link"), {out + "/link", file}}) {
    EXPECT_THAT(refusal(list, cache), HasSubstr("would overwrite one of the input files"));
  }
  EXPECT_EQ(file_contents(file), contents);
}

// Writing replaces a link that has the cache's name, wherever the link leads.
TEST_F(CacheAmongFiles, link_of_its_name_is_where_the_cache_comes) {
  std::filesystem::create_symlink(out + "/nothing", in + "/c");
  expect_would_be_read(in, in + "/c");
  std::filesystem::create_symlink(in + "/nothing", out + "/c");
  expect_is_taken(in, out + "/c");
}

TEST_F(CacheAmongFiles, names_of_fuelrails_own_files_are_read_by_patterns_alone) {
  for (const char* name : {"/c.partial", "/c.frx"}) {
    expect_is_taken(in, in + name);
    expect_would_be_read(in + "/.*", in + name);
  }
}

TEST_F(CacheAmongFiles, one_that_is_called_as_a_pattern_of_the_list_would_stand_for_it) {
  write_file(in + "/n1", "1\n2\n");
  expect_would_be_read(in + "/n[0-9]", in + "/n[0-9]");
  expect_would_be_read("file://" + in + "/n[0-9]", in + "/n[0-9]");
  expect_is_taken(in + "/n[0-9]", out + "/n[0-9]");
}

TEST_F(CacheAmongFiles, empty_file_of_the_list_is_none_for_it) {
  write_file(out + "/empty", "");
  expect_would_be_read(in + ";" + out + "/empty", out + "/empty");
  expect_would_be_read(in + ";file://" + out + "/empty", out + "/deep/../empty");
}

TEST_F(CacheAmongFiles, relative_names_are_of_the_working_directory) {
  std::filesystem::current_path(in);
  for (const std::string& list : {std::string("."), in, "file://" + in, std::string("./.*")}) {
    expect_would_be_read(list, "c");
    expect_would_be_read(list, "./c");
  }
  expect_is_taken("x.txt", "c");
}

TEST_F(CacheAmongFiles, memory_has_them_too) {
  memory_file_system().make_directory("memory://among/deep");
  const auto sink = memory_file_system().create("memory://among/x.txt");
  sink->write(as_bytes("1\n2\n"));
  sink->commit();
  for (const char* list : {"memory://among", "memory://among/", "memory://among/.*"}) {
    expect_would_be_read(list, "memory://among/c");
    expect_would_be_read(list, "memory://among//c");
    EXPECT_THAT(refusal(list, "memory://among/x.txt"), HasSubstr("would overwrite"));
    EXPECT_NO_THROW(InputSplit(list + std::string("#memory://among/deep/c"), options));
    EXPECT_NO_THROW(InputSplit(list + std::string("#") + in + "/c", options));
  }
  options.recurse_directories = true;
  expect_would_be_read("memory://among", "memory://among/deep/c");
}

}  // namespace
}  // namespace fuelrail::split
