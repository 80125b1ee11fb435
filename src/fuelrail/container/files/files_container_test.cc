#include "fuelrail/container/files/files_container.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using files::open_files;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<ExpectedSample> three_images() {
  return {{{"jpeg of a cat", scalar_bytes(int64_t{0})}, 0},
          {{"png of a cat", scalar_bytes(int64_t{0})}, 1},
          {{"jpeg of a dog", scalar_bytes(int64_t{1})}, 2}};
}

struct LocalFolder {
  static constexpr bool kDetectsTruncation = true;
  std::shared_ptr<const Container> make() { return made_in("here"); }
  std::shared_ptr<const Container> make_copy() { return made_in("there"); }
  std::vector<ExpectedSample> expected() { return three_images(); }

  std::shared_ptr<const Container> made_in(const std::string& name) {
    const std::string folder = directory / name;
    write_file(folder + "/cat/1.jpg", "jpeg of a cat");
    write_file(folder + "/cat/2.png", "png of a cat");
    write_file(folder + "/dog/0.JPEG", "jpeg of a dog");
    return open_files(folder);
  }
  TemporaryDirectory directory;
};

struct MemoryFolder {
  static constexpr bool kDetectsTruncation = true;
  std::shared_ptr<const Container> make() { return made_in("memory://files-here"); }
  std::shared_ptr<const Container> make_copy() { return made_in("memory://files-there"); }
  std::vector<ExpectedSample> expected() { return three_images(); }

  static void put(const std::string& uri, std::string_view contents) {
    const auto sink = memory_file_system().create(uri);
    sink->write(as_bytes(contents));
    sink->commit();
  }
  static std::shared_ptr<const Container> made_in(const std::string& folder) {
    memory_file_system().make_directory(folder + "/cat");
    memory_file_system().make_directory(folder + "/dog");
    put(folder + "/cat/1.jpg", "jpeg of a cat");
    put(folder + "/cat/2.png", "png of a cat");
    put(folder + "/dog/0.JPEG", "jpeg of a dog");
    return open_files(folder);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Files, ContainerConformance, WithViews<LocalFolder>);
INSTANTIATE_TYPED_TEST_SUITE_P(MemoryFiles, ContainerConformance, WithViews<MemoryFolder>);

// The records' paths below `directory`.
std::vector<std::string> paths_in(const Container& container, const std::string& directory) {
  std::vector<std::string> paths;
  for (uint64_t i = 0; i < container.size(); ++i) {
    paths.push_back(container.place(i).path.substr(directory.size() + 1));
  }
  return paths;
}

template <typename Expected>
std::string refusal(const std::string& uri) {
  try {
    open_files(uri);
    return "nothing was thrown";
  } catch (const Expected& error) {
    return error.what();
  }
}

void expect_no_file(const Container& container, uint64_t record, const std::string& path) {
  try {
    container.extent(record);
    FAIL() << "nothing was thrown";
  } catch (const NotFoundError& error) {
    EXPECT_EQ(error.detail().path, path);
    EXPECT_EQ(error.detail().record, record);
  }
}

TEST(FilesContainer, classes_are_ranked_by_code_point) {
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

// What Python's sorted(os.walk(class, followlinks=True)), which is ImageFolder's order, gives for
// this tree.
TEST(FilesContainer, sub_folders_come_in_image_folders_order) {
  const TemporaryDirectory directory;
  const std::vector<std::string> expected{"c/b.jpg",     "c/z.jpg",     "c/a/2.jpg", "c/a-b/1.jpg",
                                          "c/a/c/0.jpg", "c/a0/3.jpeg", "d/1.jpg"};
  for (size_t i = 0; i < expected.size(); ++i) {
    write_file(directory / expected[(i * 3 + 1) % expected.size()], "x");
  }
  EXPECT_EQ(paths_in(*open_files(directory.path()), directory.path()), expected);
}

TEST(FilesContainer, links_to_folders_and_files_are_followed) {
  const TemporaryDirectory directory;
  write_file(directory / "elsewhere/1.jpg", "x");
  write_file(directory / "elsewhere/below/2.jpg", "y");
  write_file(directory / "data/cat/0.jpg", "z");
  std::filesystem::create_directory_symlink("../elsewhere", directory / "data/dog");
  std::filesystem::create_symlink("0.jpg", directory / "data/cat/link.jpg");
  std::filesystem::create_symlink("nothing", directory / "data/cat/dangling.jpg");
  const auto container = open_files(directory / "data");
  EXPECT_THAT(
      paths_in(*container, directory / "data"),
      ElementsAre("cat/0.jpg", "cat/dangling.jpg", "cat/link.jpg", "dog/1.jpg", "dog/below/2.jpg"));
  expect_no_file(*container, 1, directory / "data/cat/dangling.jpg");
}

TEST(FilesContainer, hidden_class_folder_is_warned_of) {
  const TemporaryDirectory directory;
  write_file(directory / ".ipynb_checkpoints/0.jpg", "x");
  write_file(directory / "cat/0.jpg", "x");
  std::vector<std::string> said;
  open_files(directory.path(), {.warn = [&](const std::string& text) { said.push_back(text); }});
  EXPECT_THAT(said, ElementsAre(HasSubstr("'.ipynb_checkpoints' is hidden, and read as class 0")));
}

TEST(FilesContainer, a_link_that_leads_back_is_refused) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "z");
  std::filesystem::create_directory_symlink("..", directory / "cat/loop");
  EXPECT_THAT(refusal<InvalidArgumentError>(directory.path()), HasSubstr("nested too deep"));
}

