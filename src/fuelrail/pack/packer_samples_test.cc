#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuelrail/base/error.h"
#include "fuelrail/container/open.h"
#include "fuelrail/encode/baseline_jpeg.h"
#include "fuelrail/encode/png_encoder.h"
#include "fuelrail/pack/packer.h"
#include "fuelrail/pack/source/schema_doubts.h"
#include "fuelrail/testing/made_jpeg.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal_of;

constexpr uint64_t kCount = 40;
constexpr uint64_t kBad = 7;

// An image of 8 x 12 pixels with one box and a text. Sample kBad has no image.
class MadeSource final : public SampleSource {
 public:
  explicit MadeSource(bool is_stream) : is_stream_(is_stream) {
    schema_.fields = {image_field("image"),
                      {.name = "boxes",
                       .kind = FieldKind::kTensor,
                       .dtype = DType::kFloat32,
                       .shape = {-1, 4},
                       .role = Role::kBoxes,
                       .of = 0},
                      {.name = "text", .kind = FieldKind::kText}};
  }

  const Schema& schema() const override { return schema_; }
  uint64_t size() const override { return is_stream_ ? 0 : count; }
  bool is_stream() const override { return is_stream_; }
  std::string path(uint64_t i) const override { return fmt::format("sample {}", i); }

  void read(uint64_t i, SourceSample& out) const override {
    ++read_;
    out.id = i;
    out.ended = i >= count;
    if (out.ended) return;
    if (all_bad || (i == kBad && bad)) throw CorruptError("the image is missing");
    out.fields.resize(3);
    const std::vector<uint8_t> pixels(8 * 12, static_cast<uint8_t>(i));
    SourceValue& image = out.fields[0];
    encode_png({pixels.data(), 8, 12, 1, 12}, kDefaultPngLevel, image.bytes);
    if (!jpeg.empty()) image.bytes = jpeg;
    if (lends_from) lend(*lends_from, image, out);
    out.fields[1].shape = {1, 4};
    out.fields[1].bytes.resize(sizeof box);
    std::memcpy(out.fields[1].bytes.data(), box.data(), sizeof box);
    const Bytes text = as_bytes(std::string_view("text"));
    out.fields[2].bytes.assign(text.begin(), text.end());
  }

  uint64_t read_count() const { return read_; }

  std::array<float, 4> box{0, 0, 12, 8};
  std::vector<std::byte> jpeg{};       // the image of each sample, instead of a PNG
  std::optional<size_t> lends_from{};  // the first byte of the images that is lent
  bool bad = false;
  bool all_bad = false;
  uint64_t count = kCount;

 private:
  static void lend(size_t from, SourceValue& image, SourceSample& out) {
    const auto split = image.bytes.begin() + static_cast<int64_t>(from);
    const auto lent = std::make_shared<const std::vector<std::byte>>(split, image.bytes.end());
    image.bytes.erase(split, image.bytes.end());
    image.rest = *lent;
    out.lent.assign(1, lent);
  }

  Schema schema_;
  bool is_stream_;
  mutable std::atomic<uint64_t> read_ = 0;
};

class PackedSamples : public ::testing::Test {
 protected:
  std::string out(const std::string& name) const { return dir_ / name; }

  TemporaryDirectory dir_;
  MadeSource indexed_{false};
  MadeSource stream_{true};
};

TEST_F(PackedSamples, progressive_jpegs_become_baseline_if_that_is_wanted) {
  const std::vector<std::byte> progressive = make_jpeg({.size = {8, 12}, .progressive = true});
  ASSERT_TRUE(recode_as_baseline(progressive, indexed_.jpeg));
  pack_samples(indexed_, out("expected.rec"), {.threads = 1});
  indexed_.jpeg = progressive;
  for (const std::optional<size_t> lends_from :
       {std::optional<size_t>(), {0}, {progressive.size() - 20}}) {
    indexed_.lends_from = lends_from;
    const PackResult result = pack_samples(
        indexed_, out("x.rec"),
        {.images = StoredImages{.baseline = true}, .job = {.overwrite = true}, .threads = 3});
    EXPECT_EQ(result.recoded, kCount);
    EXPECT_EQ(file_contents(out("x.rec")), file_contents(out("expected.rec")));
  }
}

