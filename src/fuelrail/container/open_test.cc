#include "fuelrail/container/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& uri) {
  try {
    open_container(uri);
    return "nothing was thrown";
  } catch (const UnsupportedError& error) {
    return error.what();
  }
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
  EXPECT_THAT(refusal("s3://bucket/train.rec"), HasSubstr("fuelrail does not read s3:// yet"));
}

TEST(OpenContainer, an_unknown_file_is_named_by_its_first_bytes) {
  using namespace std::string_literals;
  const TemporaryDirectory directory;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"\xFF\xD8\xFF\xE0"s, "found a JPEG image. Open the folder"},
      {"\x89PNG\r\n\x1A\n\0\0"s, "found a PNG image"},
      {"RIFF1234WEBPVP8 "s, "found a WebP image"},
      {"\x0A\x23\xD7\xCE\0\0\0\0"s, "found a RecordIO file. Give it a name that ends in .rec"},
      {"PK\x03\x04zip"s, "found a zip archive. Unpack it"},
      {std::string(257, '\0') + "ustar\0"s, "found a tar archive"},
      {"\0\0\0\x18"s + "ftypmp42", "found an ISO media file"},
      {"hello, world\n"s, "found a text file"},
      {"\0\1\2\3"s, "found a file whose first bytes are not known"},
      {""s, "found an empty file"}};
  for (const auto& [bytes, expected] : cases) {
    write_file(directory / "train.data", bytes);
    const std::string message = refusal(directory / "train.data");
    EXPECT_THAT(message, HasSubstr(expected));
    EXPECT_THAT(message, HasSubstr("a folder of images or a RecordIO file (.rec)"));
    EXPECT_THAT(message, HasSubstr(directory / "train.data"));
  }
}

TEST(OpenContainer, a_file_that_belongs_to_a_rec_points_to_it) {
  const TemporaryDirectory directory;
  write_file(directory / "train.idx", "0\t0\n");
  EXPECT_THAT(refusal(directory / "train.idx"), HasSubstr("Open the .rec file"));
  write_file(directory / "train.rec.frx", "\x01");
  EXPECT_THAT(refusal(directory / "train.rec.frx"), HasSubstr("Open the .rec file"));
  write_file(directory / "train.lst", "0\t0\ta.jpg\n");
  EXPECT_THAT(refusal(directory / "train.lst"), HasSubstr("Pack the list"));
}

}  // namespace
}  // namespace fuelrail
