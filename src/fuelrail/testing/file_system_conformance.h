// The conformance suite for file systems and their sinks. The test of an implementation defines a
// maker and instantiates the suite:
//
//   struct MemoryFiles { FileSystem& file_system(); std::string directory(); };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Memory, FileSystemConformance, MemoryFiles);
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail {

// Requires of Maker: `FileSystem& file_system()`, and `std::string directory()`, which returns the
// URI of an empty directory for this maker only.
template <typename Maker>
class FileSystemConformance : public ::testing::Test {
 protected:
  FileSystem& files() { return maker_.file_system(); }
  std::string at(const std::string& name) { return join_uri(maker_.directory(), name); }

  void put(const std::string& uri, std::string_view contents) {
    const auto sink = files().create(uri);
    sink->write(as_bytes(contents));
    sink->commit();
  }

  static std::string contents_of(const Source& source) {
    std::string contents(source.size_bytes(), '\0');
    source.read(0, std::as_writable_bytes(std::span(contents)));
    return contents;
  }
  std::string get(const std::string& uri) { return contents_of(*files().open(uri)); }

  std::vector<std::string> names(const std::string& uri) {
    std::vector<std::string> found;
    for (const FileInfo& info : files().list(uri)) found.push_back(base_name(info.uri));
    return found;
  }

 private:
  Maker maker_;
};

TYPED_TEST_SUITE_P(FileSystemConformance);

TYPED_TEST_P(FileSystemConformance, what_is_written_and_committed_is_read) {
  std::string expected;
  const auto sink = this->files().create(this->at("a.bin"));
  EXPECT_EQ(sink->uri(), this->at("a.bin"));
  for (size_t size : {size_t{0}, size_t{1}, size_t{70'000}, size_t{3'000'000}, size_t{1'048'576},
                      size_t{1'000'000}, size_t{48'576}, size_t{5}}) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    sink->write(as_bytes(piece));
    expected += piece;
    EXPECT_EQ(sink->position(), expected.size());
  }
  sink->commit();
  EXPECT_EQ(this->get(this->at("a.bin")), expected);
}

TYPED_TEST_P(FileSystemConformance, an_empty_file_can_be_written) {
  this->files().create(this->at("empty"))->commit();
  EXPECT_EQ(this->get(this->at("empty")), "");
}

TYPED_TEST_P(FileSystemConformance, nothing_has_the_final_name_before_commit) {
  this->put(this->at("x"), "old");
  const auto sink = this->files().create(this->at("x"));
  sink->write(as_bytes("new"));
  EXPECT_EQ(this->get(this->at("x")), "old");
  sink->commit();
  EXPECT_EQ(this->get(this->at("x")), "new");
}

TYPED_TEST_P(FileSystemConformance, sync_gives_no_name_and_writing_goes_on) {
  const auto sink = this->files().create(this->at("x"));
  sink->write(as_bytes("abc"));
  sink->sync();
  EXPECT_FALSE(this->files().stat(this->at("x")).has_value());
  sink->write(as_bytes("de"));
  EXPECT_EQ(sink->position(), 5u);
  sink->commit();
  EXPECT_EQ(this->get(this->at("x")), "abcde");
}

TYPED_TEST_P(FileSystemConformance, what_was_appended_can_be_replaced_read_back_and_cut_off) {
  // Small and large appends, so that some bytes are still buffered in memory and others are not.
  std::string expected;
  const auto sink = this->files().create(this->at("x"));
  const auto append = [&](size_t size) {
    const std::string piece(size, static_cast<char>('a' + expected.size() % 26));
    sink->write(as_bytes(piece));
    expected += piece;
  };
  const auto replace = [&](size_t offset, size_t size) {
    const std::string piece(size, static_cast<char>('A' + offset % 26));
    sink->rewrite(offset, as_bytes(piece));
    expected.replace(offset, size, piece);
  };
  const auto cut = [&](size_t size) {
    sink->truncate(size);
    expected.resize(size);
  };
  const auto check = [&] {
    ASSERT_EQ(sink->position(), expected.size());
    std::string found(expected.size(), '?');
    sink->read_back(0, std::as_writable_bytes(std::span(found)));
    EXPECT_TRUE(found == expected);
  };
  append(100);
  replace(0, 12);
  check();
  append(2'000'000);
  append(7);
  replace(99, 1'000'000);
  replace(2'000'107, 0);
  check();
  append(5);
  cut(2'000'109);
  append(30);
  check();
  cut(0);
  append(10);
  replace(3, 7);
  cut(10);
  append(3'000'000);
  cut(2'999'999);
  check();
  sink->sync();
  replace(1, 2);
  append(1);
  sink->commit();
  EXPECT_TRUE(this->get(this->at("x")) == expected);
}

TYPED_TEST_P(FileSystemConformance, what_was_not_appended_can_be_neither_replaced_nor_read_back) {
  const auto sink = this->files().create(this->at("x"));
  sink->write(as_bytes("abcde"));
  const std::string two = "xy";
  std::vector<std::byte> into(2, std::byte{7});
  for (const uint64_t offset : {uint64_t{4}, uint64_t{6}, ~uint64_t{0}}) {
    EXPECT_THROW(sink->rewrite(offset, as_bytes(two)), OutOfRangeError);
    EXPECT_THROW(sink->read_back(offset, into), OutOfRangeError);
  }
  EXPECT_THROW(sink->truncate(6), OutOfRangeError);
  EXPECT_EQ(into, std::vector<std::byte>(2, std::byte{7}));
  sink->rewrite(3, as_bytes(two));  // the failed calls changed nothing
  sink->commit();
  EXPECT_EQ(this->get(this->at("x")), "abcxy");
  EXPECT_THROW(sink->rewrite(0, as_bytes(two)), StateError);
  EXPECT_THROW(sink->read_back(0, into), StateError);
  EXPECT_THROW(sink->truncate(0), StateError);
}

TYPED_TEST_P(FileSystemConformance, a_sink_without_commit_leaves_nothing) {
  {
    const auto sink = this->files().create(this->at("x"));
    sink->write(as_bytes("abc"));
  }
  EXPECT_TRUE(this->files().list(this->at("")).empty());
  this->put(this->at("x"), "kept");
  this->files().create(this->at("x"))->write(as_bytes("abc"));
  EXPECT_EQ(this->get(this->at("x")), "kept");
  EXPECT_EQ(this->names(this->at("")), std::vector<std::string>{"x"});
}

TYPED_TEST_P(FileSystemConformance, writing_after_commit_is_refused) {
  const auto sink = this->files().create(this->at("x"));
  sink->commit();
  EXPECT_THROW(sink->write(as_bytes("a")), StateError);
  EXPECT_THROW(sink->commit(), StateError);
}

TYPED_TEST_P(FileSystemConformance, two_writers_of_one_name_do_not_mix) {
  const auto first = this->files().create(this->at("x"));
  const auto second = this->files().create(this->at("x"));
  first->write(as_bytes("first"));
  second->write(as_bytes("second, longer"));
  first->commit();
  EXPECT_EQ(this->get(this->at("x")), "first");
  second->commit();
  EXPECT_EQ(this->get(this->at("x")), "second, longer");
  EXPECT_EQ(this->names(this->at("")), std::vector<std::string>{"x"});
}

TYPED_TEST_P(FileSystemConformance, a_new_file_gets_a_name_that_is_free) {
  const auto sink = this->files().create(this->at("x"));
  sink->write(as_bytes("abc"));
  EXPECT_TRUE(sink->commit_new());
  EXPECT_EQ(this->get(this->at("x")), "abc");
  EXPECT_EQ(this->names(this->at("")), std::vector<std::string>{"x"});
  EXPECT_THROW(sink->write(as_bytes("a")), StateError);
}

TYPED_TEST_P(FileSystemConformance, a_new_file_replaces_nothing) {
  {
    const auto late = this->files().create(this->at("x"));
    late->write(as_bytes("late"));
    this->put(this->at("x"), "early");
    EXPECT_FALSE(late->commit_new());
    EXPECT_EQ(this->get(this->at("x")), "early");
    EXPECT_THROW(late->write(as_bytes("a")), StateError);
    EXPECT_THROW(late->commit(), StateError);
  }
  EXPECT_EQ(this->get(this->at("x")), "early");
  EXPECT_EQ(this->names(this->at("")), std::vector<std::string>{"x"});
}

TYPED_TEST_P(FileSystemConformance, of_many_new_files_of_one_name_one_wins) {
  std::vector<char> won(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < won.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto sink = this->files().create(this->at("x"));
      sink->write(as_bytes("by " + std::to_string(t)));
      won[t] = sink->commit_new();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::count(won.begin(), won.end(), 1), 1);
  const auto winner = std::find(won.begin(), won.end(), 1) - won.begin();
  EXPECT_EQ(this->get(this->at("x")), "by " + std::to_string(winner));
}

TYPED_TEST_P(FileSystemConformance, an_open_source_keeps_its_bytes) {
  this->put(this->at("x"), "old bytes");
  const auto source = this->files().open(this->at("x"));
  this->put(this->at("x"), "new");
  EXPECT_EQ(this->contents_of(*source), "old bytes");
  this->files().remove(this->at("x"));
  EXPECT_EQ(this->contents_of(*source), "old bytes");
}

TYPED_TEST_P(FileSystemConformance, opening_refuses_what_is_no_file) {
  EXPECT_THROW(this->files().open(this->at("none")), NotFoundError);
  EXPECT_THROW(this->files().open(this->at("none/none")), NotFoundError);
  this->files().make_directory(this->at("directory"));
  EXPECT_THROW(this->files().open(this->at("directory")), InvalidArgumentError);
}

TYPED_TEST_P(FileSystemConformance, creating_refuses_what_cannot_be_a_file) {
  EXPECT_THROW(this->files().create(this->at("none/x")), NotFoundError);
  this->files().make_directory(this->at("directory"));
  EXPECT_THROW(this->files().create(this->at("directory")), InvalidArgumentError);
}

TYPED_TEST_P(FileSystemConformance, errors_name_the_uri) {
  try {
    this->files().open(this->at("none"));
    FAIL() << "nothing was thrown";
  } catch (const NotFoundError& error) {
    EXPECT_EQ(error.detail().path, this->at("none"));
  }
}

TYPED_TEST_P(FileSystemConformance, stat_tells_files_directories_and_nothing_apart) {
  this->put(this->at("x"), "12345");
  this->files().make_directory(this->at("directory"));
  const auto file = this->files().stat(this->at("x"));
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->uri, this->at("x"));
  EXPECT_EQ(file->size_bytes, 5u);
  EXPECT_FALSE(file->is_directory);
  const auto directory = this->files().stat(this->at("directory"));
  ASSERT_TRUE(directory.has_value());
  EXPECT_EQ(directory->size_bytes, 0u);
  EXPECT_TRUE(directory->is_directory);
  EXPECT_FALSE(this->files().stat(this->at("none")).has_value());
  EXPECT_FALSE(this->files().stat(this->at("x/below-a-file")).has_value());
}

TYPED_TEST_P(FileSystemConformance, list_is_sorted_by_code_point_and_not_recursive) {
  // Upper case before lower, "a-b" before "a" + anything above "-", UTF-8 last, in its own order.
  const std::vector<std::string> sorted{
      "B", "a", "a-b", "a.b", "a0", "b", "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x98\x80"};
  for (size_t i = 0; i < sorted.size(); ++i) {  // created in another order
    const std::string& name = sorted[(i * 5 + 3) % sorted.size()];
    if (name == "a-b") {
      this->files().make_directory(this->at("a-b"));
      this->put(this->at("a-b/inside"), "z");
    } else {
      this->put(this->at(name), name);
    }
  }
  EXPECT_EQ(this->names(this->at("")), sorted);
  EXPECT_EQ(this->names(this->at("a-b")), std::vector<std::string>{"inside"});
  for (const FileInfo& info : this->files().list(this->at(""))) {
    const std::string name = base_name(info.uri);
    EXPECT_EQ(info.is_directory, name == "a-b");
    EXPECT_EQ(info.size_bytes, info.is_directory ? 0 : name.size());
    EXPECT_EQ(info.uri, this->at(name));
  }
}

TYPED_TEST_P(FileSystemConformance, names_alone_are_listed_as_list_does) {
  this->put(this->at("b"), "1");
  this->files().make_directory(this->at("a"));
  this->put(this->at("a/inside"), "2");
  this->put(this->at("a-b"), "3");
  std::vector<std::string> found;
  for (const DirectoryEntry& entry : this->files().list_names(this->at(""))) {
    found.push_back(entry.name + (entry.is_directory ? "/" : ""));
  }
  EXPECT_EQ(found, (std::vector<std::string>{"a/", "a-b", "b"}));
}

TYPED_TEST_P(FileSystemConformance, listing_refuses_what_is_no_directory) {
  EXPECT_THROW(this->files().list(this->at("none")), NotFoundError);
  EXPECT_THROW(this->files().list_names(this->at("none")), NotFoundError);
  this->put(this->at("x"), "1");
  EXPECT_THROW(this->files().list(this->at("x")), InvalidArgumentError);
  EXPECT_THROW(this->files().list_names(this->at("x")), InvalidArgumentError);
  this->files().make_directory(this->at("empty"));
  EXPECT_TRUE(this->files().list(this->at("empty")).empty());
}

TYPED_TEST_P(FileSystemConformance, removing_takes_files_only) {
  this->put(this->at("x"), "1");
  this->files().remove(this->at("x"));
  EXPECT_FALSE(this->files().stat(this->at("x")).has_value());
  EXPECT_NO_THROW(this->files().remove(this->at("x")));
  this->files().make_directory(this->at("directory"));
  EXPECT_THROW(this->files().remove(this->at("directory")), IoError);
}

TYPED_TEST_P(FileSystemConformance, renaming_replaces_what_has_the_name) {
  this->put(this->at("x"), "old");
  this->put(this->at("y"), "new");
  const auto old = this->files().open(this->at("x"));
  EXPECT_TRUE(old->is_still_named());
  this->files().rename(this->at("y"), this->at("x"));
  EXPECT_EQ(this->names(this->at("")), std::vector<std::string>{"x"});
  EXPECT_EQ(this->get(this->at("x")), "new");
  EXPECT_FALSE(old->is_still_named());
  EXPECT_TRUE(this->files().open(this->at("x"))->is_still_named());
  this->files().rename(this->at("x"), this->at("y"));
  EXPECT_FALSE(old->is_still_named());
  EXPECT_EQ(this->names(this->at("")), std::vector<std::string>{"y"});
}

TYPED_TEST_P(FileSystemConformance, renaming_refuses_what_is_no_file) {
  EXPECT_THROW(this->files().rename(this->at("none"), this->at("x")), NotFoundError);
  this->put(this->at("x"), "1");
  this->files().make_directory(this->at("directory"));
  EXPECT_THROW(this->files().rename(this->at("x"), this->at("directory")), IoError);
  EXPECT_EQ(this->get(this->at("x")), "1");
}

TYPED_TEST_P(FileSystemConformance, make_directory_makes_parents_and_may_be_repeated) {
  this->files().make_directory(this->at("a/b/c"));
  this->files().make_directory(this->at("a/b/c"));
  EXPECT_EQ(this->names(this->at("a/b")), std::vector<std::string>{"c"});
  this->put(this->at("x"), "1");
  EXPECT_THROW(this->files().make_directory(this->at("x")), IoError);
  EXPECT_THROW(this->files().make_directory(this->at("x/y")), IoError);
}

TYPED_TEST_P(FileSystemConformance, a_lazy_source_reads_and_sees_changes_of_size) {
  this->put(this->at("x"), "12345");
  const auto source = this->files().open_lazily(*this->files().stat(this->at("x")));
  EXPECT_EQ(source->uri(), this->at("x"));
  EXPECT_EQ(source->size_bytes(), 5u);
  EXPECT_EQ(this->contents_of(*source), "12345");
  this->put(this->at("x"), "123456");
  EXPECT_THROW(this->contents_of(*source), IoError);
  this->files().remove(this->at("x"));
  EXPECT_THROW(this->contents_of(*source), NotFoundError);
}

TYPED_TEST_P(FileSystemConformance, a_lazy_source_needs_no_file_before_its_first_read) {
  const auto source = this->files().open_lazily({this->at("later"), 3, false});
  EXPECT_THROW(this->contents_of(*source), NotFoundError);
  this->put(this->at("later"), "now");
  EXPECT_EQ(this->contents_of(*source), "now");
}

TYPED_TEST_P(FileSystemConformance, a_lazy_source_says_what_it_is_to_be_shown_as) {
  this->put(this->at("x"), "12345");
  const auto source = this->files().open_lazily(*this->files().stat(this->at("x")), "shown");
  EXPECT_EQ(source->uri(), "shown");
  EXPECT_EQ(this->contents_of(*source), "12345");
  this->files().remove(this->at("x"));
  try {
    this->contents_of(*source);
    FAIL() << "nothing was thrown";
  } catch (const NotFoundError& error) {
    EXPECT_EQ(error.detail().path, "shown");
  }
}

TYPED_TEST_P(FileSystemConformance, an_absolute_name_is_its_own_and_names_the_same_file) {
  this->put(this->at("x"), "12345");
  const std::string absolute = this->files().absolute(this->at("x"));
  EXPECT_EQ(this->get(absolute), "12345");
  EXPECT_EQ(this->files().absolute(absolute), absolute);
}

TYPED_TEST_P(FileSystemConformance, threads_create_list_and_remove_at_once) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const std::string mine = this->at("t" + std::to_string(t));
      for (int i = 0; i < 20; ++i) {
        this->put(mine, mine);
        this->files().list(this->at(""));
        EXPECT_EQ(this->get(mine), mine);
        this->files().remove(mine);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(this->files().list(this->at("")).empty());
}

REGISTER_TYPED_TEST_SUITE_P(
    FileSystemConformance, what_is_written_and_committed_is_read, an_empty_file_can_be_written,
    nothing_has_the_final_name_before_commit, sync_gives_no_name_and_writing_goes_on,
    what_was_appended_can_be_replaced_read_back_and_cut_off,
    what_was_not_appended_can_be_neither_replaced_nor_read_back,
    a_sink_without_commit_leaves_nothing, writing_after_commit_is_refused,
    two_writers_of_one_name_do_not_mix, a_new_file_gets_a_name_that_is_free,
    a_new_file_replaces_nothing, of_many_new_files_of_one_name_one_wins,
    an_open_source_keeps_its_bytes, opening_refuses_what_is_no_file,
    creating_refuses_what_cannot_be_a_file, errors_name_the_uri,
    stat_tells_files_directories_and_nothing_apart, list_is_sorted_by_code_point_and_not_recursive,
    names_alone_are_listed_as_list_does, listing_refuses_what_is_no_directory,
    removing_takes_files_only, renaming_replaces_what_has_the_name,
    renaming_refuses_what_is_no_file, make_directory_makes_parents_and_may_be_repeated,
    a_lazy_source_reads_and_sees_changes_of_size, a_lazy_source_needs_no_file_before_its_first_read,
    a_lazy_source_says_what_it_is_to_be_shown_as,
    an_absolute_name_is_its_own_and_names_the_same_file, threads_create_list_and_remove_at_once);

}  // namespace fuelrail
