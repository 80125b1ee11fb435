#include "fuelrail/split/input_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/faulty_file_system.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/split_files.h"

namespace fuelrail::split {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::refusal_of;

// 37 records with their index.
class Indexed {
 public:
  explicit Indexed(uint64_t batch_size = 10, bool shuffle = false) {
    options.shuffle = shuffle;
    options.batch_size = batch_size;
  }
  std::unique_ptr<InputSplit> open() { return std::make_unique<InputSplit>(path, options); }

  const std::vector<std::string> payloads = numbered_records(37);
  const std::string file = framed_records(payloads);
  SplitDirectory directory;
  const std::string path = directory.add("x.rec", file);
  InputSplitOptions options{.type = SplitType::kIndexedRecordIo,
                            .index_uri = directory.add("x.idx", index_of(file))};
};

TEST(InputSplit, types_have_names) {
  for (const SplitType type :
       {SplitType::kText, SplitType::kRecordIo, SplitType::kIndexedRecordIo}) {
    EXPECT_EQ(split_type_of(name_of(type)), type);
  }
  EXPECT_EQ(refusal_of<InvalidArgumentError>([] { split_type_of("recordoi"); }),
            "unknown input split type 'recordoi'. Did you mean 'recordio'?");
}

TEST(InputSplit, lines_come_without_their_ends_and_blank_ones_not_at_all) {
  SplitDirectory directory;
  directory.add("a.txt", "\n\r\nfirst\nsecond\r\n\r\n\nthird\rno end");
  directory.add("b.txt", "next file\n");
  directory.add("blank.txt", "\n\n\n");
  directory.add("c.txt", " \n");
  InputSplit split(directory.list(), {.type = SplitType::kText});
  const std::vector<std::string> lines{"first", "second", "third", "no end", "next file", " "};
  EXPECT_EQ(records_left(split), lines);
  EXPECT_FALSE(split.next_record());
  split.before_first();
  EXPECT_EQ(records_left(split), lines);
}

TEST(InputSplit, files_without_a_line_end_do_not_merge) {
  SplitDirectory directory;
  for (const char* name : {"a", "b", "c"}) directory.add(name, "1,2,3,4");
  InputSplit split(directory.list(), {.type = SplitType::kText});
  EXPECT_EQ(records_left(split), std::vector<std::string>(3, "1,2,3,4"));
  split.before_first();
  EXPECT_EQ(as_text(*split.next_chunk()), "1,2,3,4\n1,2,3,4\n1,2,3,4\n");
}

TEST(InputSplit, records_come_unescaped_and_empty_ones_too) {
  SplitDirectory directory;
  const std::vector<std::string> payloads{
      "", "a", kMagicText, "abcd" + kMagicText + "ef", "ab" + kMagicText, std::string(100, '\0')};
  directory.add_records("a.rec", payloads);
  directory.add_records("b.rec", {"last"});
  InputSplit split(directory.list());
  std::vector<std::string> expected = payloads;
  expected.push_back("last");
  EXPECT_EQ(records_left(split), expected);
}

TEST(InputSplit, memorys_files_are_read_like_any_other) {
  FileSystem& files = memory_file_system();
  files.make_directory("memory://split");
  const auto sink = files.create("memory://split/x.rec");
  sink->write(as_bytes(framed_records({"in", "memory"})));
  sink->commit();
  InputSplit split("memory://split/");
  EXPECT_THAT(records_left(split), ElementsAre("in", "memory"));
}

TEST(InputSplit, more_files_than_are_held_open_are_read_too) {
  SplitDirectory directory;
  for (int i = 0; i < 100; ++i) directory.add_records(std::to_string(i), {std::to_string(i)});
  InputSplit split(directory.list());
  EXPECT_EQ(records_left(split), numbered_records(100));
}

TEST(InputSplit, before_first_any_time_replays_the_part) {
  SplitDirectory directory;
  directory.add_records("x.rec", numbered_records(1000));
  InputSplit split(directory.list(), {.chunk_bytes = 200});
  split.before_first();
  for (const int taken : {0, 1, 17, 500, 999, 1000}) {
    for (int i = 0; i < taken; ++i) EXPECT_EQ(as_text(*split.next_record()), std::to_string(i));
    split.before_first();
    split.before_first();
  }
  EXPECT_EQ(records_left(split), numbered_records(1000));
}

TEST(InputSplit, reset_partition_goes_on_elsewhere_also_in_the_middle) {
  SplitDirectory directory;
  directory.add_records("x.rec", numbered_records(1000));
  InputSplit split(directory.list(), {.nsplit = 4, .chunk_bytes = 200});
  std::vector<std::string> all;
  for (uint64_t part = 0; part < 7; ++part) {
    split.reset_partition(part, 7);
    EXPECT_EQ(split.options().part, part);
    EXPECT_EQ(split.options().nsplit, 7u);
    split.next_record();
    split.reset_partition(part, 7);
    for (const std::string& record : records_left(split)) all.push_back(record);
  }
  EXPECT_EQ(all, numbered_records(1000));
  EXPECT_THROW(split.reset_partition(7, 7), InvalidArgumentError);
  split.before_first();
  EXPECT_FALSE(records_left(split).empty());
}

TEST(InputSplit, part_without_records_is_empty) {
  SplitDirectory directory;
  directory.add_records("x.rec", {"one"});
  InputSplit split(directory.list(), {.part = 63, .nsplit = 64});
  EXPECT_FALSE(split.next_record());
  EXPECT_FALSE(split.next_chunk());
  EXPECT_FALSE(split.next_batch(3));
  Indexed indexed;
  indexed.options.part = 35;
  indexed.options.nsplit = 36;
  EXPECT_FALSE(indexed.open()->next_record());
}

TEST(InputSplit, chunks_are_whole_records_within_the_hint) {
  SplitDirectory directory;
  const std::vector<std::string> payloads(1000,
                                          std::string(92, 'x'));  // 100 bytes each in the file
  directory.add_records("x.rec", payloads);
  InputSplit split(directory.list());
  split.hint_chunk_size(1050);
  std::vector<size_t> sizes;
  while (const auto chunk = split.next_chunk()) {
    sizes.push_back(chunk->size());
    EXPECT_EQ(records_in(split, *chunk).size() * 100, chunk->size());
  }
  EXPECT_EQ(sizes, std::vector<size_t>(100, 1000));
  split.hint_chunk_size(uint64_t{1} << 40);
  split.before_first();
  EXPECT_EQ(split.next_chunk()->size(), 100000u);
  EXPECT_FALSE(split.next_chunk());
  EXPECT_THROW(split.hint_chunk_size(0), InvalidArgumentError);
}

TEST(InputSplit, chunks_of_eight_mebibytes_are_the_default) {
  SplitDirectory directory;
  directory.add("x.txt", std::string(size_t{20} << 20, 'x') + "\n");
  std::string text;
  while (text.size() < size_t{20} << 20) text += "a line of no great length\n";
  directory.add("y.txt", text);
  InputSplit split(directory / "y.txt", {.type = SplitType::kText});
  const size_t whole = (size_t{8} << 20) / 26 * 26;
  EXPECT_EQ(split.next_chunk()->size(), whole);
  EXPECT_EQ(split.next_chunk()->size(), whole);
  InputSplit long_line(directory / "x.txt", {.type = SplitType::kText});
  EXPECT_EQ(long_line.next_record()->size(), size_t{20} << 20);
}

TEST(InputSplit, record_longer_than_a_chunk_comes_whole) {
  SplitDirectory directory;
  const std::vector<std::string> payloads{"a", std::string(5000, 'b'), "c",
                                          std::string(70000, 'd') + kMagicText, "e"};
  directory.add_records("x.rec", payloads);
  for (const uint64_t chunk : {1, 7, 8, 64, 4999, 6000}) {
    InputSplit split(directory.list(), {.chunk_bytes = chunk});
    EXPECT_EQ(records_left(split), payloads) << chunk;
  }
}

TEST(InputSplit, next_chunk_after_records_gives_the_rest_of_theirs) {
  SplitDirectory directory;
  directory.add("x.txt", "one\ntwo\nthree\n");
  InputSplit split(directory.list(), {.type = SplitType::kText});
  EXPECT_EQ(as_text(*split.next_record()), "one");
  EXPECT_TRUE(split.has_record_at_hand());
  EXPECT_EQ(as_text(*split.next_chunk()), "two\nthree\n");
  EXPECT_FALSE(split.has_record_at_hand());
  EXPECT_FALSE(split.next_chunk());
}

TEST(InputSplit, batches_have_the_records_asked_for_over_chunks_and_passes) {
  SplitDirectory directory;
  directory.add_records("x.rec", numbered_records(37));
  for (const uint64_t chunk : {20, 100, 10000}) {
    InputSplit split(directory.list(), {.chunk_bytes = chunk});
    std::vector<size_t> sizes;
    for (int pass = 0; pass < 3; ++pass) {
      std::vector<std::string> all;
      while (const auto batch = split.next_batch(10)) {
        const auto records = records_in(split, *batch);
        sizes.push_back(records.size());
        all.insert(all.end(), records.begin(), records.end());
      }
      EXPECT_EQ(all, numbered_records(37));
      split.before_first();
    }
    EXPECT_THAT(sizes, ElementsAre(10, 10, 10, 7, 3, 10, 10, 10, 4, 6, 10, 10, 10, 1));
    split.reset_partition(0, 1);
    EXPECT_EQ(records_in(split, *split.next_batch(10)).size(), 10u);
  }
  InputSplit split(directory.list());
  EXPECT_THROW(split.next_batch(0), InvalidArgumentError);
}

// A test vector of dmlc-core's indexed reader.
TEST(InputSplit, chunks_of_an_index_have_batch_size_records_and_stay_aligned_over_passes) {
  for (const bool shuffle : {false, true}) {
    Indexed indexed(10, shuffle);
    const auto split = indexed.open();
    std::vector<size_t> sizes;
    for (int pass = 0; pass < 3; ++pass) {
      while (const auto chunk = split->next_chunk()) {
        sizes.push_back(records_in(*split, *chunk).size());
      }
      split->before_first();
    }
    EXPECT_THAT(sizes, ElementsAre(10, 10, 10, 7, 3, 10, 10, 10, 4, 6, 10, 10, 10, 1));
  }
}

TEST(InputSplit, before_first_in_the_middle_leaves_no_debt_whatever_was_read_ahead) {
  Indexed indexed(20);
  const auto split = indexed.open();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(records_in(*split, *split->next_chunk()).size(), 20u);
    split->before_first();
  }
}

