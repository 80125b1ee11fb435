// Which files of a folder are images, of which classes and in which order; errors and warnings.
#include "fuelrail/container/files/folder_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/files/files_container.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using files::open_files;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The paths of the records, relative to `directory`.
std::vector<std::string> paths_in(const Container& container, const std::string& directory) {
  std::vector<std::string> paths;
  for (uint64_t i = 0; i < container.size(); ++i) {
    paths.push_back(container.place(i).path.substr(directory.size() + 1));
  }
  return paths;
}

template <typename Expected>
std::string refusal(const std::string& uri) {
  return testing::refusal_of<Expected>([&] { open_files(uri); });
}

TEST(FolderScan, classes_are_ranked_by_code_point) {
  const TemporaryDirectory directory;
  for (const char* name : {"dog", "Zebra", "cat", "\xC3\xA9l\xC3\xA9phant", "10", "9"}) {
    write_file(directory / name + "/a.jpg", name);
  }
  const auto container = open_files(directory.path());
  EXPECT_THAT(container->classes(),
              ElementsAre("10", "9", "Zebra", "cat", "dog", "\xC3\xA9l\xC3\xA9phant"));
  Sample sample;
  std::vector<std::byte> framed;
  for (uint64_t i = 0; i < container->size(); ++i) {
    read_sample(*container, i, framed, sample);
    EXPECT_EQ(as_text(sample.fields[1].bytes), scalar_bytes(static_cast<int64_t>(i)));
    EXPECT_EQ(as_text(sample.fields[0].bytes), container->classes()[i]);
  }
}

// The result of Python's sorted(os.walk(class, followlinks=True)), which is ImageFolder's order,
// for this tree.
TEST(FolderScan, sub_folders_come_in_image_folders_order) {
  const TemporaryDirectory directory;
  const std::vector<std::string> expected{"c/b.jpg",     "c/z.jpg",     "c/a/2.jpg", "c/a-b/1.jpg",
                                          "c/a/c/0.jpg", "c/a0/3.jpeg", "d/1.jpg"};
  for (size_t i = 0; i < expected.size(); ++i) {
    write_file(directory / expected[(i * 3 + 1) % expected.size()], "x");
  }
  EXPECT_EQ(paths_in(*open_files(directory.path()), directory.path()), expected);
}

TEST(FolderScan, links_to_folders_and_files_are_followed) {
  const TemporaryDirectory directory;
  write_file(directory / "elsewhere/1.jpg", "x");
  write_file(directory / "elsewhere/below/2.jpg", "y");
  write_file(directory / "data/cat/0.jpg", "z");
  std::filesystem::create_directory_symlink("../elsewhere", directory / "data/dog");
  std::filesystem::create_symlink("0.jpg", directory / "data/cat/link.jpg");
  std::filesystem::create_symlink("nothing", directory / "data/cat/dangling.jpg");
  EXPECT_THAT(
      paths_in(*open_files(directory / "data"), directory / "data"),
      ElementsAre("cat/0.jpg", "cat/dangling.jpg", "cat/link.jpg", "dog/1.jpg", "dog/below/2.jpg"));
}

TEST(FolderScan, names_that_begin_with_a_dot_are_passed_over_and_counted_in_one_warning) {
  const TemporaryDirectory directory;
  for (const char* name :
       {".DS_Store", ".ipynb_checkpoints/0.jpg", ".git/objects/notes.txt", "cat/0.jpg",
        "cat/.DS_Store", "cat/._0.jpg", "cat/.ipynb_checkpoints/0-checkpoint.jpg", "dog/deep/1.jpg",
        "dog/deep/.1.jpg"}) {
    write_file(directory / name, "x");
  }
  std::vector<std::string> said;
  const auto container = open_files(
      directory.path(), {.warn = [&](const std::string& text) { said.push_back(text); }});
  EXPECT_THAT(container->classes(), ElementsAre("cat", "dog"));
  EXPECT_THAT(paths_in(*container, directory.path()), ElementsAre("cat/0.jpg", "dog/deep/1.jpg"));
  EXPECT_THAT(said, ElementsAre(directory.path() + ": 7 names that begin with a dot are " +
                                "skipped: first " + (directory / ".DS_Store")));
}

