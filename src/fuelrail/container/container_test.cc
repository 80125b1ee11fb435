#include "fuelrail/container/container.h"

#include <gmock/gmock.h>

#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/memory_container.h"

namespace fuelrail {
namespace {

using ::testing::HasSubstr;

struct Memory {
  static constexpr bool kDetectsTruncation = true;
  static std::shared_ptr<const Container> at(const std::string& path) {
    return std::make_shared<MemoryContainer>(
        path, image_and_label(),
        std::vector<MemoryContainer::Record>{{{"first image", scalar_bytes(int64_t{1})}, 10},
                                             {{"", scalar_bytes(int64_t{0})}, 20},
                                             {{"third", scalar_bytes(int64_t{-7})}, 30},
                                             {{"fourth", scalar_bytes(int64_t{1})}, 10}});
  }
  std::shared_ptr<const Container> make() { return at("here"); }
  std::shared_ptr<const Container> make_copy() { return at("there"); }
  std::vector<ExpectedSample> expected() {
    return {{{"first image", scalar_bytes(int64_t{1})}, 10},
            {{"", scalar_bytes(int64_t{0})}, 20},
            {{"third", scalar_bytes(int64_t{-7})}, 30},
            {{"fourth", scalar_bytes(int64_t{1})}, 10}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Memory, ContainerConformance, WithViews<Memory>);

TEST(Schema, finds_fields_by_name) {
  const Schema schema = image_and_label();
  EXPECT_EQ(schema.index_of("label"), 1u);
  EXPECT_TRUE(schema.has("image"));
  EXPECT_FALSE(schema.has("Image"));
}

TEST(Schema, an_unknown_field_is_refused_with_the_nearest_name) {
  try {
    image_and_label().index_of("lable");
    FAIL() << "nothing was thrown";
  } catch (const InvalidArgumentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'lable'"));
    EXPECT_EQ(error.detail().remedy, "Did you mean 'label'?");
  }
}

TEST(Schema, fields_are_described) {
  EXPECT_EQ(describe(FieldSpec{.name = "x", .kind = FieldKind::kImage}), "image");
  EXPECT_EQ(describe(FieldSpec{.name = "x", .kind = FieldKind::kBytes}), "bytes");
  EXPECT_EQ(
      describe(FieldSpec{
          .name = "x", .kind = FieldKind::kTensor, .dtype = DType::kFloat32, .shape = {2, -1}}),
      "tensor float32 [2, -1]");
}

TEST(ReadSample, says_how_many_records_there_are) {
  Sample sample;
  std::vector<std::byte> framed;
  const auto message = [&](const Container& container, uint64_t i) -> std::string {
    try {
      read_sample(container, i, framed, sample);
      return "nothing was thrown";
    } catch (const OutOfRangeError& error) {
      return error.what();
    }
  };
  const auto container = Memory().make();
  EXPECT_EQ(message(*container, 4), "the record index is out of range: expected 0 to 3, found 4");
  EXPECT_THAT(message(*subset(container, {}), 0), HasSubstr("because there are no records"));
}

// A container whose extent is beyond the end of its source.
class Overlong final : public Container {
 public:
  uint64_t size() const override { return 1; }
  const Schema& schema() const override { return schema_; }
  Extent extent(uint64_t) const override { return {source_, 5, kDefaultMaxRecordBytes}; }
  void parse(uint64_t, Bytes, Sample&) const override {}
  Place place(uint64_t) const override { return {"bytes", 0, 5}; }
  const std::vector<std::string>& classes() const override { return classes_; }
  bool verifies_checksums() const override { return false; }

 private:
  Fingerprint make_fingerprint(const std::function<bool()>&) const override { return {}; }
  Schema schema_;
  std::vector<std::string> classes_;
  std::shared_ptr<const Source> source_ = memory_source("bytes", std::vector<std::byte>(10));
};

TEST(ReadSample, a_record_longer_than_its_file_is_refused_before_memory_is_taken) {
  Sample sample;
  std::vector<std::byte> framed;
  try {
    read_sample(Overlong(), 0, framed, sample);
    FAIL() << "nothing was thrown";
  } catch (const TruncatedError& error) {
    EXPECT_EQ(error.detail().path, "bytes");
    EXPECT_EQ(error.detail().record, 0u);
    EXPECT_EQ(error.detail().offset, 5u);
  }
}

}  // namespace
}  // namespace fuelrail
