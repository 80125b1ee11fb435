#include "fuelrail/container/files/files_container.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "fuelrail/base/error.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using files::open_files;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

void expect_no_file(const Container& container, uint64_t record, const std::string& path,
                    const std::string& failure = "no such file or directory") {
  try {
    container.extent(record);
    FAIL() << "nothing was thrown";
  } catch (const NotFoundError& error) {
    EXPECT_EQ(error.failure(), failure);
    EXPECT_EQ(error.detail().path, path);
    EXPECT_EQ(error.detail().record, record);
  }
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

TEST(FilesContainer, a_link_to_nothing_is_an_error_with_its_place) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  std::filesystem::create_symlink("nothing", directory / "cat/dangling.jpg");
  expect_no_file(*open_files(directory.path()), 1, directory / "cat/dangling.jpg");
}

TEST(FilesContainer, a_pipe_or_device_is_an_error_and_not_waited_for) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "cat");
  ASSERT_EQ(::mkfifo((directory / "cat/0.jpg").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", directory / "cat/1.jpg");
  const auto container = open_files(directory.path());
  expect_no_file(*container, 0, directory / "cat/0.jpg", "the image path is a pipe or device");
  expect_no_file(*container, 1, directory / "cat/1.jpg", "the image path is a pipe or device");
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

TEST(FilesContainer, the_look_at_every_file_can_be_interrupted_and_begins_anew) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  write_file(directory / "dog/0.jpg", "yy");
  const auto folder = open_files(directory.path());
  const auto part =
      concat({folder, subset(folder, {1, 0})});  // get their fingerprints from their parents
  int asked = 0;
  const auto stop = [&] { return ++asked, false; };
  EXPECT_THROW(part->fingerprint(stop), StateError);
  EXPECT_THROW(folder->fingerprint(stop), StateError);
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(folder->fingerprint().bytes, 3u);
  EXPECT_EQ(part->fingerprint(stop).bytes, 6u);  // all lengths are known by now
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
  container->fingerprint();  // queries every file
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
