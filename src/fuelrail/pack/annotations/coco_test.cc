#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/annotations/coco_file.h"
#include "fuelrail/pack/annotations/coco_source.h"
#include "fuelrail/testing/forked.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/source_values.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using testing::elements_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::refusal_of;
using testing::value_of;

// Two images, of 4 x 6 and 2 x 3 pixels; the second one has no objects.
constexpr const char* kImages = R"("images": [
    {"id": 70, "file_name": "a.png", "height": 4, "width": 6},
    {"id": 9, "file_name": "b/b.png", "height": 2, "width": 3}])";
constexpr const char* kCategories = R"("categories": [
    {"id": 30, "name": "car"}, {"id": 4, "name": "dog"}])";

// An object of image 70 with more members.
std::string coco_object(const std::string& members = "") {
  const bool boxed = members.find("\"bbox\"") != members.npos;
  return std::string(R"({"image_id": 70, "category_id": 4)") +
         (boxed ? "" : R"(, "bbox": [0, 0, 2, 2])") +
         (members.empty() ? "}" : ", " + members + "}");
}

class Coco : public ::testing::Test {
 protected:
  Coco() {
    testing::write_png(directory_ / "photos/a.png", {4, 6});
    testing::write_png(directory_ / "photos/b/b.png", {2, 3});
  }

  std::string annotations() const { return directory_ / "coco.json"; }
  void write(const std::string& text) const { write_file(annotations(), text); }
  void write_annotations(const std::string& list) const {
    write(std::string("{") + kImages + ", " + kCategories + R"(, "annotations": [)" + list + "]}");
  }
  std::unique_ptr<SampleSource> open(const std::vector<std::string>& classes = {}) {
    return open_coco(annotations(), directory_ / "photos",
                     {.classes = classes,
                      .warn = [this](const std::string& text) { warnings_.push_back(text); }});
  }
  SourceSample read(const SampleSource& source, uint64_t i) const {
    SourceSample sample;
    source.read(i, sample);
    return sample;
  }
  // The error without the path of the file.
  std::string refusal(const std::string& text) {
    write(text);
    return refusal_of<CorruptError>([&] { open(); }).substr(annotations().size() + 2);
  }
  std::string refusal_of_annotations(const std::string& list) {
    write_annotations(list);
    return refusal(file_contents(annotations()));
  }

  TemporaryDirectory directory_;
  std::vector<std::string> warnings_;
};

TEST_F(Coco, an_image_has_its_objects_in_order_with_class_numbers_from_0) {
  write_annotations(coco_object(R"("area": 1.5, "iscrowd": 1)") + R"(,
      {"image_id": 70, "category_id": 30, "bbox": [1.5, 2, 3, 0.25], "id": 8, "other": {"x": [1]}})");
  const auto source = open();
  ASSERT_EQ(source->size(), 2u);
  EXPECT_EQ(source->id(0), 70u);
  EXPECT_THAT(source->classes(), ElementsAre(std::pair(std::string("labels"),
                                                       std::vector<std::string>{"dog", "car"})));
  const SourceSample sample = read(*source, 0);
  EXPECT_EQ(sample.id, 70u);
  EXPECT_EQ(testing::text_of(value_of(*source, sample, "image").bytes),
            file_contents(directory_ / "photos/a.png"));
  EXPECT_EQ(testing::text_of(value_of(*source, sample, "file_name").bytes), "a.png");
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, sample, "image_id")), ElementsAre(70));
  EXPECT_THAT(value_of(*source, sample, "boxes").shape, ElementsAre(2, 4));
  EXPECT_THAT(elements_of<float>(value_of(*source, sample, "boxes")),
              ElementsAre(0, 0, 2, 2, 1.5, 2, 4.5, 2.25));
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, sample, "labels")), ElementsAre(0, 1));
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, sample, "category_ids")), ElementsAre(4, 30));
  EXPECT_THAT(elements_of<uint8_t>(value_of(*source, sample, "iscrowd")), ElementsAre(1, 0));
  EXPECT_THAT(elements_of<float>(value_of(*source, sample, "area")), ElementsAre(1.5, 0.75));
  EXPECT_THAT(warnings_, IsEmpty());
}