TEST(InputSplit, shuffled_passes_differ_and_repeat_with_the_seed) {
  Indexed indexed(8, true);
  std::vector<std::vector<std::string>> passes[2];
  for (auto& of : passes) {
    const auto split = indexed.open();
    for (int pass = 0; pass < 3; ++pass) {
      of.push_back(records_left(*split));
      split->before_first();
    }
  }
  EXPECT_EQ(passes[0], passes[1]);
  EXPECT_NE(passes[0][0], passes[0][1]);
  EXPECT_NE(passes[0][1], passes[0][2]);
  indexed.options.seed = 1;
  EXPECT_NE(records_left(*indexed.open()), passes[0][0]);
  for (auto& pass : passes[0]) {
    std::sort(pass.begin(), pass.end(),
              [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); });
    EXPECT_EQ(pass, indexed.payloads);
  }
}

// As upstream: a record that the index lacks is read with the record before it.
TEST(InputSplit, index_of_every_other_record_still_gives_all) {
  Indexed indexed(4);
  std::string index;
  size_t line = 0;
  std::istringstream lines(index_of(indexed.file));
  for (std::string text; std::getline(lines, text); ++line) {
    if (line % 2 == 0) index += text + "\n";
  }
  write_file(indexed.options.index_uri, index);
  EXPECT_EQ(records_left(*indexed.open()), indexed.payloads);
}

