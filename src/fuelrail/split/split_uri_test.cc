#include "fuelrail/split/split_uri.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::split {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::refusal_of;

TEST(SplitUri, list_arguments_and_cache_are_told_apart) {
  const SplitUri uri = parse_split_uri("a/x.rec;b/;c?format=libsvm&k=#tmp/cache?x");
  EXPECT_THAT(uri.items, ElementsAre("a/x.rec", "b/", "c"));
  EXPECT_THAT(uri.arguments, ElementsAre(Pair("format", "libsvm"), Pair("k", "")));
  EXPECT_EQ(uri.cache, "tmp/cache?x");
  const SplitUri plain = parse_split_uri("x.rec;");
  EXPECT_THAT(plain.items, ElementsAre("x.rec"));
  EXPECT_THAT(plain.arguments, IsEmpty());
  EXPECT_EQ(plain.cache, "");
}

TEST(SplitUri, what_the_grammar_does_not_have_is_refused) {
  for (const char* uri :
       {"a#b#c", "a?k=v?k=v", "a?k", "a?=v", "a?", "a?k=v&", "", ";", "a;;b", ";a", "a#", "?k=v"}) {
    EXPECT_THROW(parse_split_uri(uri), InvalidArgumentError) << uri;
  }
  EXPECT_EQ(refusal_of<InvalidArgumentError>([] { parse_split_uri("a?b?c"); }),
            "a?b?c: the URI has '?' more than once: expected item;item?key=value&key=value#cache. "
            "Rename files that have '?' in their names.");
}

class SplitFilesFound : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"n2.txt", "n1.txt", "n10.txt", "m.txt", "sub/s.txt", "sub/deep/d.txt"})
      write_file(directory / name, name);
    write_file(directory / "empty.txt", "");
  }
  // Names relative to the directory.
  std::vector<std::string> found(const std::string& uri, bool recurse = false) {
    std::vector<std::string> names;
    for (const FileInfo& file : find_split_files(parse_split_uri(uri), recurse).files) {
      EXPECT_GT(file.size_bytes, 0u);
      names.push_back(file.uri.substr(directory.path().size() + 1));
    }
    return names;
  }
  TemporaryDirectory directory;
};

TEST_F(SplitFilesFound, files_keep_the_lists_order) {
  EXPECT_THAT(found(directory / "n2.txt;" + directory / "n1.txt;" + directory / "n2.txt"),
              ElementsAre("n2.txt", "n1.txt", "n2.txt"));
}

TEST_F(SplitFilesFound, directory_is_its_files_sorted_without_empty_ones) {
  EXPECT_THAT(found(directory.path()), ElementsAre("m.txt", "n1.txt", "n10.txt", "n2.txt"));
  EXPECT_THAT(found(directory.path() + "/"), ElementsAre("m.txt", "n1.txt", "n10.txt", "n2.txt"));
}

TEST_F(SplitFilesFound, directories_below_come_level_by_level_when_asked_for) {
  EXPECT_THAT(found(directory.path(), true),
              ElementsAre("m.txt", "n1.txt", "n10.txt", "n2.txt", "sub/s.txt", "sub/deep/d.txt"));
}

TEST_F(SplitFilesFound, fuelrails_own_files_beside_data_are_no_data) {
  write_file(directory / "m.txt.frx", "sidecar");
  write_file(directory / "m.txt.partial", "half");
  EXPECT_THAT(found(directory.path()), ElementsAre("m.txt", "n1.txt", "n10.txt", "n2.txt"));
  EXPECT_THAT(found(directory / "m.txt.frx"), ElementsAre("m.txt.frx"));
}

TEST_F(SplitFilesFound, pattern_is_a_regular_expression_for_names_in_one_directory) {
  EXPECT_THAT(found(directory / "n.*\\.txt"), ElementsAre("n1.txt", "n10.txt", "n2.txt"));
  EXPECT_THAT(found(directory / "n[0-9][.]txt"), ElementsAre("n1.txt", "n2.txt"));
  EXPECT_THAT(found(directory / "(m|n2)\\.txt"), ElementsAre("m.txt", "n2.txt"));
  EXPECT_THROW(found(directory / "n*.txt"), NotFoundError);   // a shell pattern
  EXPECT_THROW(found(directory / "1\\.txt"), NotFoundError);  // must match the whole name
}