TEST(FilesContainer, extensions_count_in_either_case) {
  const TemporaryDirectory directory;
  for (const char* name : {"a.jpg", "b.JPG", "c.jpeg", "d.Jpe", "e.PNG", "f.WebP", "g.bmp", "h.TIF",
                           "i.tiff", ".jpg"}) {
    write_file(directory / "cat/" + name, "x");
  }
  EXPECT_EQ(open_files(directory.path())->size(), 10u);
}

TEST(FilesContainer, files_that_are_no_images_are_counted_in_one_warning) {
  const TemporaryDirectory directory;
  write_file(directory / "README.md", "x");
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "cat/notes.txt", "x");
  write_file(directory / "cat/jpg", "x");
  write_file(directory / "cat/deep/old.gif", "x");
  std::vector<std::string> warnings;
  const auto container =
      open_files(directory.path(), {.warn = [&](const std::string& w) { warnings.push_back(w); }});
  EXPECT_EQ(container->size(), 1u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr(directory.path() + ": 4 files"));
  EXPECT_THAT(warnings[0], HasSubstr("README.md"));
  EXPECT_THAT(warnings[0], HasSubstr(".jpg, .jpeg, .jpe, .png, .webp, .bmp, .tif, .tiff"));
}

TEST(FilesContainer, a_folder_of_images_alone_warns_of_nothing) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  open_files(directory.path(), {.warn = [](const std::string& w) { ADD_FAILURE() << w; }});
}

TEST(FilesContainer, a_class_without_images_is_named) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "dog/notes.txt", "x");
  const std::string message = refusal<NotFoundError>(directory.path());
  EXPECT_THAT(message, HasSubstr(directory / "dog"));
  EXPECT_THAT(message, HasSubstr("'dog' has no images"));
}

TEST(FilesContainer, images_without_class_folders_are_refused_with_the_layout) {
  const TemporaryDirectory directory;
  write_file(directory / "0.jpg", "x");
  write_file(directory / "1.jpg", "x");
  const std::string message = refusal<InvalidArgumentError>(directory.path());
  EXPECT_THAT(message, HasSubstr("expected one sub-folder a class"));
  EXPECT_THAT(message, HasSubstr("found 2 images in the folder itself"));
}

TEST(FilesContainer, a_folder_without_class_folders_is_refused) {
  const TemporaryDirectory directory;
  EXPECT_THAT(refusal<NotFoundError>(directory.path()), HasSubstr("found an empty folder"));
  write_file(directory / "train.rec", "x");
  EXPECT_THAT(refusal<NotFoundError>(directory.path()), HasSubstr("1 file (first train.rec)"));
}

TEST(FilesContainer, a_missing_folder_and_a_file_are_refused) {
  const TemporaryDirectory directory;
  write_file(directory / "x", "x");
  EXPECT_THROW(open_files(directory / "none"), NotFoundError);
  EXPECT_THROW(open_files(directory / "x"), InvalidArgumentError);
}

