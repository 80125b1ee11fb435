#include "fuelrail/pack/annotations/mask_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fuelrail/base/error.h"
#include "fuelrail/encode/npy_writer.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/source_values.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using ::testing::HasSubstr;
using testing::refusal_of;

class MaskFolders : public ::testing::Test {
 protected:
  std::unique_ptr<SampleSource> open() const {
    return open_mask_folder(directory_ / "images", directory_ / "masks");
  }
  void write(const std::string& name, Size size = {4, 6}, uint8_t level = 0) const {
    testing::write_png(directory_ / name, size, level);
  }
  std::string refusal_to_read() const {
    return refusal_of<Error>([this] {
      SourceSample sample;
      open()->read(0, sample);
    });
  }
  void write_jpeg(const std::string& name) const {
    write_file(directory_ / name,
               file_contents(FUELRAIL_SOURCE_DIR "/tests/golden/images/grey.jpg"));
  }

  TemporaryDirectory directory_;
};

TEST_F(MaskFolders, images_and_masks_are_paired_by_path_and_the_others_listed) {
  write_jpeg("images/b.jpg");
  write("images/a/b.png");
  write("images/a/c.png");
  write("masks/b.png", {4, 6}, 7);
  write("masks/a/b.png", {4, 6}, 8);
  write("masks/a/d.png");
  write("masks/.hidden.png");
  const auto source = open();
  ASSERT_EQ(source->size(), 2u);
  EXPECT_EQ(source->path(0), directory_ / "images/a/b.png");
  SourceSample sample;
  source->read(1, sample);
  EXPECT_EQ(testing::text_of(sample.fields[0].bytes), file_contents(directory_ / "images/b.jpg"));
  EXPECT_EQ(testing::text_of(sample.fields[2].bytes), file_contents(directory_ / "masks/b.png"));
  source->read(0, sample);
  EXPECT_EQ(testing::text_of(sample.fields[1].bytes), "a/b.png");
  ASSERT_EQ(source->unread().size(), 2u);
  EXPECT_EQ(source->unread()[0].path, directory_ / "images/a/c.png");
  EXPECT_EQ(source->unread()[0].reason, "the image has no mask");
  EXPECT_EQ(source->unread()[1].path, directory_ / "masks/a/d.png");
  const FieldSpec& mask = source->schema().fields[2];
  EXPECT_EQ(mask.role, Role::kMask);
  EXPECT_EQ(mask.of, 0);
  EXPECT_EQ(mask.detail, 255);
}

TEST_F(MaskFolders, what_cannot_be_paired_is_refused) {
  write("images/a.png");
  write("masks/b.png");
  EXPECT_THAT(refusal_of<NotFoundError>([&] { open(); }), HasSubstr("no image has a mask"));
  write("masks/a.png");
  write("images/a.jpg");
  EXPECT_THAT(refusal_of<CorruptError>([&] { open(); }),
              HasSubstr("two files differ only in their extensions"));
}

TEST_F(MaskFolders, masks_without_exact_numbers_are_refused) {
  write("images/a.png");
  write_jpeg("masks/a.png");
  EXPECT_THAT(refusal_to_read(),
              HasSubstr("the mask is compressed with loss, so its numbers are not exact: "
                        "found JPEG. Store masks as PNG"));
  std::vector<uint8_t> pixels(72);
  std::vector<std::byte> png;
  encode_png({pixels.data(), 4, 6, 3, 18}, 3, png);
  write_file(directory_ / "masks/a.png", as_text(png));
  EXPECT_THAT(refusal_to_read(), HasSubstr("masks/a.png: the image has colours or alpha"));
}

TEST_F(MaskFolders, masks_may_be_arrays_but_not_of_floats) {
  write("images/a.png");
  const auto write_array = [&](DType dtype) {
    const std::vector<std::byte> elements(4 * 6 * size_in_bytes(dtype));
    std::vector<std::byte> npy;
    encode_npy({elements.data(), 4, 6, 1, dtype, static_cast<int64_t>(6 * size_in_bytes(dtype))},
               npy);
    write_file(directory_ / "masks/a.npy", as_text(npy));
  };
  write_array(DType::kInt32);
  SourceSample sample;
  open()->read(0, sample);
  EXPECT_EQ(testing::text_of(sample.fields[2].bytes), file_contents(directory_ / "masks/a.npy"));
  write_array(DType::kFloat32);
  EXPECT_THAT(refusal_to_read(), HasSubstr("masks/a.npy: the numbers of the mask are floats: "
                                           "expected uint8, uint16 or int32"));
}

}  // namespace
}  // namespace fuelrail::pack
