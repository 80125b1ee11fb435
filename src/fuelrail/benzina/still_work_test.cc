#include "fuelrail/benzina/still_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fuelrail/base/error.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::benzina {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

StillParameters row(float color) {
  StillParameters parameters;
  parameters.color = color;
  return parameters;
}

TEST(FedRows, are_found_by_position_until_they_are_removed) {
  FedRows rows;
  rows.add(0, {row(10), row(11)});
  rows.add(2, {row(12)});
  rows.add(3, {row(13), row(14)});
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(rows.at(i).color, 10 + static_cast<float>(i));
  EXPECT_THROW(rows.at(5), StateError);
  rows.remove_before(1);  // keeps the batch of position 1
  EXPECT_EQ(rows.at(0).color, 10);
  rows.remove_before(3);
  EXPECT_THROW(rows.at(2), StateError);
  EXPECT_EQ(rows.at(3).color, 13);
}

TEST(FedRows, of_an_abandoned_epoch_are_removed_by_those_of_the_next_one) {
  FedRows rows;
  rows.add(0, {row(1), row(2)});
  rows.add(2, {row(3), row(4)});
  rows.add(0, {row(10), row(11), row(12)});
  EXPECT_EQ(rows.at(2).color, 12);
  EXPECT_THROW(rows.at(3), StateError);
}

TEST(ImageSizes, come_from_the_sidecar_or_from_the_records) {
  const bzna::MadeRecord record;
  for (const bool with_sidecar : {true, false}) {
    bzna::BznaFile file({record.bytes(), record.bytes()}, with_sidecar);
    const uint64_t records[] = {1, 0, 1};
    const Size thumb{456, 512}, input{535, 600};
    EXPECT_THAT(image_sizes(*file.open(), records), ElementsAre(thumb, thumb, thumb));
    EXPECT_THAT(image_sizes(*file.open("bzna_input"), records), ElementsAre(input, input, input));
    EXPECT_EQ(file.open()->image_size(0).has_value(), with_sidecar);
  }
}

TEST(StillWork, an_output_without_pixels_is_refused) {
  bzna::BznaFile file({bzna::MadeRecord{}.bytes()});
  EXPECT_THAT(testing::refusal_of<InvalidArgumentError>([&] {
                still_work(file.open(), std::make_shared<FedRows>(), {.output = {4, 0}});
              }),
              HasSubstr("expected a height and width of at least 1, found 4 x 0"));
}

}  // namespace
}  // namespace fuelrail::benzina
