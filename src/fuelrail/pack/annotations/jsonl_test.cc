#include "fuelrail/pack/annotations/jsonl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/source_values.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using testing::elements_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal_of;
using testing::value_of;

class Jsonl : public ::testing::Test {
 protected:
  std::string table() const { return directory_ / "table.jsonl"; }
  std::unique_ptr<SampleSource> open(const std::string& text) {
    write_file(table(), text);
    return open_jsonl(table(), "", [this](const std::string& warning) { warning_ = warning; });
  }
  // The fields as "name: type", in their order.
  std::vector<std::string> columns(const std::string& text) {
    std::vector<std::string> columns;
    const auto source = open(text);
    for (const FieldSpec& field : source->schema().fields) {
      columns.push_back(field.name + ": " + describe(field));
    }
    return columns;
  }
  // The error without the path of the table.
  std::string refusal(const std::string& text) {
    return refusal_of<CorruptError>([&] { open(text); }).substr(table().size() + 2);
  }

  TemporaryDirectory directory_;
  std::string warning_;
};

TEST_F(Jsonl, columns_have_the_types_of_all_their_values) {
  EXPECT_THAT(columns(R"({"path": "a.JPG", "n": 1, "x": 1, "flag": true, "text": "a"}
                         {"path": "b.png", "n": -2, "x": 0.5, "flag": false, "text": ""})"),
              ElementsAre("path: image", "n: tensor int64 []", "x: tensor float32 []",
                          "flag: tensor bool []", "text: text"));
  EXPECT_THAT(columns(R"({"box": [1, 2], "points": [[1, 2], [3, 4]], "words": ["a"], "g": {"h": 1}}
                         {"g": {"h": 2}, "points": [[0.5, 0]], "words": [], "box": [3, 4]})"),
              ElementsAre("box: tensor int64 [2]", "points: tensor float32 [-1, 2]",
                          "words: list of text", "g.h: tensor int64 []"));
}

TEST_F(Jsonl, empty_lists_take_the_type_of_the_other_lines) {
  const auto source = open("{\"a\": []}\n{\"a\": [[1, 2]]}\n{\"a\": []}\n");
  EXPECT_THAT(source->schema().fields[0].shape, ElementsAre(-1, 2));
  SourceSample sample;
  source->read(2, sample);
  EXPECT_THAT(sample.fields[0].shape, ElementsAre(0, 2));
  EXPECT_TRUE(sample.fields[0].bytes.empty());
  EXPECT_EQ(refusal(R"({"a": [], "b": [[], []]})"),
            "`a` has only empty lists, so its type is open");
}

TEST_F(Jsonl, a_sample_has_the_values_of_its_line) {
  testing::write_png(directory_ / "photos/a.png", {2, 3});
  const auto source = open(
      "\xEF\xBB\xBF{\"image\": \"photos/a.png\", \"x\": [1, 2.5], \"texts\": [\"a\", "
      "\"\u00e4\"]}\r\n"
      "\n  {\"texts\": [], \"x\": [3, 4], \"image\": \"none.png\"}");
  ASSERT_EQ(source->size(), 2u);
  SourceSample sample;
  source->read(0, sample);
  EXPECT_EQ(testing::text_of(value_of(*source, sample, "image").bytes),
            file_contents(directory_ / "photos/a.png"));
  EXPECT_THAT(elements_of<float>(value_of(*source, sample, "x")), ElementsAre(1, 2.5));
  const auto& texts = value_of(*source, sample, "texts").items;
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(testing::text_of(texts[1]), "\u00e4");
  EXPECT_EQ(source->path(1), table() + ": line 3");
  EXPECT_THAT(refusal_of<NotFoundError>([&] { source->read(1, sample); }),
              HasSubstr(directory_ / "none.png"));
}

TEST_F(Jsonl, a_table_that_changed_since_it_was_opened_is_noticed) {
  const auto source = open("{\"a\": 1}\n{\"a\": 2}\n");
  write_file(table(), "{\"a\": 1}\n{\"a\": 3}\n");
  SourceSample sample;
  source->read(0, sample);
  EXPECT_THAT(refusal_of<CorruptError>([&] { source->read(1, sample); }),
              HasSubstr("line 2: the line has changed"));
}

TEST_F(Jsonl, columns_that_may_be_boxes_or_masks_are_reported) {
  columns(R"({"boxes": [[1, 2, 3, 4]], "image": "a.jpg", "mask": "a.png", "text": "", "x": [1]})");
  EXPECT_THAT(warning_, HasSubstr("transforms of `image` do not move `mask`, because the "
                                  "fields of a table have no roles"));
}

