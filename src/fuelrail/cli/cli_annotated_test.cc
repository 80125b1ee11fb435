// `fuelrail pack --from`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/container/open.h"
#include "fuelrail/testing/cli_call.h"
#include "fuelrail/testing/source_values.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail {
namespace {

using testing::call;
using ::testing::HasSubstr;
using testing::Said;

class CliAnnotated : public ::testing::Test {
 protected:
  CliAnnotated() {
    testing::write_png(directory_ / "photos/a.png", {4, 6});
    write_file(directory_ / "coco.json",
               R"({"images": [{"id": 7, "file_name": "a.png", "height": 4, "width": 6}],
                   "categories": [{"id": 3, "name": "car"}],
                   "annotations": [{"image_id": 7, "category_id": 3, "bbox": [0, 0, 2, 2],
                                    "segmentation": [[0, 0, 2, 0, 2, 2, 0, 2]]}]})");
  }
  std::vector<std::string> coco() const {
    return {"pack", "--from", "coco", directory_ / "coco.json", directory_ / "photos"};
  }

  TemporaryDirectory directory_;
};

TEST_F(CliAnnotated, a_dry_run_shows_fields_counts_and_the_first_sample) {
  std::vector<std::string> command = coco();
  command.emplace_back("--dry-run");
  const Said said = call(command);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("field boxes: boxes: tensor float32 [-1, 4]"));
  EXPECT_THAT(said.out, HasSubstr("classes of labels: 1 (car)"));
  EXPECT_THAT(said.out, HasSubstr("1 sample\n"));
  EXPECT_THAT(said.out, HasSubstr("a.png: {\"image\":"));
  EXPECT_EQ(names_in(directory_.path()).size(), 2u);
}

TEST_F(CliAnnotated, annotations_are_packed_as_fields) {
  std::vector<std::string> command = coco();
  command.push_back(directory_ / "x.rec");
  const Said said = call(command);
  ASSERT_EQ(said.code, 0) << said.err;
  const auto container = open_container(directory_ / "x.rec");
  EXPECT_EQ(container->size(), 1u);
  EXPECT_TRUE(container->schema().has("mask"));
}

TEST_F(CliAnnotated, ls_counts_objects_and_names_images) {
  std::vector<std::string> command = coco();
  command.push_back(directory_ / "x.rec");
  ASSERT_EQ(call(command).code, 0);
  const std::string text = call({"ls", directory_ / "x.rec"}).out;
  EXPECT_THAT(text, HasSubstr("       id objects format height x width      bytes  name\n"));
  EXPECT_THAT(text, HasSubstr("        7       1 png"));
  EXPECT_THAT(text, HasSubstr("  a.png\n"));
  EXPECT_THAT(call({"ls", directory_ / "x.rec", "--json"}).out,
              HasSubstr("\"id\":7,\"objects\":1,\"name\":\"a.png\""));
}

TEST_F(CliAnnotated, unpaired_masks_are_listed) {
  testing::write_png(directory_ / "masks/a.png", {4, 6});
  testing::write_png(directory_ / "masks/b.png", {4, 6});
  const Said said =
      call({"pack", "--from", "masks", directory_ / "photos", directory_ / "masks", "--dry-run"});
  EXPECT_EQ(said.code, 1);
  EXPECT_THAT(said.out, HasSubstr("masks/b.png: the mask has no image"));
}

TEST_F(CliAnnotated, wrong_arguments_are_refused) {
  EXPECT_THAT(call({"pack", "--from", "yolo", "a", "b"}).err,
              HasSubstr("Known: coco, voc, masks, jsonl. Pack others in Python"));
  EXPECT_THAT(
      call({"pack", "--from", "coco", directory_ / "photos", directory_ / "coco.json", "x.rec"})
          .err,
      HasSubstr("has a file in place of a folder"));
  EXPECT_THAT(call({"pack", directory_ / "coco.json", directory_ / "x.rec"}).err,
              HasSubstr("fuelrail pack --from coco"));
  EXPECT_THAT(call(coco()).err, HasSubstr("expected ANNOTATIONS.json IMAGES OUT"));
  std::vector<std::string> command = coco();
  command.insert(command.end(), {"x.rec", "--set", "train"});
  EXPECT_THAT(call(command).err, HasSubstr("--set does not apply to --from coco"));
}

}  // namespace
}  // namespace fuelrail