// A resumed job compares the contents.
TEST_F(Coco, the_contents_describe_the_annotations) {
  write_annotations(coco_object());
  const std::string before = open()->contents();
  write_annotations(coco_object(R"("unused": 1)"));
  EXPECT_EQ(open()->contents(), before);
  write_annotations(coco_object(R"("iscrowd": 1)"));
  EXPECT_NE(open()->contents(), before);
}

TEST_F(Coco, given_classes_number_the_objects_by_the_names_of_their_categories) {
  write_annotations(coco_object());
  const auto source = open({"cat", "dog", "bus"});
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, read(*source, 0), "labels")), ElementsAre(1));
  EXPECT_THAT(source->classes().at(0).second, ElementsAre("cat", "dog", "bus"));
  EXPECT_THAT(refusal_of<CorruptError>([&] {
                open({"car", "bus"});
              }),
              HasSubstr("the category of an object is not one of the classes: found 'dog'"));
}

TEST_F(Coco, an_image_without_objects_has_empty_columns) {
  write_annotations(coco_object(R"("keypoints": [1, 2, 2], "segmentation": [[0, 0, 2, 0, 2, 2]])"));
  const auto source = open();
  const SourceSample sample = read(*source, 1);
  EXPECT_THAT(value_of(*source, sample, "boxes").shape, ElementsAre(0, 4));
  EXPECT_THAT(value_of(*source, sample, "keypoints").shape, ElementsAre(0, 1, 3));
  EXPECT_THAT(value_of(*source, sample, "numbers").shape, ElementsAre(0));
  const SourceValue& mask = value_of(*source, sample, "mask");
  EXPECT_EQ(mask.pixels, (Size{2, 3}));
  EXPECT_THAT(elements_of<uint8_t>(mask), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST_F(Coco, polygons_and_both_forms_of_run_lengths_become_one_mask) {
  write_annotations(
      coco_object(R"("segmentation": [[0, 0, 2, 0, 2, 2, 0, 2], [4, 2, 6, 2, 6, 4, 4, 4]])") + "," +
      coco_object(R"("segmentation": {"size": [4, 6], "counts": [4, 2, 18]}, "iscrowd": 1)") + "," +
      coco_object(R"("segmentation": {"size": [4, 6], "counts": "d04"})") + "," + coco_object());
  const auto source = open();
  const SourceSample sample = read(*source, 0);
  EXPECT_THAT(elements_of<uint8_t>(value_of(*source, sample, "mask")),
              ElementsAre(1, 2, 0, 0, 0, 3,  //
                          1, 2, 0, 0, 0, 3,  //
                          0, 0, 0, 0, 1, 3,  //
                          0, 0, 0, 0, 1, 3));
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, sample, "numbers")), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(source->remarks(), ElementsAre(HasSubstr("objects overlap in 4 pixels of 1 image")));
}

TEST_F(Coco, more_than_255_objects_have_a_mask_of_16_bits) {
  std::string list;
  for (int i = 0; i < 256; ++i) list += (i > 0 ? "," : "") + coco_object();
  write_annotations(list + "," + coco_object(R"("segmentation": [[0, 0, 1, 0, 1, 1, 0, 1]])"));
  const auto source = open();
  const SourceSample sample = read(*source, 0);
  const SourceValue& mask = value_of(*source, sample, "mask");
  EXPECT_EQ(mask.pixel_bytes, 2u);
  EXPECT_EQ(elements_of<uint16_t>(mask).front(), 257);
}