TEST_F(PackedSamples, damage_behind_the_header_is_found_if_that_is_wanted) {
  const PackOptions decoding{.images = StoredImages{.verify_images = false, .decode = true},
                             .job = {.overwrite = true}};
  for (const std::optional<size_t> lends_from : {std::optional<size_t>(), {0}, {40}}) {
    indexed_.lends_from = lends_from;
    EXPECT_EQ(pack_samples(indexed_, out("x.rec"), decoding).files.front().records, kCount);
  }
  indexed_.lends_from.reset();
  indexed_.jpeg = make_jpeg({.size = {8, 12}});
  indexed_.jpeg.resize(indexed_.jpeg.size() - 30);
  pack_samples(indexed_, out("damaged.rec"), {});
  EXPECT_THAT(refusal_of<CorruptError>([&] { pack_samples(indexed_, out("x.rec"), decoding); }),
              HasSubstr("the image of field 'image' cannot be read (the JPEG ends after "));
}

TEST_F(PackedSamples, a_stream_gives_the_same_bytes_for_any_number_of_threads) {
  pack_samples(indexed_, out("indexed.rec"), {.threads = 1});
  for (const int threads : {1, 3, 8}) {
    const PackResult result =
        pack_samples(stream_, out("stream.rec"), {.job = {.overwrite = true}, .threads = threads});
    EXPECT_EQ(result.files.front().records, kCount);
    EXPECT_EQ(file_contents(out("stream.rec")), file_contents(out("indexed.rec")));
    EXPECT_EQ(file_contents(out("stream.rec.frx")), file_contents(out("indexed.rec.frx")));
  }
}

TEST_F(PackedSamples, images_in_lent_memory_give_the_same_bytes) {
  pack_samples(indexed_, out("copied.rec"), {});
  for (const size_t from : {0, 40}) {  // the whole image, or what follows the header
    stream_.lends_from = from;
    pack_samples(stream_, out("lent.rec"), {.job = {.overwrite = true}, .threads = 2});
    EXPECT_EQ(file_contents(out("lent.rec")), file_contents(out("copied.rec")));
  }
}

TEST_F(PackedSamples, a_source_without_samples_is_refused) {
  indexed_.count = stream_.count = 0;
  for (const MadeSource* source : {&indexed_, &stream_}) {
    EXPECT_EQ(refusal_of<CorruptError>([&] { pack_samples(*source, out("a.rec"), {}); }),
              out("a.rec") + ": the source has no samples");
  }
  EXPECT_TRUE(names_in(dir_.path()).empty());
}

TEST_F(PackedSamples, a_stream_is_read_to_its_end_after_too_many_failures) {
  stream_.bad = true;
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { pack_samples(stream_, out("a.rec"), {}); }),
      HasSubstr("sample 7: the image is missing. At most 0 samples may be skipped (max_errors, "
                "--max-errors), found 1; "));
  EXPECT_GE(stream_.read_count(), kCount);
  const PackResult result = pack_samples(stream_, out("a.rec"), {.max_errors = {.count = 1}});
  EXPECT_EQ(result.files.front().records, kCount - 1);
  EXPECT_EQ(result.failures.front().path, "sample 7");
  EXPECT_EQ(open_container(out("a.rec"))->schema(), stream_.schema());
}

TEST_F(PackedSamples, boxes_far_outside_are_counted_or_refused) {
  std::vector<std::string> warnings;
  PackOptions options{.job = {.warn = [&](const std::string& text) { warnings.push_back(text); }}};
  indexed_.box = {-12, -8, 24, 16};
  pack_samples(indexed_, out("edge.rec"), options, true);
  EXPECT_TRUE(warnings.empty());
  indexed_.box = {-12, -8, 24.5, 16};
  pack_samples(indexed_, out("far.rec"), options);
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("of the field 'boxes' outside of their image by more than its "
                                    "size: 40; the first is [-12, -8, 24.5, 16] in "
                                    "sample 0. Check the format of the boxes")));
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { pack_samples(indexed_, out("strict.rec"), options, true); }),
      HasSubstr("row 0 of 'boxes' is a box far outside of its image"));
}

TEST_F(PackedSamples, boxes_in_pixels_that_are_all_fractions_are_in_doubt) {
  std::vector<std::string> warnings;
  const PackOptions options{
      .job = {.warn = [&](const std::string& text) { warnings.push_back(text); }}};
  indexed_.box = {0.5F, 0.5F, 1, 1};
  pack_samples(indexed_, out("fractions.rec"), options);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("all numbers of the field 'boxes' are from 0 to 1")));
}

