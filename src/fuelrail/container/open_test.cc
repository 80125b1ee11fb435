#include "fuelrail/container/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/testing/ffrecord_file.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& uri) {
  return testing::refusal_of<UnsupportedError>([&] { open_container(uri); });
}

TEST(OpenContainer, a_directory_opens_as_a_folder_of_images) {
  const TemporaryDirectory directory;
  write_file(directory / "cat/0.jpg", "x");
  EXPECT_EQ(open_container(directory.path())->size(), 1u);
  EXPECT_EQ(open_container("file://" + directory.path() + "/")->classes(),
            std::vector<std::string>{"cat"});
}

TEST(OpenContainer, a_rec_file_opens_as_record_io_in_either_case) {
  const TemporaryDirectory directory;
  const std::filesystem::path golden = FUELRAIL_SOURCE_DIR "/tests/golden/recordio/part0.rec";
  std::filesystem::copy_file(golden, directory / "a.rec");
  std::filesystem::copy_file(golden, directory / "B.REC");
  const auto container = open_container(directory / "a.rec");
  EXPECT_GT(container->size(), 0u);
  EXPECT_EQ(open_container(directory / "B.REC")->fingerprint(), container->fingerprint());
}

TEST(OpenContainer, a_missing_path_is_not_found) {
  for (const char* uri : {"/nowhere/train.rec", "/nowhere", "memory://nowhere.rec"}) {
    try {
      open_container(uri);
      ADD_FAILURE() << uri;
    } catch (const NotFoundError& error) {
      EXPECT_EQ(error.detail().path, uri);
    }
  }
}

TEST(OpenContainer, an_empty_path_is_refused) {
  EXPECT_THROW(open_container(""), InvalidArgumentError);
}

TEST(OpenContainer, a_store_that_is_not_read_yet_is_unsupported) {
  EXPECT_THAT(refusal("s3://bucket/train.rec"), HasSubstr("s3:// is not supported yet"));
}

TEST(OpenContainer, an_unknown_file_is_named_by_its_first_bytes) {
  using namespace std::string_literals;
  const TemporaryDirectory directory;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"\xFF\xD8\xFF\xE0\0\x10JFIF"s, "found a JPEG image. Open the folder"},
      {"\x89PNG\r\n\x1A\n\0\0"s, "found a PNG image"},
      {"RIFF\x80\0\0\0WEBPVP8 "s, "found a WebP image"},
      {"BM\x36\0\0\0"s, "found a BMP image"},
      {"BMW, Audi\n"s, "found a text file"},
      {"\x0A\x23\xD7\xCE\0\0\0\0"s,
       "found a file in the RecordIO format. Rename it so that its name ends in .rec"},
      {"PK\x03\x04zip"s, "found a zip archive. Unpack it"},
      {std::string(257, '\0') + "ustar\0"s, "found a tar archive"},
      {"\0\0\0\x18"s + "ftypmp42", "found an ISO media file"},
      {"hello, world\n"s, "found a text file"},
      {"\0\1\2\3"s, "found a file of an unknown format"},
      {""s, "found an empty file"}};
  for (const auto& [bytes, expected] : cases) {
    write_file(directory / "train.data", bytes);
    const std::string message = refusal(directory / "train.data");
    EXPECT_THAT(message, HasSubstr(expected));
    EXPECT_THAT(
        message,
        HasSubstr("expected a folder of images or of FFRecord files, or a file: RecordIO (.rec), "
                  "FFRecord (.ffr), Benzina (.bzna) or list of images (.lst, .csv, .tsv), found "));
    EXPECT_THAT(message, HasSubstr(directory / "train.data"));
  }
}

TEST(OpenContainer, a_file_that_belongs_to_a_rec_points_to_it) {
  const TemporaryDirectory directory;
  write_file(directory / "train.idx", "0\t0\n");
  EXPECT_THAT(refusal(directory / "train.idx"), HasSubstr("Open the .rec file"));
  write_file(directory / "train.rec.frx", "\x01");
  EXPECT_THAT(refusal(directory / "train.rec.frx"), HasSubstr("Open the file that it belongs to"));
}