TEST(InputSplit, index_of_other_data_is_refused) {
  Indexed indexed;
  const auto refused = [&](const std::string& index) {
    write_file(indexed.options.index_uri, index);
    return refusal_of<CorruptError>([&] { indexed.open(); });
  };
  EXPECT_THAT(refused(""), HasSubstr("expected an entry for each record, found an empty index"));
  EXPECT_THAT(refused("0\t12\n"), HasSubstr("expected an entry with offset 0, found 12 as"));
  EXPECT_THAT(refused("0\t0\n1\t12\n2\t12\n"),
              HasSubstr("expected a different offset in each entry, found 12"));
  EXPECT_THAT(refused("0\t0\n1\t99999999\n"), HasSubstr("expected offsets below"));
  EXPECT_THAT(refused("0 0\n"), HasSubstr("line 1 of the index is invalid"));
  write_file(indexed.options.index_uri, "0\t0\n1\t16\n2\t28\n");
  indexed.options.batch_size = 1;
  EXPECT_THROW(records_left(*indexed.open()), CorruptError);
}

TEST(InputSplit, options_that_contradict_each_other_are_refused) {
  Indexed indexed;
  const auto refused = [&](const InputSplitOptions& options) {
    return refusal_of<InvalidArgumentError>([&] { InputSplit(indexed.path, options); });
  };
  EXPECT_THAT(refused({.type = SplitType::kIndexedRecordIo}), HasSubstr("needs an index"));
  EXPECT_THAT(refused({.index_uri = "x.idx"}), HasSubstr("this type does not use an index"));
  EXPECT_THAT(refused({.shuffle = true}), HasSubstr("cannot be shuffled one by one"));
  EXPECT_THAT(refused({.part = 2, .nsplit = 2}), HasSubstr("`part` is out of range"));
  EXPECT_THAT(refused({.chunk_bytes = 0}), HasSubstr("the chunk size is 0 bytes"));
  InputSplitOptions options = indexed.options;
  options.shuffle_parts = 2;
  EXPECT_THAT(refused(options), HasSubstr("no sub-parts"));
  options = indexed.options;
  options.batch_size = 0;
  EXPECT_THAT(refused(options), HasSubstr("`batch_size` is 0"));
}

