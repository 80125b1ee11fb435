// Sample records through every way of copying a file: parts, merge, convert, recover.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/formats.h"
#include "fuelrail/container/image_record.h"
#include "fuelrail/container/open.h"
#include "fuelrail/pack/convert.h"
#include "fuelrail/pack/merge.h"
#include "fuelrail/pack/output/part.h"
#include "fuelrail/pack/recover.h"
#include "fuelrail/storage/file_system.h"
#include "fuelrail/testing/made_samples.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_payload;
using testing::made_schema;
using testing::refusal_of;

class SampleFileCopies : public ::testing::TestWithParam<const char*> {
 protected:
  std::string at(const std::string& stem) const { return directory_ / (stem + GetParam()); }

  // Packs the payloads with class names.
  void pack_samples(const std::string& uri, const std::vector<std::string>& payloads) const {
    Part part(uri, payloads.size(), false);
    for (const std::string& payload : payloads) {
      part.append_image(as_bytes(payload), crc32(as_bytes(payload)),
                        *sample_id_in(as_bytes(payload)));
    }
    part.finish_images({"day", "night"}, nullptr, {{"cameras.0.labels", {"car", "bus", "van"}}});
    part.commit();
  }

  // The names of a file and its companions.
  std::vector<std::string> files_of(const std::string& uri) const {
    std::vector<std::string> names{uri, uri + ".frx"};
    const FileFormat& format = format_for(FormatWork::kWrite, uri);
    if (!format.index_extension.empty()) names.push_back(index_uri_of(uri, format));
    return names;
  }

  void expect_equal(const std::string& a, const std::string& b) const {
    for (size_t k = 0; k < files_of(a).size(); ++k) {
      EXPECT_TRUE(file_contents(files_of(a)[k]) == file_contents(files_of(b)[k])) << files_of(b)[k];
    }
  }

  TemporaryDirectory directory_;
};

std::vector<std::string> some_payloads(uint64_t begin, uint64_t end) {
  std::vector<std::string> payloads;
  for (uint64_t i = begin; i < end; ++i) payloads.push_back(made_payload(i));
  return payloads;
}

TEST_P(SampleFileCopies, are_packed_with_their_fields_ids_and_class_names) {
  pack_samples(at("x"), some_payloads(0, 6));
  const auto container = open_container(at("x"));
  EXPECT_EQ(container->schema(), made_schema());
  EXPECT_TRUE(container->verifies_checksums());
  EXPECT_THAT(container->classes(), ElementsAre("day", "night"));
  EXPECT_THAT(container->classes_of("cameras.0.labels"), ElementsAre("car", "bus", "van"));
  if (GetParam() == std::string(".rec")) {
    EXPECT_THAT(file_contents(directory_ / "x.idx"), HasSubstr("105\t"));
  }
  const std::string packed = file_contents(at("x") + ".frx");
  build_sidecar(at("x"));
  EXPECT_TRUE(file_contents(at("x") + ".frx") == packed);
}

TEST_P(SampleFileCopies, merged_parts_equal_one_file) {
  pack_samples(at("whole"), some_payloads(0, 9));
  pack_samples(at("a"), some_payloads(0, 4));
  pack_samples(at("b"), some_payloads(4, 9));
  merge({at("a"), at("b")}, at("merged"));
  expect_equal(at("whole"), at("merged"));
}

TEST_P(SampleFileCopies, converted_there_and_back_are_the_same) {
  pack_samples(at("x"), some_payloads(0, 5));
  const std::string other = GetParam() == std::string(".rec") ? ".ffr" : ".rec";
  const std::string between = directory_ / ("between" + other);
  convert(at("x"), between);
  EXPECT_EQ(open_container(between)->schema(), made_schema());
  EXPECT_THAT(open_container(between)->classes_of("cameras.0.labels"),
              ElementsAre("car", "bus", "van"));
  convert(between, at("back"));
  expect_equal(at("x"), at("back"));
}

TEST_P(SampleFileCopies, recovered_without_a_damaged_record_are_the_rest) {
  pack_samples(at("x"), some_payloads(0, 5));
  pack_samples(at("expected"),
               {made_payload(0), made_payload(1), made_payload(3), made_payload(4)});
  std::string bytes = file_contents(at("x"));
  bytes[bytes.find(made_payload(2)) + 500] ^= 1;
  write_file(at("x"), bytes);
  std::vector<Damage> lost;
  recover(at("x"), at("good"), {}, [&](const Damage& damage) { lost.push_back(damage); });
  EXPECT_EQ(lost.size(), 1u);
  expect_equal(at("expected"), at("good"));
}

TEST_P(SampleFileCopies, of_other_fields_or_kinds_are_not_merged) {
  Schema schema = made_schema();
  schema.fields[testing::kMadeExtra].name = "other";
  pack_samples(at("a"), some_payloads(0, 2));
  pack_samples(at("b"), {testing::encoded(schema, testing::MadeSample(0), 7)});
  const auto refusal = [&](const std::string& b) {
    return refusal_of<InvalidArgumentError>([&] { merge({at("a"), b}, at("merged")); });
  };
  EXPECT_THAT(refusal(at("b")), HasSubstr("the files to merge have different fields: expected "
                                          "extra: bytes; no field 'other', as in "
                                          "the first file, found no field 'extra'; other: bytes"));
  std::vector<std::byte> image;
  const float label = 0;
  append_image_record(9, {&label, 1}, as_bytes("\xff\xd8\xff"), image);
  Part part(at("c"), 1, false);
  part.append_image(image, crc32(image), 9);
  part.finish_images({"day", "night"});
  part.commit();
  EXPECT_THAT(refusal(at("c")),
              HasSubstr("the files to merge have different kinds of records: expected sample "
                        "records, as in the first file, found other records"));
}

TEST_P(SampleFileCopies, of_other_class_names_are_not_merged) {
  pack_samples(at("a"), some_payloads(0, 1));
  Part part(at("b"), 1, false);
  part.append_image(as_bytes(made_payload(1)), crc32(as_bytes(made_payload(1))), 101);
  part.finish_images({"day", "night"}, nullptr, {{"cameras.0.labels", {"car", "tram"}}});
  part.commit();
  EXPECT_THAT(
      refusal_of<InvalidArgumentError>([&] {
        merge({at("a"), at("b")}, at("merged"));
      }),
      HasSubstr(
          "the files to merge have different class names in field 'cameras.0.labels': expected "
          "'bus' as class 1, as in the first file, found 'tram' as class 1"));
}

INSTANTIATE_TEST_SUITE_P(Formats, SampleFileCopies, ::testing::Values(".rec", ".ffr"),
                         [](const auto& format) { return std::string(format.param).substr(1); });

}  // namespace
}  // namespace fuelrail::pack