TEST(FilesContainer, an_unreadable_folder_is_an_io_error_that_names_it) {
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

TEST(FilesContainer, a_relative_folder_survives_a_change_of_directory_and_keeps_its_spelling) {
  const TemporaryDirectory directory;
  write_file(directory / "data/cat/0.jpg", "x");
  const std::string said = in_forked_child([&]() -> std::string {
    std::filesystem::current_path(directory.path());
    const auto container = open_files("data");
    std::filesystem::current_path("/");
    Sample sample;
    std::vector<std::byte> framed;
    read_sample(*container, 0, framed, sample);
    std::string text(as_text(sample.fields[0].bytes));
    text += " of " + container->place(0).path;
    std::filesystem::remove(directory / "data/cat/0.jpg");
    try {
      read_sample(*container, 0, framed, sample);
    } catch (const NotFoundError& error) {
      text += ", then none at " + error.detail().path;
    }
    return text;
  });
  EXPECT_EQ(said, "x of data/cat/0.jpg, then none at data/cat/0.jpg");
}

TEST(FilesContainer, a_file_too_long_to_be_an_image_is_refused_before_any_allocation) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "cat/1.jpg", "x");
  write_file(directory / "cat/2.jpg", "x");
  std::filesystem::resize_file(directory / "cat/0.jpg", files::kMaxImageFileBytes);
  std::filesystem::resize_file(directory / "cat/1.jpg", uint64_t{900} << 30);
  const auto container = open_files(directory.path());
  EXPECT_EQ(container->extent(0).length, files::kMaxImageFileBytes);
  Sample sample;
  std::vector<std::byte> framed;
  try {
    read_sample(*container, 1, framed, sample);
    FAIL() << "nothing was thrown";
  } catch (const CorruptError& error) {
    EXPECT_EQ(error.detail().path, directory / "cat/1.jpg");
    EXPECT_EQ(error.detail().record, 1u);
    EXPECT_THAT(error.what(), HasSubstr("expected at most 536870911 bytes, found 966367641600"));
  }
  EXPECT_EQ(framed.capacity(), 0u);
  EXPECT_NO_THROW(read_sample(*container, 2, framed, sample));
}

std::vector<std::string> warnings_of(const std::string& folder) {
  std::vector<std::string> warnings;
  open_files(folder, {.warn = [&](const std::string& text) { warnings.push_back(text); }});
  return warnings;
}

TEST(FilesContainer, parts_of_a_data_set_taken_for_classes_are_warned_of) {
  const TemporaryDirectory directory;
  write_file(directory / "train/cat/0.jpg", "x");
  write_file(directory / "train/dog/0.jpg", "x");
  write_file(directory / "val/cat/0.jpg", "x");
  EXPECT_THAT(warnings_of(directory.path()),
              ElementsAre(testing::AllOf(HasSubstr("'train' and 'val' are read as classes"),
                                         HasSubstr("give " + (directory / "train")))));
  EXPECT_THAT(warnings_of(directory / "train"), testing::IsEmpty());
  write_file(directory / "val/0.jpg", "x");  // a class, then
  EXPECT_THAT(warnings_of(directory.path()), testing::IsEmpty());
}

TEST(FilesContainer, classes_that_hold_nothing_but_folders_are_warned_of) {
  const TemporaryDirectory directory;
  write_file(directory / "data/cat/0.jpg", "x");
  write_file(directory / "data/dog/0.jpg", "x");
  EXPECT_THAT(warnings_of(directory.path()),
              ElementsAre(testing::AllOf(HasSubstr("(first data/cat), and count as 'data'"),
                                         HasSubstr("give " + (directory / "data")))));
}

TEST(FilesContainer, one_folder_of_the_same_name_in_every_class_is_no_cause_for_doubt) {
  const TemporaryDirectory directory;
  write_file(directory / "n01/images/0.jpg", "x");
  write_file(directory / "n02/images/0.jpg", "x");
  EXPECT_THAT(warnings_of(directory.path()), testing::IsEmpty());
}

TEST(FilesContainer, a_file_that_goes_before_it_was_looked_at_is_an_error_with_its_place) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "cat/1.jpg", "yy");
  const auto container = open_files(directory.path());
  std::filesystem::remove(directory / "cat/1.jpg");
  EXPECT_EQ(container->extent(0).length, 1u);
  expect_no_file(*container, 1, directory / "cat/1.jpg");
  write_file(directory / "cat/1.jpg", "yy");
  EXPECT_EQ(container->extent(1).length, 2u);
  EXPECT_EQ(container->fingerprint(), open_files(directory.path())->fingerprint());
}