TEST_F(Coco, key_points_are_filled_up_to_the_most_of_an_object) {
  write_annotations(coco_object(R"("keypoints": [1, 2, 2, 3, 4.5, 1])") + "," +
                    coco_object(R"("keypoints": [5, 6, 2])") + "," + coco_object());
  const auto source = open();
  const FieldSpec& field = source->schema().fields[source->schema().index_of("keypoints")];
  EXPECT_TRUE(field.has(kPixelCenters));
  const SourceSample sample = read(*source, 0);
  EXPECT_THAT(value_of(*source, sample, "keypoints").shape, ElementsAre(3, 2, 3));
  EXPECT_THAT(elements_of<float>(value_of(*source, sample, "keypoints")),
              ElementsAre(1, 2, 2, 3, 4.5, 1, 5, 6, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST_F(Coco, captions_are_a_list_of_text_and_may_come_before_the_images) {
  write(std::string(R"({"annotations": [{"image_id": 70, "caption": "A dog."},
      {"image_id": 9, "caption": "Nothing."}, {"image_id": 70, "caption": "Ein M\u00e4rz."}], )") +
        kImages + "}");
  const auto source = open();
  EXPECT_FALSE(source->schema().has("boxes"));
  const SourceSample sample = read(*source, 0);
  const auto& captions = value_of(*source, sample, "captions").items;
  ASSERT_EQ(captions.size(), 2u);
  EXPECT_EQ(testing::text_of(captions[0]), "A dog.");
  EXPECT_EQ(testing::text_of(captions[1]), "Ein M\u00e4rz.");
}

TEST_F(Coco, polygons_of_two_points_are_left_out_and_counted) {
  write_annotations(coco_object() + "," + coco_object(R"("segmentation": [[0, 0, 3, 3], [1, 1]])") +
                    "," + coco_object(R"("segmentation": [])"));
  const auto source = open();
  EXPECT_THAT(warnings_,
              ElementsAre(annotations() + ": 2 polygons have fewer than three corners "
                                          "and cover no pixels: first in annotations[1]"));
  EXPECT_FALSE(source->schema().has("mask"));
}

TEST_F(Coco, repeated_annotation_ids_are_counted) {
  write_annotations(coco_object(R"("id": 5)") + "," + coco_object(R"("id": 5)"));
  open();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("1 annotation has the id of an earlier one")));
}

// Annotations with polygons of 3 to 32 corners and, the most costly ones for their length, captions
// without text.
void write_large_file(const std::string& path, uint64_t bytes) {
  std::ofstream file(path);
  file << "{" << kImages << ", " << kCategories << R"(, "annotations": [)";
  for (int i = 0; static_cast<uint64_t>(file.tellp()) < bytes; ++i) {
    file << (i > 0 ? "," : "") << R"({"image_id":9)";
    if (i % 4 == 0) {
      file << R"(,"caption":""})";
      continue;
    }
    file << R"(,"category_id":4,"id":)" << i << R"(,"bbox":[1,2,3,4],"segmentation":[[0,0)";
    for (int corner = 0; corner < 2 + i % 30; ++corner) file << "," << corner << "," << 0.37 * i;
    file << "]]}";
  }
  file << "]}";
  ASSERT_TRUE(file.flush());
}

// "[[],[],...]"
std::string empty_lists(size_t count) {
  std::string lists("[[]");
  for (size_t i = 1; i < count; ++i) lists += ",[]";
  return lists + "]";
}

// By how many bytes the memory of a process that reads the file grows.
uint64_t memory_to_read(const std::string& path) {
  // Before the fork: a child's maximum begins at the memory that it is born with, so what the child
  // itself gave back could grow again unseen.
  ::malloc_trim(0);
  return std::stoull(in_forked_child([&] {
    const auto most = [] {
      rusage usage;
      ::getrusage(RUSAGE_SELF, &usage);
      return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
    };
    const uint64_t before = most();
    const CocoFile file(path);
    return std::to_string(most() - before);
  }));
}

TEST_F(Coco, a_large_file_takes_less_than_three_times_its_length) {
#ifdef FUELRAIL_SANITIZED
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  constexpr uint64_t kBytes = uint64_t{6} << 20;
  ASSERT_NO_FATAL_FAILURE(write_large_file(annotations(), kBytes));
  const uint64_t growth = memory_to_read(annotations());
  EXPECT_GT(growth, kBytes / 4);
  EXPECT_LT(growth, 3 * kBytes);
  write_annotations(coco_object(R"("other": )" + empty_lists(2'000'000)));
  EXPECT_LT(memory_to_read(annotations()), 3 * kBytes);
}