TEST(FolderScan, what_holds_hidden_names_alone_says_so) {
  const TemporaryDirectory directory;
  write_file(directory / "photos/.ipynb_checkpoints/0.jpg", "x");
  EXPECT_THAT(refusal<NotFoundError>(directory / "photos"),
              AllOf(HasSubstr("has no class folders"),
                    HasSubstr("1 name that begins with a dot (first .ipynb_checkpoints)")));
  write_file(directory / "photos/cat/.0.jpg", "x");
  EXPECT_THAT(refusal<NotFoundError>(directory / "photos"),
              AllOf(HasSubstr("'cat' has no images"),
                    HasSubstr("1 name that begins with a dot (first .0.jpg)")));
}

TEST(FolderScan, a_hidden_folder_that_is_given_is_read) {
  const TemporaryDirectory directory;
  write_file(directory / ".cache/cat/0.jpg", "x");
  EXPECT_EQ(open_files(directory / ".cache")->size(), 1u);
}

TEST(FolderScan, a_link_that_leads_back_is_refused) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "z");
  std::filesystem::create_directory_symlink("..", directory / "cat/loop");
  EXPECT_THAT(refusal<InvalidArgumentError>(directory.path()), HasSubstr("nested too deep"));
}

TEST(FolderScan, extensions_count_in_either_case) {
  const TemporaryDirectory directory;
  for (const char* name :
       {"a.jpg", "b.JPG", "c.jpeg", "d.Jpe", "e.PNG", "f.WebP", "g.bmp", "h.TIF", "i.tiff"}) {
    write_file(directory / "cat/" + name, "x");
  }
  EXPECT_EQ(open_files(directory.path())->size(), 9u);
}

TEST(FolderScan, files_that_are_no_images_are_counted_in_one_warning) {
  const TemporaryDirectory directory;
  write_file(directory / "README.md", "x");
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "cat/notes.txt", "x");
  write_file(directory / "cat/jpg", "x");
  write_file(directory / "cat/deep/0.npy", "\x93NUMPY");  // often features, not an image
  std::vector<std::string> warnings;
  const auto container =
      open_files(directory.path(), {.warn = [&](const std::string& w) { warnings.push_back(w); }});
  EXPECT_EQ(container->size(), 1u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr(directory.path() + ": 4 files"));
  EXPECT_THAT(warnings[0], HasSubstr("README.md"));
  EXPECT_THAT(warnings[0], HasSubstr(".jpg, .jpeg, .jpe, .png, .webp, .bmp, .tif, .tiff"));
}

TEST(FolderScan, a_folder_of_images_alone_warns_of_nothing) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  open_files(directory.path(), {.warn = [](const std::string& w) { ADD_FAILURE() << w; }});
}

TEST(FolderScan, a_class_without_images_is_named) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "dog/notes.txt", "x");
  const std::string message = refusal<NotFoundError>(directory.path());
  EXPECT_THAT(message, HasSubstr(directory / "dog"));
  EXPECT_THAT(message, HasSubstr("'dog' has no images"));
}

TEST(FolderScan, images_without_class_folders_are_refused_with_the_layout) {
  const TemporaryDirectory directory;
  write_file(directory / "0.jpg", "x");
  write_file(directory / "1.jpg", "x");
  const std::string message = refusal<InvalidArgumentError>(directory.path());
  EXPECT_THAT(message, HasSubstr("expected one sub-folder of images per class"));
  EXPECT_THAT(message, HasSubstr("found 2 images in the folder itself"));
}

TEST(FolderScan, a_folder_without_class_folders_is_refused) {
  const TemporaryDirectory directory;
  EXPECT_THAT(refusal<NotFoundError>(directory.path()), HasSubstr("found an empty folder"));
  write_file(directory / "train.rec", "x");
  EXPECT_THAT(refusal<NotFoundError>(directory.path()), HasSubstr("1 file (first train.rec)"));
}

