#include "fuelrail/container/concat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/memory_container.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

// Records with an image and a label, both named after their part; the id is the index.
std::shared_ptr<const Container> part(const std::string& name, uint64_t records,
                                      std::vector<std::string> classes = {},
                                      Schema schema = image_and_label()) {
  std::vector<MemoryContainer::Record> made;
  for (uint64_t i = 0; i < records; ++i) {
    made.push_back({{name + std::to_string(i), scalar_bytes(int64_t{0})}, i});
  }
  return std::make_shared<MemoryContainer>(name, std::move(schema), made, std::move(classes));
}

std::string image_of(const Container& container, uint64_t i) {
  Sample sample;
  std::vector<std::byte> framed;
  read_sample(container, i, framed, sample);
  return std::string(as_text(sample.fields[0].bytes));
}

std::string refusal(const std::vector<std::shared_ptr<const Container>>& parts) {
  return testing::refusal_of<InvalidArgumentError>([&] { concat(parts); });
}

TEST(Concat, every_record_is_found_in_its_part) {
  std::vector<std::shared_ptr<const Container>> parts;
  std::vector<std::string> expected;
  for (uint64_t p = 0; p < 40; ++p) {
    const uint64_t records = p * 7 % 5;  // sometimes 0
    const std::string name = "part" + std::to_string(p) + "-";
    parts.push_back(part(name, records));
    for (uint64_t i = 0; i < records; ++i) expected.push_back(name + std::to_string(i));
  }
  const auto joined = concat(parts);
  ASSERT_EQ(joined->size(), expected.size());
  for (uint64_t i = 0; i < expected.size(); ++i) EXPECT_EQ(image_of(*joined, i), expected[i]);
}

TEST(Concat, places_are_those_in_the_parts) {
  const auto joined = concat({part("a", 2), part("b", 3)});
  EXPECT_EQ(joined->place(4).path, "b");
  EXPECT_EQ(joined->place(4).record, 2u);
}

TEST(Concat, the_fingerprint_does_not_know_where_the_parts_were_cut) {
  const auto in_two = concat({part("x", 3), part("x", 5)});
  const auto in_three = concat({part("x", 1), part("x", 2), part("x", 5)});
  EXPECT_EQ(in_two->fingerprint(), in_three->fingerprint());
  EXPECT_EQ(in_two->fingerprint().records, 8u);
}

TEST(Concat, one_part_is_itself) {
  const auto only = part("a", 2);
  EXPECT_EQ(concat({only}), only);
}

TEST(Concat, nothing_to_join_is_refused) { EXPECT_THROW(concat({}), InvalidArgumentError); }

TEST(Concat, class_names_are_taken_from_the_parts_that_have_them) {
  const std::vector<std::string> names{"cat", "dog"};
  EXPECT_EQ(concat({part("a", 1), part("b", 1, names), part("c", 1)})->classes(), names);
}

TEST(Concat, differing_class_names_are_refused_naming_the_first_difference) {
  const std::string message = refusal({part("a", 1, {"cat", "dog"}), part("b", 1, {"cat", "fox"})});
  EXPECT_THAT(message, HasSubstr("b: part 1"));
  EXPECT_THAT(message, HasSubstr("expected 'dog' as class 1, found 'fox' as class 1"));
  EXPECT_THAT(refusal({part("a", 1, {"cat"}), part("b", 1, {"cat", "fox"})}),
              HasSubstr("expected no class 1 (the last class is 0), found 'fox' as class 1"));
}

TEST(Concat, differing_fields_are_refused_naming_both) {
  const std::string message =
      refusal({part("a", 1), part("b", 1, {}, image_and_label(DType::kFloat32))});
  EXPECT_THAT(message, HasSubstr("part 1"));
  EXPECT_THAT(message, HasSubstr("label: tensor int64 []"));
  EXPECT_THAT(message, HasSubstr("label: tensor float32 []"));
}

}  // namespace
}  // namespace fuelrail