TEST(FilesContainer, an_extent_is_known_once_its_file_was_looked_at) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "dog/0.jpg", "yy");
  const auto folder = open_files(directory.path());
  const auto both = concat({folder, subset(folder, {1, 0})});
  const auto known = [&] {
    std::vector<bool> each;
    for (uint64_t i = 0; i < both->size(); ++i) each.push_back(both->knows_extent(i));
    return each;
  };
  EXPECT_THAT(known(), ElementsAre(false, false, false, false));
  folder->extent(1);
  EXPECT_THAT(known(), ElementsAre(false, true, true, false));
  both->fingerprint();
  EXPECT_THAT(known(), ElementsAre(true, true, true, true));
}

TEST(FilesContainer, many_threads_agree_on_lengths_and_fingerprint) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 1200; ++i) {
    write_file(directory / ("c" + std::to_string(i % 7) + "/" + std::to_string(i) + ".jpg"),
               std::string(static_cast<size_t>(i % 50), 'x'));
  }
  const auto container = open_files(directory.path());
  std::vector<Fingerprint> found(4);
  {
    std::vector<std::jthread> threads;
    for (Fingerprint& mine : found) {
      threads.emplace_back([&] {
        for (uint64_t i = 0; i < container->size(); i += 3) container->extent(i);
        mine = container->fingerprint();
      });
    }
  }
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < container->size(); ++i) bytes += container->extent(i).length;
  EXPECT_EQ(found[0].bytes, bytes);
  EXPECT_EQ(found[0].records, 1200u);
  for (const Fingerprint& each : found) EXPECT_EQ(each, found[0]);
}

TEST(FilesContainer, an_unreadable_folder_may_be_left_out_and_its_class_keeps_its_label) {
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

TEST(FilesContainer, opening_stops_when_told) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "dog/0.jpg", "x");
  int asked = 0;
  EXPECT_THROW(open_files(directory.path(), {.keep_going = [&] { return ++asked < 3; }}),
               StateError);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(open_files(directory.path(), {.keep_going = [] { return true; }})->size(), 2u);
}

TEST(FilesContainer, the_look_at_every_file_can_be_interrupted_and_begins_anew) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "dog/0.jpg", "yy");
  const auto folder = open_files(directory.path());
  const auto part = concat({folder, subset(folder, {1, 0})});  // ask their parents when asked
  int asked = 0;
  const auto stop = [&] { return ++asked, false; };
  EXPECT_THROW(part->fingerprint(stop), StateError);
  EXPECT_THROW(folder->fingerprint(stop), StateError);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(folder->fingerprint().bytes, 3u);
  EXPECT_EQ(part->fingerprint(stop).bytes, 6u);  // all is known by now
  EXPECT_EQ(asked, 2);
}

TEST(FilesContainer, a_signal_handler_may_ask_for_the_fingerprint_that_is_being_made) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  const auto folder = open_files(directory.path());
  Fingerprint inner;
  const Fingerprint outer = folder->fingerprint([&] {
    inner = folder->fingerprint();
    return true;
  });
  EXPECT_EQ(inner, outer);
  EXPECT_EQ(outer.bytes, 1u);
}

TEST(FilesContainer, a_file_that_has_gone_counts_as_empty_in_the_fingerprint) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "cat/1.jpg", "yy");
  const auto folder = open_files(directory.path());
  std::filesystem::remove(directory / "cat/0.jpg");
  EXPECT_EQ(folder->fingerprint(), (Fingerprint{2, 2, folder->fingerprint().checksum}));
  write_file(directory / "cat/0.jpg", "");
  EXPECT_EQ(open_files(directory.path())->fingerprint(), folder->fingerprint());
}

TEST(FilesContainer, a_file_that_changes_or_goes_is_an_error_with_its_place) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "cat/1.jpg", "yy");
  const auto container = open_files(directory.path());
  Sample sample;
  std::vector<std::byte> framed;
  container->fingerprint();  // looks at every file
  write_file(directory / "cat/1.jpg", "longer now");
  try {
    read_sample(*container, 1, framed, sample);
    FAIL() << "nothing was thrown";
  } catch (const IoError& error) {
    EXPECT_EQ(error.detail().path, directory / "cat/1.jpg");
    EXPECT_EQ(error.detail().record, 1u);
  }
  std::filesystem::remove(directory / "cat/0.jpg");
  EXPECT_THROW(read_sample(*container, 0, framed, sample), NotFoundError);
}

}  // namespace
}  // namespace fuelrail