TEST(OpenContainer, a_list_opens_as_its_images) {
  const TemporaryDirectory directory;
  write_file(directory / "train.LST", "5\t0\ta.jpg\n");
  const auto container = open_container(directory / "train.LST", {.root = "elsewhere"});
  EXPECT_EQ(container->size(), 1);
  EXPECT_STREQ(container->format(), "list");
  EXPECT_EQ(container->place(0).path, "elsewhere/a.jpg");
}

// --- Class names ---

std::vector<int64_t> labels_of(const Container& container) {
  std::vector<int64_t> labels;
  std::vector<std::byte> framed;
  Sample sample;
  for (uint64_t i = 0; i < container.size(); ++i) {
    read_sample(container, i, framed, sample);
    labels.push_back(load_le<int64_t>(sample.fields[1].bytes.data()));
  }
  return labels;
}

TEST(OpenContainer, given_class_names_fix_the_numbers_of_a_folder) {
  const TemporaryDirectory directory;
  const std::vector<std::string> classes{"dog", "bee", "ant", "cat"};
  for (const char* name : {"val/ant/0.jpg", "val/dog/0.jpg", "val/dog/1.jpg"}) {
    write_file(directory / name, "x");
  }
  write_file(directory / "val.ffr", ffrecord::PackedFolderFile(directory / "val").contents());
  for (const auto& container :
       {open_container(directory / "val", {.classes = classes}),
        open_container(directory / "val.ffr", {.schema = "class_folders", .classes = classes})}) {
    EXPECT_EQ(container->classes(), classes);
    EXPECT_THAT(labels_of(*container), ::testing::ElementsAre(0, 0, 2));
  }
  EXPECT_EQ(open_container(directory / "val", {.classes = classes})->place(0).path,
            directory / "val/dog/0.jpg");
}

TEST(OpenContainer, a_class_folder_that_is_not_among_the_given_names_is_refused) {
  const TemporaryDirectory directory;
  write_file(directory / "ant/0.jpg", "x");
  write_file(directory / "beee/0.jpg", "x");
  const auto complaint = [&] {
    return testing::refusal_of<InvalidArgumentError>([&] {
      open_container(directory.path(), {.classes = {"ant", "bee"}});
    });
  };
  EXPECT_THAT(complaint(), HasSubstr("the folder name 'beee' is not one of the given class names. "
                                     "Did you mean 'bee'?"));
  write_file(directory / "cat/0.jpg", "x");
  EXPECT_THAT(complaint(), HasSubstr("is not one of the given class names: found the same problem "
                                     "with 'cat'. "));
}

TEST(OpenContainer, a_file_of_other_class_names_than_those_given_is_refused_with_the_first) {
  const TemporaryDirectory directory;
  const std::filesystem::path golden = FUELRAIL_SOURCE_DIR "/tests/golden/recordio/part0.rec";
  std::filesystem::copy_file(golden, directory / "a.rec");
  EXPECT_THAT(
      testing::refusal_of<InvalidArgumentError>([&] {
        open_container(directory / "a.rec", {.classes = {"ant", "bee"}});
      }),
      HasSubstr("a.rec: the class names differ from the given class names: expected 'ant' as "
                "class 0, found no class names. Pack the file"));
}

// --- FFRecord ---

TEST(OpenContainer, a_directory_of_ffr_files_opens_as_all_of_them_by_name) {
  const TemporaryDirectory directory;
  write_file(directory / "b.ffr", ffrecord::file_of({"third"}));
  write_file(directory / "PART_0.FFR", ffrecord::file_of({"first", "second"}));
  write_file(directory / "empty.ffr", ffrecord::file_of({}));
  write_file(directory / "notes.txt", "not looked at");
  write_file(directory / "logs/x.txt", "not looked at");
  const auto container = open_container(directory.path());
  ASSERT_EQ(container->size(), 3);
  EXPECT_STREQ(container->format(), "FFRecord");
  Sample sample;
  std::vector<std::byte> framed;
  for (const auto& [i, text] : {std::pair{0, "first"}, {1, "second"}, {2, "third"}}) {
    read_sample(*container, static_cast<uint64_t>(i), framed, sample);
    EXPECT_EQ(as_text(sample.fields[0].bytes), text);
  }
  EXPECT_EQ(container->place(2).path, directory / "b.ffr");
  EXPECT_EQ(container->place(2).record, 0);
}