TEST_F(Coco, an_element_of_too_many_lists_is_refused) {
#ifdef FUELRAIL_SANITIZED
  GTEST_SKIP() << "under sanitizers, its lists take too much memory";
#endif
  write_annotations(coco_object(R"("segmentation": )" + empty_lists(4'194'304)));
  EXPECT_THAT(refusal_of<CorruptError>([&] { open(); }),
              HasSubstr("`annotations[0]` has too many values: expected at most 4194304"));
}

TEST_F(Coco, a_file_that_is_not_of_the_format_is_refused) {
  EXPECT_THAT(
      refusal(R"({"annotations": []})"),
      HasSubstr("the file has no `images`, so it is not a COCO annotation file: expected a JSON "
                "object with images, annotations and categories. Pass the file of"));
  EXPECT_THAT(refusal(R"([1])"), HasSubstr("the file is not a JSON object"));
  EXPECT_THAT(refusal(R"({"images": [)"), HasSubstr("offset 12: the file is not valid JSON"));
  EXPECT_THAT(refusal("{\"images\": [{\"file_name\": \"caf\xe9.png\"}]}"),
              HasSubstr("offset 31: the file is not UTF-8. Save the file as UTF-8."));
  EXPECT_THAT(refusal(R"({"images": {}})"), HasSubstr("`images` has the wrong type"));
  EXPECT_THAT(refusal(R"({"images": [3]})"), HasSubstr("`images[0]` has the wrong type"));
  EXPECT_THAT(refusal(R"({"images": [], "images": []})"), HasSubstr("`images` occurs twice"));
  EXPECT_THAT(refusal(R"({"images": [{"id": 1}]})"), HasSubstr("`images[0].file_name` does not"));
  EXPECT_THAT(refusal(R"({"images": [{"id": -1, "file_name": "a", "height": 1, "width": 1}]})"),
              HasSubstr("`images[0].id` has the wrong type: expected a whole number from 0"));
  EXPECT_THAT(
      refusal(R"({"images": [{"id": 1, "file_name": "a", "height": 0, "width": 1}]})"),
      HasSubstr("`images[0].height` has the wrong type: expected at least 1 pixel, found 0"));
  EXPECT_THAT(refusal("{\"images\": " + std::string(100, '[') + std::string(100, ']') + "}"),
              HasSubstr("`images[0]` has the wrong type"));
  EXPECT_THAT(refusal("{\"other\": " + std::string(100, '[') + std::string(100, ']') + "}"),
              HasSubstr("the file has too many levels"));
}

TEST_F(Coco, a_wrong_annotation_is_refused_with_its_place) {
  const auto refusal_of_member = [&](const std::string& member) {
    return refusal_of_annotations(coco_object() + "," + coco_object(member));
  };
  EXPECT_THAT(refusal_of_annotations(R"({"image_id": 71, "category_id": 4, "bbox": [0, 0, 1, 1]})"),
              HasSubstr("`annotations[0].image_id` is not an id of `images`: found 71. Add it to "
                        "`images`, or remove the annotation."));
  EXPECT_THAT(refusal_of_annotations(R"({"image_id": 70, "category_id": 5, "bbox": [0, 0, 1, 1]})"),
              HasSubstr("`annotations[0].category_id` is not an id of `categories`: found 5"));
  EXPECT_THAT(
      refusal_of_member(R"("bbox": [0, 0, -1, 1])"),
      HasSubstr("`annotations[1].bbox` has a negative width or height: expected x, y, width, "
                "height, found [0,0,-1,1]. Correct or remove this element."));
  EXPECT_THAT(refusal_of_member(R"("area": 1, "unused": 2, "unused": 3, "area": 1)"),
              HasSubstr("`annotations[1]` has the member `area` twice. Remove one of the two"));
  EXPECT_THAT(refusal_of_member(R"("area": NaN)"),
              HasSubstr("the file is not valid JSON: found NaN. JSON has no such number"));
  EXPECT_THAT(refusal_of_member(R"("area": -Infinity)"), HasSubstr("found Infinity"));
  EXPECT_THAT(refusal_of_member(R"("bbox": [0, 0, 1e300, 1])"),
              HasSubstr("`annotations[1].bbox[2]` has the wrong type: expected a finite number"));
  EXPECT_THAT(refusal_of_member(R"("area": 1e999)"),
              HasSubstr("`annotations[1]` has a number that float64 cannot hold"));
  EXPECT_THAT(refusal_of_member(R"("bbox": [0, 3e38, 0, 3e38])"),
              HasSubstr("`annotations[1].bbox` has a corner that float32 cannot hold"));
  EXPECT_THAT(refusal_of_member(R"("bbox": [0, 0, 1])"), HasSubstr("expected 4 numbers"));
  EXPECT_THAT(refusal_of_member(R"("iscrowd": 2)"), HasSubstr("`annotations[1].iscrowd`"));
  EXPECT_THAT(refusal_of_member(R"("segmentation": [[0, 0, 1, 1, 2]])"),
              HasSubstr("`annotations[1].segmentation[0]` has an odd number of coordinates"));
  EXPECT_THAT(refusal_of_member(R"("segmentation": [[0, 0, 1, 1, 2, 1e9]])"),
              HasSubstr("`annotations[1].segmentation[0][5]` has the wrong type"));
  EXPECT_THAT(refusal_of_member(R"("segmentation": {"counts": [1]})"),
              HasSubstr("`annotations[1].segmentation.size` does not exist"));
  EXPECT_THAT(refusal_of_member(R"("keypoints": [1, 2])"),
              HasSubstr("x, y and visibility of each key point"));
  EXPECT_THAT(refusal_of_member(R"("caption": 7)"), HasSubstr("`annotations[1].caption`"));
}