TEST(FolderScan, a_missing_folder_and_a_file_are_refused) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "x");
  EXPECT_THROW(open_files(directory / "none"), NotFoundError);
  EXPECT_THROW(open_files(directory / "x"), InvalidArgumentError);
}

TEST(FolderScan, an_unreadable_folder_is_an_io_error_that_names_it) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "dog/inner/0.jpg", "x");
  ASSERT_EQ(::chmod((directory / "dog/inner").c_str(), 0), 0);
  const std::string message =
      in_unprivileged_child([&]() -> std::string { return refusal<IoError>(directory.path()); });
  EXPECT_THAT(message, HasSubstr(directory / "dog/inner"));
  EXPECT_THAT(message, HasSubstr("Permission denied"));
}

std::vector<std::string> warnings_of(const std::string& folder) {
  std::vector<std::string> warnings;
  open_files(folder, {.warn = [&](const std::string& text) { warnings.push_back(text); }});
  return warnings;
}

TEST(FolderScan, parts_of_a_data_set_taken_for_classes_are_warned_of) {
  const TemporaryDirectory directory;
  write_file(directory / "train/cat/0.jpg", "x");
  write_file(directory / "train/dog/0.jpg", "x");
  write_file(directory / "val/cat/0.jpg", "x");
  EXPECT_THAT(warnings_of(directory.path()),
              ElementsAre(::testing::AllOf(HasSubstr("'train' and 'val' are read as classes"),
                                           HasSubstr("open " + (directory / "train")))));
  EXPECT_THAT(warnings_of(directory / "train"), ::testing::IsEmpty());
  write_file(directory / "val/0.jpg", "x");  // now it is a class
  EXPECT_THAT(warnings_of(directory.path()), ::testing::IsEmpty());
}

TEST(FolderScan, classes_that_hold_nothing_but_folders_are_warned_of) {
  const TemporaryDirectory directory;
  write_file(directory / "data/cat/0.jpg", "x");
  write_file(directory / "data/dog/0.jpg", "x");
  EXPECT_THAT(warnings_of(directory.path()),
              ElementsAre(::testing::AllOf(
                  HasSubstr("Those in data/cat, for example, are read as class 'data'"),
                  HasSubstr("open " + (directory / "data")))));
}

TEST(FolderScan, one_folder_of_the_same_name_in_every_class_is_no_cause_for_doubt) {
  const TemporaryDirectory directory;
  write_file(directory / "n01/images/0.jpg", "x");
  write_file(directory / "n02/images/0.jpg", "x");
  EXPECT_THAT(warnings_of(directory.path()), ::testing::IsEmpty());
}

TEST(FolderScan, an_unreadable_folder_may_be_left_out_and_its_class_keeps_its_label) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  for (const char* name : {"ant/0.jpg", "bee/0.jpg", "cat/0.jpg", "cat/inner/0.jpg"}) {
    write_file(directory / name, "x");
  }
  ASSERT_EQ(::chmod((directory / "bee").c_str(), 0), 0);
  ASSERT_EQ(::chmod((directory / "cat/inner").c_str(), 0), 0);
  const std::string said = in_unprivileged_child([&]() -> std::string {
    std::string text;
    const auto container = open_files(directory.path(), {.leave_out = [&](const IoError& error) {
                                        text += base_name(error.detail().path) + " ";
                                        return true;
                                      }});
    Sample sample;
    std::vector<std::byte> framed;
    read_sample(*container, 1, framed, sample);
    return text + std::to_string(container->size()) + " images, label " +
           std::to_string(load_le<int64_t>(sample.fields[1].bytes.data()));
  });
  EXPECT_EQ(said, "bee inner 2 images, label 2");
}

TEST(FolderScan, opening_stops_when_told) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "dog/0.jpg", "x");
  int asked = 0;
  EXPECT_THROW(open_files(directory.path(), {.keep_going = [&] { return ++asked < 3; }}),
               StateError);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(open_files(directory.path(), {.keep_going = [] { return true; }})->size(), 2u);
}

}  // namespace
}  // namespace fuelrail