TEST_F(Jsonl, a_line_of_too_many_members_is_refused_at_the_first) {
  std::string line = "{\"a\": 0";
  for (int i = 0; i < 400'000; ++i) line += ",\"" + std::to_string(i) + "\":0";
  EXPECT_EQ(refusal(line + "}"), "line 1: the line has too many members: expected at most 4096");
}

TEST_F(Jsonl, text_that_looks_like_some_images_is_reported) {
  EXPECT_THAT(columns("{\"a\": \"x.jpg\"}\n{\"a\": \"see x\"}\n"), ElementsAre("a: text"));
  EXPECT_THAT(warning_, HasSubstr("`a` is text: 1 of its 2 values have the extension of an image"));
}

TEST_F(Jsonl, a_wrong_line_is_refused_with_its_number) {
  EXPECT_EQ(refusal(""), "the table has no lines");
  EXPECT_EQ(refusal("{\"a\": 1}\n\n{\"a\": 1"),
            "line 3: the line is not valid JSON: found an error at byte 7");
  EXPECT_EQ(refusal("{\"a\": \"x\"}\n{\"a\": \"caf\xe9\"}"),
            "line 2: the line is not UTF-8: found 0xe9 at byte 10. Save the table as UTF-8.");
  EXPECT_THAT(refusal("[1]"), HasSubstr("line 1: the line is not a JSON object"));
  EXPECT_THAT(refusal("{\"a\": null}"), HasSubstr("line 1: `a` is null. Write an empty list"));
  EXPECT_THAT(
      refusal("{\"a\": 1}\n{\"b\": 1}"),
      HasSubstr("line 2: `b` is not in the lines before. Give every line the same members"));
  EXPECT_THAT(refusal("{\"a\": 1, \"b\": 2}\n{\"b\": 1}"), HasSubstr("line 2: `a` does not exist"));
  EXPECT_THAT(refusal("{\"a\": 1}\n{\"a\": \"x\"}"),
              HasSubstr("line 2: `a` has values of several types: expected numbers, found text"));
  EXPECT_THAT(refusal("{\"a\": [1]}\n{\"a\": 1}"),
              HasSubstr("line 2: `a` has values of different"));
  EXPECT_THAT(refusal("{\"a\": [[1, 2], [3]]}"),
              HasSubstr("nested lists of unequal lengths: expected [2], found [1]"));
  EXPECT_THAT(refusal("{\"a\": [\"x\", 1]}"), HasSubstr("`a` has a list of several types"));
  EXPECT_THAT(refusal("{\"a\": [1, \"x\"]}"), HasSubstr("`a` has a list of several types"));
  EXPECT_THAT(refusal("{\"a\": [{}]}"), HasSubstr("`a` has the wrong type"));
  EXPECT_THAT(refusal("{\"a\": 18446744073709551615}"), HasSubstr("int64 cannot hold"));
  EXPECT_EQ(refusal("{\"a\": 1}\n{\"a\": 18446744073709551616}"),
            "line 2: an integer has more than 64 bits: found 18446744073709551616 at byte 6. Write "
            "it as text, or with an exponent as a float.");
  EXPECT_THAT(refusal("{\"\\\"99999999999999999999\": [1e30, -9223372036854775809]}"),
              HasSubstr("found -9223372036854775809 at byte 34"));
  EXPECT_THAT(columns("{\"a\": [1e30, -9.2e30, 92233720368547758080.5]}"),
              ElementsAre("a: tensor float64 [3]"));
  EXPECT_EQ(refusal("{\"a\": [1, NaN]}"),
            "line 1: the line is not valid JSON: found NaN at byte 10. JSON has no such number: "
            "leave out what it belongs to, or write a finite number.");
  EXPECT_THAT(refusal("{\"a\": {\"b\": 1, \"c\": {\"b\": 1}, \"b\": 2}}"),
              HasSubstr("line 1: `a.b` occurs twice"));
  EXPECT_THAT(columns("{\"a\": 16777217}\n{\"a\": 0.5}"), ElementsAre("a: tensor float64 []"));
  EXPECT_THAT(refusal("{\"a\": 9007199254740994}\n{\"a\": 0.5}"),
              HasSubstr("float64 cannot hold exactly"));
  const std::string nine(9, '[');
  EXPECT_THAT(refusal("{\"a\": " + nine + std::string(9, ']') + "}"),
              HasSubstr("too many dimensions"));
  EXPECT_THAT(refusal("{\"a.b\": 1, \"a\": {\"b\": 2}}"), HasSubstr("line 1: `a.b` occurs twice"));
}

}  // namespace
}  // namespace fuelrail::pack