TEST(InputSplit, shuffled_sub_parts_keep_their_inner_order) {
  SplitDirectory directory;
  directory.add_records("x.rec", numbered_records(1000));
  InputSplit plain(directory.list(), {.part = 1, .nsplit = 2});
  const std::vector<std::string> in_order = records_left(plain);
  InputSplit split(directory.list(), {.part = 1, .nsplit = 2, .shuffle_parts = 10});
  const std::vector<std::string> first = records_left(split);
  split.before_first();
  const std::vector<std::string> second = records_left(split);
  EXPECT_NE(first, in_order);
  EXPECT_NE(first, second);
  EXPECT_TRUE(std::is_permutation(first.begin(), first.end(), second.begin(), second.end()));
  int breaks = 0;
  for (size_t i = 1; i < first.size(); ++i) {
    if (std::stoi(first[i]) != std::stoi(first[i - 1]) + 1) ++breaks;
  }
  EXPECT_LT(breaks, 10);
  EXPECT_THROW(split.reset_partition(0, 3), InvalidArgumentError);
  split.reset_partition(0, 2);
  std::vector<std::string> all = records_left(split);
  all.insert(all.end(), second.begin(), second.end());
  const std::vector<std::string> everything = numbered_records(1000);
  EXPECT_TRUE(std::is_permutation(all.begin(), all.end(), everything.begin(), everything.end()));
}

TEST(InputSplit, total_size_is_of_all_files) {
  SplitDirectory directory;
  directory.add("a", "abc\n");
  directory.add("b", "defgh\n");
  InputSplit split(directory.list(), {.type = SplitType::kText, .part = 1, .nsplit = 3});
  EXPECT_EQ(split.total_size(), 10u);
  EXPECT_THAT(split.files(), ElementsAre(directory / "a", directory / "b"));
}

class DamagedFile : public ::testing::Test {
 protected:
  std::string refused(const std::string& contents) {
    directory.add("x.rec", contents);
    std::string said;
    try {
      InputSplit split(directory / "x.rec");
      while (split.next_record()) ++delivered;
    } catch (const CorruptError& error) {
      said = std::string("corrupt: ") + error.what();
    } catch (const TruncatedError& error) {
      said = std::string("truncated: ") + error.what();
    }
    return said;
  }
  SplitDirectory directory;
  const std::string file = framed_records({"aaaa", "bbbb", "cccc"});  // of 12 bytes each
  int delivered = 0;
};

TEST_F(DamagedFile, overwritten_magic_is_reported_with_its_place) {
  std::string damaged = file;
  damaged[13] = 'x';
  EXPECT_THAT(refused(damaged), AllOf(HasSubstr("corrupt: "), HasSubstr("x.rec: offset 12: "),
                                      HasSubstr("magic number is wrong")));
  EXPECT_EQ(delivered, 1);
}

TEST_F(DamagedFile, missing_end_is_reported_with_its_place) {
  EXPECT_THAT(refused(file.substr(0, 32)), AllOf(HasSubstr("truncated: "), HasSubstr("offset 24"),
                                                 HasSubstr("the data ends inside a record")));
  EXPECT_EQ(delivered, 2);
}

TEST_F(DamagedFile, size_that_is_no_multiple_of_four_is_reported) {
  EXPECT_THAT(refused(file + "x"),
              HasSubstr("size of the RecordIO file is not a multiple of 4: found 37 bytes"));
}

TEST_F(DamagedFile, length_that_reaches_into_the_next_record_is_reported) {
  std::string damaged = file;
  damaged[4] = 100;
  write_file(directory / "y.rec", file);
  InputSplitOptions options;
  options.chunk_bytes = 24;
  directory.add("x.rec", damaged);
  InputSplit split(directory / "x.rec", options);
  const std::string said = refusal_of<CorruptError>([&] { split.next_record(); });
  EXPECT_THAT(said, HasSubstr("offset 0: a record extends past the beginning of the next record"));
  EXPECT_EQ(refusal_of<CorruptError>([&] { split.next_record(); }), said);
}

