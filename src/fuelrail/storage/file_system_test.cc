#include "fuelrail/storage/file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/storage/memory/memory_file_system.h"

namespace fuelrail {
namespace {

TEST(FileSystem, plain_paths_and_file_uris_are_local) {
  for (const char* uri : {"a.rec", "/data/a.rec", "./a b", "file:///data/a.rec", "FILE:///a",
                          "odd:name", "dir/with://inside", "://x", "9s://x"}) {
    EXPECT_EQ(&file_system_for(uri), &local_file_system()) << uri;
  }
}

TEST(FileSystem, memory_uris_are_memory) {
  EXPECT_EQ(&file_system_for("memory://a/b"), &memory_file_system());
}

TEST(FileSystem, a_store_that_is_not_read_yet_is_unsupported_with_a_remedy) {
  for (const char* scheme : {"http", "https", "s3", "gs", "azure", "hdfs", "S3"}) {
    try {
      file_system_for(std::string(scheme) + "://bucket/train.rec");
      ADD_FAILURE() << scheme;
    } catch (const UnsupportedError& error) {
      EXPECT_FALSE(error.detail().remedy.empty());
      EXPECT_THAT(error.what(), ::testing::HasSubstr("://bucket/train.rec"));
    }
  }
}

TEST(FileSystem, the_remedy_names_what_brings_the_file_here) {
  const auto remedy = [](const char* uri) -> std::string {
    try {
      file_system_for(uri);
    } catch (const UnsupportedError& error) {
      return error.detail().remedy;
    }
    return "";
  };
  EXPECT_THAT(remedy("https://host/train.rec"), ::testing::HasSubstr("curl"));
  EXPECT_THAT(remedy("s3://bucket/train.rec"), ::testing::HasSubstr("mount the bucket"));
  EXPECT_THAT(remedy("hdfs://node/train.rec"), ::testing::HasSubstr("hdfs dfs -get"));
}

TEST(FileSystem, an_override_stands_in_as_long_as_it_lives) {
  {
    const FileSystemOverride other("file", memory_file_system());
    EXPECT_EQ(&file_system_for("a.rec"), &memory_file_system());
    EXPECT_EQ(&file_system_for("file:///a.rec"), &memory_file_system());
  }
  EXPECT_EQ(&file_system_for("a.rec"), &local_file_system());
  EXPECT_THROW(FileSystemOverride("ftp", memory_file_system()), InvalidArgumentError);
}

TEST(FileSystem, an_unknown_scheme_is_refused_with_the_nearest_one) {
  try {
    file_system_for("memry://x");
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgumentError& error) {
    EXPECT_EQ(error.detail().remedy, "Did you mean 'memory'?");
  }
}

TEST(FileSystem, identity_without_an_inode_is_the_plain_name) {
  const auto identity = [](const char* uri) { return identity_of({.uri = uri}); };
  for (const char* uri : {"memory://a/b/", "memory://a//b", "memory:///a/./b"}) {
    EXPECT_EQ(identity(uri), identity("memory://a/b")) << uri;
  }
  EXPECT_EQ(identity("memory:///"), identity("memory://"));
  EXPECT_EQ(identity("/data/../data/x"), identity("/data/x"));
  EXPECT_NE(identity("memory://a/b"), identity("memory://a"));
  EXPECT_NE(identity("memory://a"), identity("/memory/a"));
}

TEST(FileSystem, join_uri_adds_one_slash) {
  EXPECT_EQ(join_uri("data", "a"), "data/a");
  EXPECT_EQ(join_uri("data/", "a"), "data/a");
  EXPECT_EQ(join_uri("memory://", "a"), "memory://a");
  EXPECT_EQ(join_uri("", "a"), "a");
}

TEST(FileSystem, base_name_is_the_last_component) {
  EXPECT_EQ(base_name("data/train.rec"), "train.rec");
  EXPECT_EQ(base_name("train.rec"), "train.rec");
  EXPECT_EQ(base_name("data/train/"), "train");
  EXPECT_EQ(base_name("memory://train.rec"), "train.rec");
  EXPECT_EQ(base_name("memory://"), "");
  EXPECT_EQ(base_name("/"), "");
}

}  // namespace
}  // namespace fuelrail
