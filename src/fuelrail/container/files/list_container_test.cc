#include "fuelrail/container/files/list_container.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using files::open_list;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kList =
    "7\t0\tcat/1.jpg\n"
    "\r\n"
    " 9 \t1\tdog/a b.jpg\r\n"
    "7\t0\tcat/2.png\n";

struct LocalList {
  static constexpr bool kDetectsTruncation = true;
  std::shared_ptr<const Container> make() { return made_in("here"); }
  std::shared_ptr<const Container> make_copy() { return made_in("there"); }
  std::vector<ExpectedSample> expected() {
    return {{{"jpeg of a cat", scalar_bytes(int64_t{0})}, 7},
            {{"jpeg of a dog", scalar_bytes(int64_t{1})}, 9},
            {{"png of a cat", scalar_bytes(int64_t{0})}, 7}};
  }

  std::shared_ptr<const Container> made_in(const std::string& name) {
    const std::string folder = directory / name;
    write_file(folder + "/cat/1.jpg", "jpeg of a cat");
    write_file(folder + "/cat/2.png", "png of a cat");
    write_file(folder + "/dog/a b.jpg", "jpeg of a dog");
    write_file(folder + "/all.lst", kList);
    return open_list(folder + "/all.lst");
  }
  TemporaryDirectory directory;
};

struct MemoryList {
  static constexpr bool kDetectsTruncation = true;
  std::shared_ptr<const Container> make() { return made_in("memory://list-here"); }
  std::shared_ptr<const Container> make_copy() { return made_in("memory://list-there"); }
  std::vector<ExpectedSample> expected() {
    return {{{"one...", scalar_bytes(0.5f)}, 0},
            {{"two...", scalar_bytes(2.0f)}, 1},
            {{"three.", scalar_bytes(-1.0f)}, 2}};
  }

  static void put(const std::string& uri, std::string_view contents) {
    const auto sink = memory_file_system().create(uri);
    sink->write(as_bytes(contents));
    sink->commit();
  }
  static std::shared_ptr<const Container> made_in(const std::string& folder) {
    memory_file_system().make_directory(folder);
    put(folder + "/1", "one...");
    put(folder + "/2", "two...");
    put(folder + "/3", "three.");
    put("memory://root.lst", "0\t0.5\t1\n1\t2\t2\n2\t-1\t" + folder + "/3\n");
    return open_container("memory://root.lst", {.root = folder});
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(List, ContainerConformance, WithViews<LocalList>);
INSTANTIATE_TYPED_TEST_SUITE_P(MemoryList, ContainerConformance, WithViews<MemoryList>);

class ListContainer : public ::testing::Test {
 protected:
  std::shared_ptr<const Container> open(const std::string& text) {
    write_file(directory_ / "all.lst", text);
    return open_list(directory_ / "all.lst");
  }
  std::string complaint(const std::string& text) {
    try {
      open(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TemporaryDirectory directory_;
};

TEST_F(ListContainer, labels_are_as_those_of_image_records) {
  const auto label = [&](const std::string& text) {
    return describe(open(text)->schema().fields.at(1));
  };
  EXPECT_EQ(label("0\t1\ta\n1\t2\tb\n"), "tensor int64 []");
  EXPECT_EQ(label("0\t1\ta\n1\t2.5\tb\n"), "tensor float32 []");
  EXPECT_EQ(label("0\t1\t2\ta\n1\t2\t3\tb\n"), "tensor float32 [2]");
  EXPECT_EQ(label("0\t1\t2\ta\n1\t2\tb\n"), "tensor float32 [-1]");
}

TEST_F(ListContainer, labels_of_several_columns_are_vectors) {
  write_file(directory_ / "a", "image");
  const auto list = open("3\t1\t2.5\ta\n4\t7\ta\n");
  Sample sample;
  std::vector<std::byte> framed;
  read_sample(*list, 0, framed, sample);
  EXPECT_EQ(as_text(sample.fields[0].bytes), "image");
  EXPECT_THAT(sample.fields[1].shape, ElementsAre(2));
  EXPECT_EQ(as_text(sample.fields[1].bytes).size(), 8u);
  read_sample(*list, 1, framed, sample);
  EXPECT_EQ(sample.id, 4u);
  EXPECT_THAT(sample.fields[1].shape, ElementsAre(1));
}

TEST_F(ListContainer, opening_looks_at_no_image) {
  const auto list = open("0\t1\tnone.jpg\n1\t1\tthere.jpg\n");
  write_file(directory_ / "there.jpg", "x");
  EXPECT_FALSE(list->knows_extent(1));
  EXPECT_EQ(list->extent(1).length, 1u);
  EXPECT_TRUE(list->knows_extent(1));
  try {
    list->extent(0);
    FAIL() << "nothing was thrown";
  } catch (const NotFoundError& error) {
    EXPECT_EQ(error.detail().path, directory_ / "none.jpg");
    EXPECT_EQ(error.detail().record, 0u);
  }
}

TEST_F(ListContainer, a_directory_is_no_image) {
  std::filesystem::create_directory(directory_ / "a");
  EXPECT_THROW(open("0\t1\ta\n")->extent(0), NotFoundError);
}

TEST_F(ListContainer, a_relative_root_survives_a_change_of_directory_and_keeps_its_spelling) {
  write_file(directory_ / "lists/all.lst", "0\t1\tcat/0.jpg\n");
  write_file(directory_ / "data/cat/0.jpg", "x");
  const std::string said = in_forked_child([&]() -> std::string {
    std::filesystem::current_path(directory_.path());
    const auto list = open_container("lists/all.lst", {.root = "data"});
    std::filesystem::current_path("/");
    Sample sample;
    std::vector<std::byte> framed;
    read_sample(*list, 0, framed, sample);
    return std::string(as_text(sample.fields[0].bytes)) + " of " + list->place(0).path;
  });
  EXPECT_EQ(said, "x of data/cat/0.jpg");
}

TEST_F(ListContainer, what_is_wrong_with_a_list_is_said_with_its_line) {
  EXPECT_THAT(complaint("0\t1\ta\nx\t1\tb\n"),
              HasSubstr("all.lst: line 2: the id is not a number"));
  EXPECT_THAT(complaint("\n \n"), HasSubstr("the list has no images"));
  EXPECT_THAT(complaint("0\t1\ts3://bucket/a.jpg\n"), HasSubstr("s3"));
}

TEST_F(ListContainer, a_root_is_for_a_list) {
  write_file(directory_ / "cat/0.jpg", "x");
  write_file(directory_ / "a.rec", "");
  for (const std::string& uri : {directory_.path(), directory_ / "a.rec"}) {
    EXPECT_THROW(open_container(uri, {.root = "data"}), InvalidArgumentError);
  }
}

TEST_F(ListContainer, a_list_has_no_sidecar) {
  open("0\t1\ta\n");
  EXPECT_THROW(build_sidecar(directory_ / "all.lst"), UnsupportedError);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "all.lst.frx"));
}

TEST_F(ListContainer, told_to_stop_it_stops) {
  write_file(directory_ / "all.lst", "0\t1\ta\n");
  EXPECT_THROW(open_list(directory_ / "all.lst", {.keep_going = [] { return false; }}), StateError);
}

}  // namespace
}  // namespace fuelrail
