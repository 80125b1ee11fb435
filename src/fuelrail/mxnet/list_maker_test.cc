#include "fuelrail/mxnet/list_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/container/files/image_list.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::mxnet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// tests/python/mxnet/test_lists.py has the output of MXNet's own tool for a whole tree.
class ListMaker : public ::testing::Test {
 protected:
  void touch(const std::string& name) { write_file(root_ + "/" + name, ""); }
  std::string lines_of(const std::string& end) { return file_contents(prefix_ + end); }
  MadeLists make(const ListOptions& options) { return make_lists(prefix_, root_, options); }
  std::string complaint(const ListOptions& options) {
    try {
      make(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryDirectory directory_;
  std::string root_ = directory_ / "root";
  std::string prefix_ = directory_ / "all";
};

TEST_F(ListMaker, one_folder_has_the_label_0) {
  for (const char* name : {"b.PNG", "a.jpg", "c.JpEg", "d.gif", ".jpg", "jpg", "below/e.jpg"}) {
    touch(name);
  }
  const MadeLists made = make({.shuffle = false});
  EXPECT_EQ(lines_of(".lst"), "0\t0.000000\ta.jpg\n1\t0.000000\tb.PNG\n2\t0.000000\tc.JpEg\n");
  EXPECT_THAT(made.uris, ElementsAre(prefix_ + ".lst"));
  EXPECT_THAT(made.folders, IsEmpty());
  EXPECT_EQ(made.images, 3u);
}

TEST_F(ListMaker, a_list_that_is_there_is_refused_before_the_tree_is_walked) {
  for (const auto& [name, options] : std::map<std::string, ListOptions>{
           {"all.lst", {}},
           {"all_2.lst", {.chunks = 3}},
           {"all_1_val.lst", {.chunks = 2, .train_ratio = 0.5, .test_ratio = 0.25}}}) {
    write_file(directory_ / name, "");
    root_ = directory_ / "no such folder";
    EXPECT_THAT(complaint(options), HasSubstr(name + ": the output already exists"));
    std::filesystem::remove(directory_ / name);
  }
}

TEST_F(ListMaker, folders_with_images_count_up_in_the_order_in_which_they_are_met) {
  for (const char* name : {"z.jpg", "a/none.txt", "a/deep/1.jpg", "b/2.jpg", "b/1.jpg", "c/d"}) {
    touch(name);
  }
  const MadeLists made = make({.recursive = true, .shuffle = false});
  EXPECT_EQ(lines_of(".lst"),
            "0\t0.000000\tz.jpg\n1\t1.000000\ta/deep/1.jpg\n2\t2.000000\tb/1.jpg\n"
            "3\t2.000000\tb/2.jpg\n");
  EXPECT_THAT(made.folders, ElementsAre(".", "a/deep", "b"));
}

TEST_F(ListMaker, what_is_made_is_read) {
  for (const char* name : {"my cat/a b.jpg", "dog/x.png"}) touch(name);
  make({.recursive = true});
  const ImageList images = read_image_list(prefix_ + ".lst");
  ASSERT_EQ(images.size(), 2u);
  for (const uint64_t i : {0, 1}) {
    EXPECT_TRUE(std::filesystem::exists(listed_uri(images.path(i), root_)));
  }
}

TEST_F(ListMaker, links_are_followed_and_dangling_ones_are_not_there) {
  touch("cat/a.jpg");
  std::filesystem::create_directory_symlink(root_ + "/cat", root_ + "/dog");
  std::filesystem::create_symlink(root_ + "/none", root_ + "/cat/b.jpg");
  make({.recursive = true, .shuffle = false});
  EXPECT_EQ(lines_of(".lst"), "0\t0.000000\tcat/a.jpg\n1\t1.000000\tdog/a.jpg\n");
}

TEST_F(ListMaker, a_link_that_leads_back_is_found_out) {
  touch("cat/a.jpg");
  std::filesystem::create_directory_symlink(root_ + "/cat", root_ + "/cat/again");
  EXPECT_THAT(complaint({.recursive = true}), HasSubstr("folders are nested too deeply"));
}

TEST_F(ListMaker, chunks_and_ratios_round_down_and_the_last_chunk_is_cut_as_the_others) {
  for (char name = 'a'; name < 'h'; ++name) touch(std::string(1, name) + ".jpg");
  const MadeLists made =
      make({.shuffle = false, .chunks = 2, .train_ratio = 0.6, .test_ratio = 0.3});
  EXPECT_EQ(made.uris.size(), 6u);
  EXPECT_EQ(lines_of("_0_test.lst"), "0\t0.000000\ta.jpg\n");
  EXPECT_EQ(lines_of("_0_train.lst"), "1\t0.000000\tb.jpg\n2\t0.000000\tc.jpg\n");
  EXPECT_EQ(lines_of("_0_val.lst"), "3\t0.000000\td.jpg\n");
  EXPECT_EQ(lines_of("_1_test.lst"), "4\t0.000000\te.jpg\n");
  EXPECT_EQ(lines_of("_1_train.lst"), "5\t0.000000\tf.jpg\n6\t0.000000\tg.jpg\n");
  EXPECT_EQ(lines_of("_1_val.lst"), "");
}

TEST_F(ListMaker, more_chunks_than_images_are_empty_lists) {
  touch("a.jpg");
  EXPECT_EQ(make({.chunks = 3}).uris.size(), 3u);
  EXPECT_EQ(lines_of("_0.lst"), "0\t0.000000\ta.jpg\n");
  EXPECT_EQ(lines_of("_2.lst"), "");
}

TEST_F(ListMaker, other_extensions_may_be_named) {
  for (const char* name : {"a.jpg", "b.Tar.GIF", "c.gif"}) touch(name);
  make({.extensions = {".GIF"}, .shuffle = false});
  EXPECT_EQ(lines_of(".lst"), "0\t0.000000\tb.Tar.GIF\n1\t0.000000\tc.gif\n");
}

TEST_F(ListMaker, options_that_cannot_be_are_refused) {
  touch("a.jpg");
  EXPECT_THAT(complaint({.chunks = 0}), HasSubstr("`chunks` is out of range"));
  EXPECT_THAT(complaint({.chunks = 100'001}), HasSubstr("expected 1 to 100000, found 100001"));
  EXPECT_THAT(complaint({.train_ratio = 1.5}), HasSubstr("ratios are out of range"));
  EXPECT_THAT(complaint({.train_ratio = 0.7, .test_ratio = 0.4}),
              HasSubstr("found train 0.7, test 0.4"));
  EXPECT_THAT(complaint({.test_ratio = -0.1}), HasSubstr("ratios are out of range"));
  EXPECT_THAT(complaint({.extensions = {"jpg"}}),
              HasSubstr("one dot followed by one or more characters"));
  EXPECT_EQ(complaint({.train_ratio = 0.7, .test_ratio = 0.3}), "");
}

TEST_F(ListMaker, a_name_that_a_list_cannot_hold_is_refused_before_anything_is_written) {
  for (const char* name : {"a\tb.jpg", "a\nb.jpg", " a.jpg"}) {
    std::filesystem::remove_all(root_);
    touch("x.jpg");
    touch(name);
    EXPECT_THAT(complaint({}), HasSubstr("the file's path cannot be stored in an image list"));
  }
  EXPECT_FALSE(std::filesystem::exists(prefix_ + ".lst"));
}

TEST_F(ListMaker, no_image_and_no_folder_are_errors) {
  touch("below/a.jpg");
  EXPECT_THAT(complaint({}), HasSubstr("has no images"));
  root_ = directory_ / "none";
  EXPECT_THAT(complaint({}), HasSubstr("no such file or directory"));
}

TEST_F(ListMaker, asked_to_stop_it_writes_nothing) {
  touch("a.jpg");
  EXPECT_THAT(complaint({.keep_going = [] { return false; }}), HasSubstr("interrupted"));
  EXPECT_FALSE(std::filesystem::exists(prefix_ + ".lst"));
}

}  // namespace
}  // namespace fuelrail::mxnet