TEST_F(Coco, repeated_ids_of_images_and_categories_are_refused) {
  EXPECT_THAT(refusal(std::string("{") + kImages +
                      R"(, "categories": [{"id": 4, "name": "a"}, {"id": 4, "name": "b"}]})"),
              HasSubstr("`categories` has an id twice: found 4"));
  const std::string image = R"({"id": 7, "file_name": "a.png", "height": 1, "width": 1})";
  EXPECT_THAT(refusal(R"({"images": [)" + image + "," + image + "]}"),
              HasSubstr("`images` has an id twice: found 7"));
}

TEST_F(Coco, categories_of_one_name_or_of_none_are_no_classes) {
  const auto file = [](const std::string& first, const std::string& second) {
    return std::string("{") + kImages + R"(, "categories": [{"id": 30, "name": ")" + first +
           R"("}, {"id": 4, "name": ")" + second + R"("}], "annotations": [)" + coco_object() +
           R"(, {"image_id": 70, "category_id": 30, "bbox": [0, 0, 2, 2]}]})";
  };
  EXPECT_EQ(refusal(file("", "dog")),
            "a category has an empty name: found id 30. Give each category a name of its own.");
  EXPECT_EQ(refusal(file("dog", "dog")),
            "two categories have the name 'dog': found the ids 4 and 30. Give each category a name "
            "of its own, or pass --classes: categories of one name are then one class.");
  const auto source = open({"cat", "dog"});
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, read(*source, 0), "labels")),
              ElementsAre(1, 1));
}

TEST_F(Coco, what_does_not_fit_an_image_is_an_error_of_that_image) {
  write_annotations(coco_object(R"("segmentation": {"size": [6, 4], "counts": [24]})"));
  auto source = open();
  EXPECT_THAT(refusal_of<CorruptError>([&] { read(*source, 0); }),
              HasSubstr("`annotations[0].segmentation`: the size of the run lengths is not the "
                        "image's: expected [4, 6], found [6, 4]"));
  read(*source, 1);
  write_annotations(coco_object(R"("segmentation": {"size": [4, 6], "counts": "11"})"));
  source = open();
  EXPECT_THAT(refusal_of<CorruptError>([&] { read(*source, 0); }),
              HasSubstr("`annotations[0].segmentation`: the sum of the run lengths"));
  testing::write_png(directory_ / "photos/a.png", {6, 4});
  EXPECT_THAT(refusal_of<CorruptError>([&] { read(*source, 0); }),
              HasSubstr("the image's size differs from that in " + annotations()));
}

}  // namespace
}  // namespace fuelrail::pack
