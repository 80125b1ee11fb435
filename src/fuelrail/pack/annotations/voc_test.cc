#include "fuelrail/pack/annotations/voc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/pack/annotations/voc_file.h"
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

std::string voc_box(const std::string& corners) {
  return "<bndbox><xmin>" + corners.substr(0, 1) + "</xmin><ymin>" + corners.substr(1, 1) +
         "</ymin><xmax>" + corners.substr(2, 1) + "</xmax><ymax>" + corners.substr(3, 1) +
         "</ymax></bndbox>";
}

std::string voc_object(const std::string& name, const std::string& corners,
                       const std::string& more = "") {
  return "<object><name>" + name + "</name>" + more + voc_box(corners) + "</object>";
}

class Voc : public ::testing::Test {
 protected:
  Voc() {
    add("a", voc_object("dog", "1246", "<difficult> 1 </difficult>") + voc_object("cat", "3344"));
    add("b", "<size><width>6</width><height>4</height><depth>3</depth></size>");
  }
  void add(const std::string& name, const std::string& content) const {
    write_file(directory_ / ("Annotations/" + name + ".xml"),
               "<?xml version=\"1.0\"?>\n<annotation>" + content + "</annotation>");
    testing::write_png(directory_ / ("JPEGImages/" + name + ".png"), {4, 6});
  }
  void add_mask(const std::string& name) const {
    testing::write_png(directory_ / (name + ".png"), {4, 6});
  }
  std::unique_ptr<SampleSource> open(VocOptions options = {}) {
    options.warn = [this](const std::string& text) { warnings_.push_back(text); };
    return open_voc(directory_.path(), options);
  }

  TemporaryDirectory directory_;
  std::vector<std::string> warnings_;
};

TEST_F(Voc, boxes_count_from_1_and_include_their_last_pixel) {
  const auto source = open();
  ASSERT_EQ(source->size(), 2u);
  SourceSample sample;
  source->read(0, sample);
  EXPECT_THAT(elements_of<float>(value_of(*source, sample, "boxes")),
              ElementsAre(0, 1, 4, 6, 2, 2, 4, 4));
  EXPECT_EQ(testing::text_of(value_of(*source, sample, "file_name").bytes), "a.png");
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, sample, "labels")), ElementsAre(1, 0));
  EXPECT_THAT(elements_of<uint8_t>(value_of(*source, sample, "difficult")), ElementsAre(1, 0));
  EXPECT_THAT(elements_of<uint8_t>(value_of(*source, sample, "truncated")), ElementsAre(0, 0));
  EXPECT_THAT(source->classes(), ElementsAre(std::pair(std::string("labels"),
                                                       std::vector<std::string>{"cat", "dog"})));
  source->read(1, sample);
  EXPECT_THAT(value_of(*source, sample, "boxes").shape, ElementsAre(0, 4));
  EXPECT_FALSE(source->schema().has("mask"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(Voc, masks_are_packed_if_all_images_have_them) {
  add_mask("SegmentationClass/a");
  add_mask("SegmentationObject/a");
  EXPECT_FALSE(open()->schema().has("mask"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("only 1 of 2 images have a mask here"),
                                     HasSubstr("SegmentationObject")));
  write_file(directory_ / "ImageSets/Segmentation/train.txt", "a\n");
  const auto source = open({.set = "Segmentation/train"});
  SourceSample sample;
  source->read(0, sample);
  EXPECT_EQ(testing::text_of(value_of(*source, sample, "instances").bytes),
            file_contents(directory_ / "SegmentationObject/a.png"));
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, sample, "numbers")), ElementsAre(1, 2));
}

TEST_F(Voc, a_set_names_its_images_and_what_it_lacks_is_listed) {
  write_file(directory_ / "ImageSets/Main/train.txt", "b  1\r\n\nnone\nother -1\n a\n");
  const auto source = open({.set = "train"});
  ASSERT_EQ(source->size(), 2u);
  EXPECT_EQ(source->path(0), directory_ / "JPEGImages/b.png");
  ASSERT_EQ(source->unread().size(), 1u);
  EXPECT_EQ(source->unread()[0].path, directory_ / "Annotations/none.xml");
  EXPECT_THROW(open({.set = "test"}), NotFoundError);
}

TEST_F(Voc, an_image_may_be_twice_in_a_set) {
  add_mask("SegmentationClass/a");
  write_file(directory_ / "ImageSets/Main/train.txt", "a\na\n");
  const auto source = open({.set = "train"});
  EXPECT_EQ(source->size(), 2u);
  EXPECT_TRUE(source->schema().has("mask"));
}