TEST(OpenContainer, a_directory_of_empty_ffr_files_is_empty) {
  const TemporaryDirectory directory;
  write_file(directory / "a.ffr", ffrecord::file_of({}));
  write_file(directory / "b.ffr", ffrecord::file_of({}));
  EXPECT_EQ(open_container(directory.path())->size(), 0);
}

TEST(OpenContainer, a_directory_of_ffr_files_and_images_is_refused_with_both) {
  const TemporaryDirectory directory;
  write_file(directory / "a.ffr", ffrecord::file_of({"record"}));
  write_file(directory / "cat/black/1.jpg", "image");
  EXPECT_THAT(testing::refusal_of<InvalidArgumentError>([&] { open_container(directory.path()); }),
              HasSubstr("the folder has both FFRecord files and images: expected only "
                        "FFRecord files, or one sub-folder of images per class, found " +
                        (directory / "a.ffr") + " and " + (directory / "cat/black/1.jpg")));
  std::filesystem::remove_all(directory / "cat");
  write_file(directory / "1.jpg", "image");
  EXPECT_THROW(open_container(directory.path()), InvalidArgumentError);
}

TEST(OpenContainer, hidden_names_beside_ffr_files_are_passed_over_with_one_warning) {
  const TemporaryDirectory directory;
  write_file(directory / "a.ffr", ffrecord::file_of({"record"}));
  write_file(directory / "._a.ffr", "an AppleDouble file");
  write_file(directory / ".thumbnails/cat/1.jpg", "image");
  std::vector<std::string> said;
  const auto container = open_container(
      directory.path(), {.warn = [&](const std::string& text) { said.push_back(text); }});
  EXPECT_EQ(container->size(), 1u);
  EXPECT_THAT(said, ::testing::ElementsAre(HasSubstr("2 names that begin with a dot")));
}

TEST(OpenContainer, a_packed_folder_is_records_or_images_as_the_schema_says) {
  const TemporaryDirectory directory;
  write_file(directory / "train/cat/1.jpg", "image");
  write_file(directory / "x.ffr", ffrecord::PackedFolderFile(directory / "train").contents());
  EXPECT_EQ(open_container(directory / "x.ffr")->schema().fields[0].name, "data");
  const auto images = open_container(directory / "x.ffr", {.schema = "class_folders"});
  EXPECT_EQ(images->schema().fields[0].name, "image");
  EXPECT_EQ(images->classes(), std::vector<std::string>{"cat"});
}

TEST(OpenContainer, a_schema_that_there_is_not_is_refused) {
  const TemporaryDirectory directory;
  write_file(directory / "x.ffr", ffrecord::file_of({"record"}));
  write_file(directory / "x.rec", "not looked at");
  write_file(directory / "cat/1.jpg", "image");
  const auto refusal_with = [&](const std::string& uri, const std::string& schema) {
    return testing::refusal_of<InvalidArgumentError>(
        [&] { open_container(uri, {.schema = schema}); });
  };
  EXPECT_THAT(refusal_with(directory / "x.ffr", "class_folder"),
              HasSubstr("x.ffr: unknown schema: found class_folder. Did you mean "
                        "'class_folders'?"));
  EXPECT_THAT(refusal_with(directory / "x.ffr", "?"), HasSubstr("class_folders"));
  EXPECT_THAT(refusal_with(directory / "x.rec", "class_folders"),
              HasSubstr("x.rec: a schema can be given only for .ffr files: found the schema "
                        "class_folders"));
  std::filesystem::remove(directory / "x.ffr");
  EXPECT_THAT(refusal_with(directory.path(), "class_folders"), HasSubstr("Omit the schema"));
}

}  // namespace
}  // namespace fuelrail