TEST_F(DamagedFile, cut_file_does_not_eat_the_next_ones_records) {
  directory.add("a.rec", file.substr(0, 32));
  directory.add("b.rec", file);
  InputSplit split(directory.list());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(split.next_record());
  EXPECT_THAT(refusal_of<TruncatedError>([&] { split.next_record(); }),
              HasSubstr("a.rec: offset 24"));
}

TEST_F(DamagedFile, data_without_any_record_are_not_read_into_memory) {
  const std::string contents(size_t{1} << 20, 'x');
  directory.add("x.rec", contents);
  InputSplit split(directory.list(), {.chunk_bytes = 64});
  EXPECT_THAT(refusal_of<CorruptError>([&] { split.next_chunk(); }),
              HasSubstr("x.rec: offset 0: the record's magic number is wrong"));
}

TEST_F(DamagedFile, batch_before_the_damage_comes_first) {
  std::string damaged = file;
  damaged[25] = 'x';
  directory.add("x.rec", damaged);
  InputSplit split(directory.list());
  EXPECT_EQ(records_in(split, *split.next_batch(10)).size(), 2u);
  EXPECT_THROW(split.next_batch(10), CorruptError);
}

TEST(InputSplit, failing_storage_is_an_error_and_never_other_records) {
  FileSystem& memory = memory_file_system();
  const auto sink = memory.create("memory://faults.rec");
  sink->write(as_bytes(framed_records(numbered_records(200))));
  sink->commit();
  FaultyFileSystem faulty(memory);
  const FileSystemOverride instead("memory", faulty);
  bool finished = false;
  for (uint64_t operation = 0; !finished; ++operation) {
    ASSERT_LT(operation, 200u);
    faulty.arm(Fault::kError, operation);
    std::vector<std::string> records;
    try {
      InputSplit split("memory://faults.rec", {.part = 1, .nsplit = 2, .chunk_bytes = 300});
      records = records_left(split);
      finished = true;
    } catch (const IoError&) {
    }
  }
}

TEST(InputSplit, file_that_changed_its_size_is_an_error) {
  SplitDirectory directory;
  for (int i = 0; i < 100; ++i) directory.add_records(std::to_string(i), {std::to_string(i)});
  InputSplit split(directory.list());
  write_file(directory / "50", framed_records({"another", "size"}));
  EXPECT_THROW(records_left(split), IoError);
}

TEST(InputSplit, fork_before_the_first_read_changes_nothing) {
  SplitDirectory directory;
  directory.add_records("x.rec", numbered_records(10));
  InputSplit split(directory.list());
  split.before_first();
  EXPECT_EQ(in_forked_child([&] { return std::to_string(records_left(split).size()); }), "10");
  EXPECT_EQ(records_left(split).size(), 10u);
}

TEST(InputSplit, fork_after_it_is_an_error_in_the_child_and_nothing_in_the_parent) {
  SplitDirectory directory;
  directory.add_records("x.rec", numbered_records(10));
  auto split = std::make_unique<InputSplit>(directory.list());
  EXPECT_EQ(as_text(*split->next_record()), "0");
  const std::string said = in_forked_child([&] {
    const std::string refused = refusal_of<StateError>([&] { split->next_record(); });
    refusal_of<StateError>([&] { split->next_chunk(); });
    refusal_of<StateError>([&] { split->next_batch(1); });
    refusal_of<StateError>([&] { split->before_first(); });
    refusal_of<StateError>([&] { split->reset_partition(0, 1); });
    const uint64_t size = split->total_size();
    split.reset();
    return refused + std::to_string(size);
  });
  EXPECT_THAT(said, AllOf(HasSubstr("belongs to the parent"), HasSubstr("120")));
  EXPECT_EQ(records_left(*split).size(), 9u);
}

TEST(InputSplit, dropped_at_any_time_it_leaves_nothing_behind) {
  SplitDirectory directory;
  directory.add_records("x.rec", numbered_records(1000));
  for (int taken = 0; taken < 40; ++taken) {
    InputSplit split(directory.list(), {.chunk_bytes = 100});
    for (int i = 0; i < taken; ++i) split.next_record();
  }
}

}  // namespace
}  // namespace fuelrail::split