TEST_F(Voc, a_bad_annotation_counts_as_an_image_that_cannot_be_read) {
  write_file(directory_ / "Annotations/a.xml", "no XML");
  const auto source = open();
  EXPECT_EQ(source->size(), 1u);
  ASSERT_EQ(source->unread().size(), 1u);
  EXPECT_EQ(source->unread()[0].path, directory_ / "Annotations/a.xml");
  EXPECT_THAT(source->unread()[0].reason, HasSubstr("XML"));
}

// A resumed job compares the descriptions.
TEST_F(Voc, a_sample_is_described_with_its_annotation) {
  const std::string before = open()->description(0);
  EXPECT_EQ(open()->description(0), before);
  add("a", voc_object("dog", "1245") + voc_object("cat", "3344"));
  EXPECT_NE(open()->description(0), before);
}

TEST_F(Voc, given_classes_number_the_labels) {
  const auto source = open({.classes = {"dog", "bird", "cat"}});
  SourceSample sample;
  source->read(0, sample);
  EXPECT_THAT(elements_of<int64_t>(value_of(*source, sample, "labels")), ElementsAre(0, 2));
  EXPECT_THAT(refusal_of<CorruptError>([&] { open({.classes = {"dog"}}); }),
              HasSubstr("a.xml: the class of an object is not one of the classes: found 'cat'"));
}

TEST_F(Voc, boxes_that_begin_at_0_are_reported) {
  add("c", voc_object("dog", "0123"));
  open();
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("1 box begins at 0, but the format counts pixels "
                                               "from 1: first in c.xml")));
}

TEST_F(Voc, an_image_of_another_size_is_refused) {
  testing::write_png(directory_ / "JPEGImages/b.png", {6, 4});
  SourceSample sample;
  EXPECT_THAT(refusal_of<CorruptError>([&] { open()->read(1, sample); }),
              HasSubstr("the image's size differs from that in its annotation"));
}

TEST(VocFile, a_wrong_annotation_is_refused_with_its_place) {
  const auto refusal = [](const std::string& content) {
    return refusal_of<CorruptError>(
        [&] { parse_voc(as_bytes("<annotation>" + content + "</annotation>"), "a.xml"); });
  };
  EXPECT_THAT(refusal_of<CorruptError>([] { parse_voc(as_bytes("<a>"), "a.xml"); }),
              HasSubstr("the file is not valid XML"));
  EXPECT_THAT(refusal_of<CorruptError>([] { parse_voc(as_bytes("<a/>"), "a.xml"); }),
              HasSubstr("a.xml: the file has no element `annotation`"));
  EXPECT_THAT(refusal("</annotation><annotation>" + voc_object("dog", "1143")),
              HasSubstr("a.xml: the file has more than one root element"));
  EXPECT_THAT(refusal(voc_object("caf\xe9", "1143")),
              HasSubstr("a.xml: `object[0].name` is not UTF-8: found 0xe9 at byte 3. Save the file "
                        "as UTF-8"));
  EXPECT_THAT(refusal(voc_object("&#xD800;", "1143")), HasSubstr("`object[0].name` is not UTF-8"));
  EXPECT_THAT(refusal(voc_object("c<b>at</b>", "1143")),
              HasSubstr("`object[0].name` has an element inside its text: found `b`"));
  EXPECT_THAT(refusal(voc_object("dog", "1246") + "<object><name>dog</name></object>"),
              HasSubstr("`object[1].bndbox` does not exist"));
  EXPECT_THAT(refusal(voc_object("dog", "5143")),
              HasSubstr("`object[0].bndbox` is inverted: expected xmin <= xmax and ymin <= ymax, "
                        "found xmin 5, ymin 1, xmax 4, ymax 3"));
  EXPECT_THAT(refusal(voc_object("dog", "1x43")),
              HasSubstr("`object[0].bndbox.ymin` is invalid: expected a finite number, found 'x'"));
  EXPECT_THAT(refusal(voc_object(" ", "1143")), HasSubstr("`object[0].name` is invalid"));
  EXPECT_THAT(refusal(voc_object("dog", "1143", "<truncated>2</truncated>")),
              HasSubstr("`object[0].truncated` is invalid: expected 0 or 1, found '2'"));
  EXPECT_THAT(refusal("<size><height>0</height><width>1</width></size>"),
              HasSubstr("`size.height` is invalid: expected a whole number from 1 to 65535"));
}

TEST(VocFile, comments_and_declared_encodings_do_not_change_a_name) {
  const auto name_in = [](const std::string& begin, const std::string& name) {
    const std::string text = begin + "<annotation>" + voc_object(name, "1143") + "</annotation>";
    return parse_voc(as_bytes(text), "a.xml").objects.at(0).name;
  };
  EXPECT_EQ(name_in("<!-- a --><?xml version=\"1.0\"?>", "c<!-- x -->at"), "cat");
  EXPECT_EQ(name_in("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>", "caf\xe9"), "caf\xc3\xa9");
}

}  // namespace
}  // namespace fuelrail::pack