TEST_F(SplitFilesFound, name_comes_before_pattern) {
  write_file(directory / "n.*", "literal");
  EXPECT_THAT(found(directory / "n.*"), ElementsAre("n.*"));
}

TEST_F(SplitFilesFound, item_that_names_nothing_is_an_error_beside_others_too) {
  EXPECT_THAT(refusal_of<NotFoundError>([&] { found(directory / "m.txt;" + directory / "k.txt"); }),
              HasSubstr("k.txt: no such file or directory (item 2 of 2)"));
  EXPECT_EQ(refusal_of<NotFoundError>([&] { found("nope.txt"); }),
            "nope.txt: no such file or directory");
  EXPECT_THAT(refusal_of<NotFoundError>([&] { found(directory / "k*.txt"); }),
              HasSubstr("k*.txt: no file has this name or matches this pattern. Write"));
  EXPECT_THROW(found(directory / "none/x.txt"), NotFoundError);
}

TEST_F(SplitFilesFound, nothing_but_empty_files_is_an_error) {
  EXPECT_THAT(refusal_of<NotFoundError>([&] { found(directory / "empty.txt"); }),
              HasSubstr("every file is empty"));
}

TEST_F(SplitFilesFound, nothing_but_directories_is_another_error) {
  std::filesystem::create_directories(directory / "tree/below");
  write_file(directory / "tree/below/x.txt", "x");
  EXPECT_EQ(refusal_of<NotFoundError>([&] { found(directory / "tree"); }),
            directory / "tree" +
                ": the directory has no files. Give the directories that contain the files, or set "
                "recurse_directories if the reader has this option.");
  EXPECT_THAT(found(directory / "tree", true), ElementsAre("tree/below/x.txt"));
}

TEST_F(SplitFilesFound, pattern_that_is_none_says_so) {
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { found(directory / "n(.txt"); }),
              HasSubstr("the name is not a valid regular expression"));
}

TEST_F(SplitFilesFound, pattern_that_could_match_in_too_many_ways_ends) {
  write_file(directory / std::string(200, 'a'), "x");
  EXPECT_THROW(found(directory / "(a*)*(a*)*(a*)*b"), NotFoundError);
  EXPECT_EQ(found(directory / "((a*)*)*").size(), 1u);
}

TEST_F(SplitFilesFound, links_are_followed_and_dangling_ones_name_nothing) {
  std::filesystem::create_symlink(directory / "m.txt", directory / "link");
  std::filesystem::create_symlink(directory / "gone", directory / "dangling");
  EXPECT_THAT(found(directory / "link"), ElementsAre("link"));
  EXPECT_THROW(found(directory / "dangling"), NotFoundError);
}

TEST_F(SplitFilesFound, directory_that_links_to_itself_is_an_error) {
  std::filesystem::create_directory_symlink(directory.path(), directory / "sub/again");
  EXPECT_THROW(found(directory.path(), true), Error);
}

TEST_F(SplitFilesFound, directory_that_links_to_itself_more_than_once_is_an_error) {
  for (int i = 0; i < 320; ++i) {  // as many as let the third level exceed the limit
    std::filesystem::create_directory_symlink(directory.path(),
                                              directory / fmt::format("sub/{}", i));
  }
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { found(directory.path(), true); }),
              HasSubstr("nested too deeply"));
}

TEST(SplitUri, what_fuelrail_does_not_read_says_what_will_do) {
  const auto refused = [](const std::string& uri) {
    return refusal_of<UnsupportedError>([&] { find_split_files(parse_split_uri(uri), false); });
  };
  EXPECT_THAT(refused("stdin"), HasSubstr("Write the input to a file"));
  EXPECT_THAT(refused("s3://bucket/x.rec"),
              HasSubstr("Copy the file to a disk, or mount the bucket"));
  EXPECT_THAT(refused("hdfs://host/x.rec"), HasSubstr("hdfs dfs -get"));
  EXPECT_THAT(refused("viewfs://host/x.rec"), HasSubstr("hdfs dfs -get"));
  EXPECT_THROW(find_split_files(parse_split_uri("nofs://x"), false), InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail::split