// Boxes and labels in one dict or in two, in samples of i + 1 rows.
std::vector<std::string> doubts_about(const std::string& labels, std::optional<uint16_t> rows,
                                      bool varies) {
  Schema schema;
  schema.fields = {image_field("image"),
                   {.name = "boxes",
                    .kind = FieldKind::kTensor,
                    .dtype = DType::kFloat32,
                    .shape = {-1, 4},
                    .role = Role::kBoxes,
                    .of = 0,
                    .rows = rows},
                   {.name = labels,
                    .kind = FieldKind::kTensor,
                    .dtype = DType::kInt64,
                    .shape = {-1},
                    .role = Role::kLabel,
                    .rows = rows}};
  SchemaDoubts doubts(schema);
  for (int64_t i = 0; i < 3; ++i) {
    std::vector<SourceValue> values(3);
    values[1].shape = {varies ? i + 1 : 2, 4};
    values[2].shape = {varies ? i + 1 : 2};
    doubts.add_rows(values);
  }
  return doubts.remarks([](uint64_t) { return ""; });
}

TEST(SchemaDoubts, boxes_and_labels_with_equal_rows_in_no_group_are_in_doubt) {
  const auto doubt = ElementsAre(HasSubstr("'boxes' has as many rows as 'labels' in every sample"));
  EXPECT_THAT(doubts_about("labels", std::nullopt, false), doubt);
  EXPECT_THAT(doubts_about("labels", 1, false), ::testing::IsEmpty());
  EXPECT_THAT(doubts_about("b.labels", std::nullopt, true), ::testing::SizeIs(1));
  EXPECT_THAT(doubts_about("b.labels", std::nullopt, false), ::testing::IsEmpty());
}

TEST(SchemaDoubts, matrices_that_are_poses_and_tensors_that_may_be_boxes_are_in_doubt) {
  const FieldSpec image{.name = "image", .kind = FieldKind::kImage, .role = Role::kImage};
  const FieldSpec matrix{.name = "pose",
                         .kind = FieldKind::kTensor,
                         .dtype = DType::kFloat32,
                         .shape = {4, 4},
                         .role = Role::kCamera,
                         .of = 0};
  const FieldSpec rows{
      .name = "boxes", .kind = FieldKind::kTensor, .dtype = DType::kFloat32, .shape = {-1, 4}};
  const auto path = [](uint64_t) { return ""; };
  const Schema cameras{.fields = {image, matrix, rows}};
  SchemaDoubts poses(cameras), projections(cameras);
  poses.add_camera(1, true);
  projections.add_camera(1, true);
  projections.add_camera(1, false);
  EXPECT_THAT(poses.remarks(path), ElementsAre(HasSubstr("'pose' only rotate and shift")));
  EXPECT_THAT(projections.remarks(path), ::testing::IsEmpty());
  const Schema tensors{.fields = {image, rows}};
  EXPECT_THAT(SchemaDoubts(tensors).remarks(path),
              ElementsAre(HasSubstr("transforms of 'image' do not move 'boxes'. If they are")));
}

TEST_F(PackedSamples, a_job_stops_when_the_first_64_samples_are_all_refused) {
  indexed_.all_bad = true;
  indexed_.count = 20'000;
  EXPECT_EQ(refusal_of<CorruptError>([&] { pack_samples(indexed_, out("a.rec"), {.threads = 1}); }),
            "sample 0: the image is missing. Packing has stopped, because the first 64 samples are "
            "all refused; " +
                out("a.rec") + ".errors.jsonl lists why.");
  EXPECT_LT(indexed_.read_count(), indexed_.count / 2);
}

TEST_F(PackedSamples, a_run_resumes_with_the_same_schema_only) {
  indexed_.bad = true;
  EXPECT_THROW(pack_samples(indexed_, out("a.rec"), {.resume = true, .threads = 1}), CorruptError);
  indexed_.bad = false;
  std::vector<std::string> warnings;
  PackOptions options{.job = {.warn = [&](const std::string& text) { warnings.push_back(text); }},
                      .resume = true};
  pack_samples(indexed_, out("a.rec"), options, true);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("belongs to a different job")));
}

}  // namespace
}  // namespace fuelrail::pack
