#include "fuelrail/storage/local/local_file_system.h"

#include <sys/stat.h>

#include <filesystem>

#include "fuelrail/testing/file_system_conformance.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

struct PlainPaths {
  FileSystem& file_system() { return local_file_system(); }
  std::string directory() { return temporary.path(); }
  TemporaryDirectory temporary;
};

struct FileUris : PlainPaths {
  std::string directory() { return "file://" + temporary.path(); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Local, FileSystemConformance, PlainPaths);
INSTANTIATE_TYPED_TEST_SUITE_P(LocalUris, FileSystemConformance, FileUris);

std::vector<std::string> names(const std::string& directory) {
  std::vector<std::string> found;
  for (const FileInfo& info : local_file_system().list(directory)) {
    found.push_back(base_name(info.uri));
  }
  return found;
}

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LocalFileSystem, links_are_followed_and_dangling_ones_left_out) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "12345");
  std::filesystem::create_directory(directory / "folder");
  std::filesystem::create_symlink("file", directory / "to-file");
  std::filesystem::create_symlink("folder", directory / "to-folder");
  std::filesystem::create_symlink("nothing", directory / "dangling");
  std::filesystem::create_symlink("itself", directory / "itself");
  EXPECT_THAT(names(directory.path()), ElementsAre("file", "folder", "to-file", "to-folder"));
  const auto entries = local_file_system().list(directory.path());
  EXPECT_EQ(entries[2].size_bytes, 5u);
  EXPECT_TRUE(entries[3].is_directory);
}

TEST(LocalFileSystem, names_of_dangling_links_and_pipes_are_listed_as_files) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "folder");
  std::filesystem::create_symlink("folder", directory / "to-folder");
  std::filesystem::create_symlink("nothing", directory / "dangling");
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", directory / "to-pipe");
  std::vector<std::string> found;
  for (const DirectoryEntry& entry : local_file_system().list_names(directory.path())) {
    found.push_back(entry.name + (entry.is_directory ? "/" : ""));
  }
  EXPECT_THAT(found, ElementsAre("dangling", "folder/", "pipe", "to-folder/", "to-pipe"));
}

TEST(LocalFileSystem, pipes_are_left_out_of_lists) {
  const TemporaryDirectory directory;
  write_file(directory / "file", "");
  ASSERT_EQ(::mkfifo((directory / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(names(directory.path()), ElementsAre("file"));
}

TEST(LocalFileSystem, an_unreadable_directory_is_an_io_error_that_names_it) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  std::filesystem::create_directory(directory / "closed");
  ASSERT_EQ(::chmod((directory / "closed").c_str(), 0), 0);
  const std::string message = in_unprivileged_child([&]() -> std::string {
    try {
      local_file_system().list(directory / "closed");
    } catch (const IoError& error) {
      return error.what();
    }
    return "no error";
  });
  EXPECT_THAT(message, HasSubstr(directory / "closed"));
  EXPECT_THAT(message, HasSubstr("Permission denied"));
}

TEST(LocalFileSystem, an_unreadable_file_is_an_io_error_and_not_missing) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  write_file(directory / "x", "secret");
  write_file(directory / "closed/x", "secret");
  ASSERT_EQ(::chmod((directory / "x").c_str(), 0), 0);
  ASSERT_EQ(::chmod((directory / "closed").c_str(), 0), 0);
  const std::string message = in_unprivileged_child([&]() -> std::string {
    std::string said;
    try {
      local_file_system().open(directory / "x");
    } catch (const IoError& error) {
      said += error.what();
    }
    try {
      local_file_system().stat(directory / "closed/x");
    } catch (const IoError& error) {
      said += error.what();
    }
    return said;
  });
  EXPECT_THAT(message, HasSubstr(directory / "x"));
  EXPECT_THAT(message, HasSubstr(directory / "closed/x"));
}

TEST(LocalFileSystem, names_of_one_file_have_one_inode) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "1");
  write_file(directory / "y", "1");
  std::filesystem::create_symlink("x", directory / "link");
  std::filesystem::create_hard_link(directory / "x", directory / "second");
  const auto same = [&](const char* name) {
    const FileInfo x = *local_file_system().stat(directory / "x");
    const FileInfo other = *local_file_system().stat(directory / name);
    EXPECT_NE(other.inode, 0u);
    return x.device == other.device && x.inode == other.inode;
  };
  EXPECT_TRUE(same("link"));
  EXPECT_TRUE(same("second"));
  EXPECT_FALSE(same("y"));
}

TEST(LocalFileSystem, names_of_one_directory_have_one_identity) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "a/b");
  std::filesystem::create_directory_symlink("a", directory / "link");
  const auto identity = [](const std::string& uri) {
    return identity_of(*local_file_system().stat(uri));
  };
  const std::string a = identity(directory / "a");
  for (const std::string& uri :
       {directory / "a/", directory / "a/b/..", directory / "link", directory / "link/",
        "file://" + directory / "a", "file://localhost" + directory / "link/."}) {
    EXPECT_EQ(identity(uri), a) << uri;
  }
  EXPECT_EQ(identity_of(local_file_system().list("file://" + directory.path()).front()), a);
  EXPECT_NE(identity(directory / "a/b"), a);
}

TEST(LocalFileSystem, file_uris_hold_absolute_paths_of_this_machine) {
  EXPECT_TRUE(local_file_system().stat("file:///tmp").has_value());
  EXPECT_TRUE(local_file_system().stat("file://localhost/tmp").has_value());
  EXPECT_THROW(local_file_system().stat("file://elsewhere/tmp"), InvalidArgumentError);
}

TEST(LocalFileSystem, paths_that_cannot_be_are_refused) {
  EXPECT_THROW(local_file_system().open(""), InvalidArgumentError);
  EXPECT_THROW(local_file_system().open(std::string("/tmp\0x", 6)), InvalidArgumentError);
  EXPECT_THROW(local_file_system().create("/tmp/"), InvalidArgumentError);
}

}  // namespace
}  // namespace fuelrail
