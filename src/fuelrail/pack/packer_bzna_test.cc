// Packing to `.bzna`: what the records are, and the same guarantees as for `.rec`. Images that are
// records already need no encoder; the others need the plugin for H.265.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "fuelrail/container/bzna/outer_file.h"
#include "fuelrail/container/files/csv_rows.h"
#include "fuelrail/container/open.h"
#include "fuelrail/container/record_file.h"
#include "fuelrail/decode/decoder.h"
#include "fuelrail/pack/convert.h"
#include "fuelrail/pack/image/still_maker.h"
#include "fuelrail/pack/merge.h"
#include "fuelrail/pack/recover.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/golden_images.h"
#include "fuelrail/testing/packer_rig.h"
#include "fuelrail/testing/plugin_test.h"

namespace fuelrail::pack {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(StillMaker, frames_are_rounded_up_and_thumbnails_down) {
  EXPECT_EQ(frame_for({535, 600}), (Size{1024, 1024}));
  EXPECT_EQ(frame_for({512, 1}), (Size{512, 512}));
  EXPECT_EQ(thumbnail_of({535, 600}), (Size{456, 512}));
  EXPECT_EQ(thumbnail_of({333, 500}), (Size{333, 500}));
  EXPECT_EQ(thumbnail_of({5000, 1}), (Size{512, 1}));
}

// Two classes of MP4 files that are records of `.bzna` files.
class NestedImages : public PhotographFolder {
 protected:
  NestedImages() {
    for (int64_t i = 0; i < 5; ++i) {
      const std::string name = "m" + std::to_string(i) + ".mp4";
      records_.push_back({.input = "image " + std::to_string(i), .label = i / 3, .name = name});
      write_file(photo((i < 3 ? "ant/" : "bee/") + name), records_.back().bytes());
    }
  }

  std::shared_ptr<const RecordFile> opened(const std::string& name) const {
    const std::string track = name.ends_with(".bzna") ? "bzna_input" : "";
    return std::dynamic_pointer_cast<const RecordFile>(open_container(out(name), {.track = track}));
  }

  std::vector<bzna::MadeRecord> records_;
};

TEST_F(NestedImages, are_stored_unchanged) {
  const PackResult result = pack(photos(), out("x.bzna"), {.threads = 2});
  EXPECT_EQ(result.files.at(0).records, 5u);
  EXPECT_THAT(names_in(out()), ElementsAre("x.bzna", "x.bzna.frx"));
  const auto file = opened("x.bzna");
  EXPECT_THAT(file->classes(), ElementsAre("ant", "bee"));
  EXPECT_FALSE(file->sidecar().has_keys());
  std::string all;
  for (const bzna::MadeRecord& record : records_) all += record.bytes();
  EXPECT_EQ(file_contents(out("x.bzna")).substr(40, all.size()), all);
}

TEST_F(NestedImages, that_are_not_encoded_are_counted_in_the_report) {
  pack(photos(), out("x.bzna"), {.quality_report = out("q.md")});
  EXPECT_THAT(names_in(out()), ElementsAre("q.csv", "q.md", "q.svg", "x.bzna", "x.bzna.frx"));
  EXPECT_THAT(file_contents(out("q.md")),
              HasSubstr("- images measured: 0 of 5\n"
                        "- images not measured, packed without encoding: 5\n"));
}

TEST_F(NestedImages, leave_nothing_if_the_report_cannot_be_written) {
  EXPECT_THROW(pack(photos(), out("x.bzna"), {.quality_report = out("no/q.md"), .resume = true}),
               NotFoundError);
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(NestedImages, get_the_label_and_the_name_of_their_source) {
  write_file(directory_ / "x.lst", "70\t5\tphotos/ant/m0.mp4\n80\t7\tphotos/bee/m3.mp4\n");
  std::filesystem::rename(photo("bee/m3.mp4"), photo("bee/other.mp4"));
  write_file(directory_ / "x.lst", "70\t5\tphotos/ant/m0.mp4\n80\t7\tphotos/bee/other.mp4\n");
  pack(directory_ / "x.lst", out("x.bzna"), {.images = StoredImages{.stills = {.thumb = false}}});
  const std::string made = file_contents(out("x.bzna"));
  EXPECT_THAT(made, HasSubstr(bzna::MadeRecord{
                        .input = "image 3", .thumb = "", .label = 7, .name = "other.mp4"}
                                  .bytes()));
  const auto file = opened("x.bzna");
  ASSERT_TRUE(file->sidecar().has_keys());
  EXPECT_EQ(file->sidecar().key(1), 80u);
}

TEST_F(NestedImages, whose_boxes_cannot_be_a_record_are_made_anew_or_unreadable) {
  const std::string all = records_[0].bytes();
  std::string open = all;
  open.replace(open.find("moov") - 4, 4, std::string(4, '\0'));  // a box that extends to any end
  write_file(photo("ant/m0.mp4"), open);
  const std::string second = records_[1].bytes();
  write_file(photo("ant/m1.mp4"), second + second.substr(second.find("moov") - 4));
  write_file(photo("ant/m2.mp4"), records_[2].bytes() + "end");
  const PackResult result = pack(photos(), out("x.bzna"), {.max_errors = {.count = 1}});
  ASSERT_EQ(result.failures.size(), 1u);
  EXPECT_EQ(result.failures[0].path, photo("ant/m2.mp4"));
  EXPECT_THAT(file_contents(result.report), HasSubstr("box"));
  EXPECT_EQ(file_contents(out("x.bzna")).substr(40, 2 * all.size()), all + second);
}

TEST_F(NestedImages, are_images_in_every_format_and_come_back_unchanged) {
  pack(photos(), out("x.bzna"), {});
  for (const char* const name : {"y.rec", "y.ffr"}) {
    convert(out("x.bzna"), out(name));
    const auto file = open_container(out(name));
    Sample sample;
    std::vector<std::byte> framed;
    read_sample(*file, 3, framed, sample);
    EXPECT_EQ(as_text(sample.fields[0].bytes), records_[3].bytes());
    EXPECT_EQ(probe(sample.fields[0]).stored, (Size{535, 600}));
    EXPECT_EQ(probe(sample.fields[0]).format, &kMp4Format);
    convert(out(name), out("z.bzna"), {.overwrite = true});
    EXPECT_EQ(file_contents(out("z.bzna")), file_contents(out("x.bzna")));
    EXPECT_EQ(file_contents(out("z.bzna.frx")), file_contents(out("x.bzna.frx")));
  }
}

TEST_F(NestedImages, names_stay_in_the_sidecars_of_other_formats) {
  pack(photos(), out("x.bzna"), {.nsplit = 2});
  convert(out("x.part000.bzna"), out("a.ffr"));
  convert(out("a.ffr"), out("a.rec"));
  convert(out("x.part001.bzna"), out("b.rec"));
  merge({out("a.rec"), out("b.rec")}, out("c.rec"));
  const auto file = std::dynamic_pointer_cast<const RecordFile>(open_container(out("c.rec")));
  ASSERT_TRUE(file->sidecar().has_names());
  std::vector<std::byte> name;
  for (const uint64_t i : {0, 4}) file->sidecar().append_name(i, name);
  EXPECT_EQ(as_text(name), "m0.mp4m4.mp4");
}

TEST_F(NestedImages, sections_of_later_versions_go_along) {
  pack(photos(), out("x.bzna"), {});
  convert(out("x.bzna"), out("y.rec"));
  const std::string uri = out("y.rec.frx");
  const auto old = Sidecar::open(file_system_for(uri).open(uri));
  SidecarWriter writer;
  for (uint64_t i = 0; i < old->records(); ++i) {
    writer.add_record(old->record(i), old->payload_crc(i));
  }
  writer.set_labels(*old->labels());
  writer.keep_sections_of(*old);
  writer.add_section(section_type("LATE"), as_bytes("kept"), true);
  const auto sink = file_system_for(uri).create(uri);
  writer.write_to(old->identity(), *sink);
  sink->commit();

  convert(out("y.rec"), out("z.bzna"));
  convert(out("z.bzna"), out("z.rec"));
  EXPECT_EQ(file_contents(out("z.bzna")), file_contents(out("x.bzna")));
  for (const char* const name : {"z.bzna", "z.rec"}) {
    const auto file = opened(name);
    EXPECT_THAT(file->classes(), ElementsAre("ant", "bee"));
    const SidecarSection* const late = file->sidecar().section(section_type("LATE"));
    ASSERT_NE(late, nullptr) << name;
    EXPECT_EQ(as_text(late->all()), "kept");
  }
}

TEST_F(NestedImages, without_label_come_back_without_label) {
  std::vector<std::string> records;
  for (const std::optional<int64_t> label : {std::optional<int64_t>(5), {}, {-1}}) {
    records.push_back(bzna::MadeRecord{.label = label}.bytes());
  }
  bzna::write_bzna(out("x.bzna"), records, true);
  convert(out("x.bzna"), out("y.rec"));
  EXPECT_THAT(records_of(out("y.rec"))[1].labels, ElementsAre(-1));
  convert(out("y.rec"), out("z.bzna"));
  EXPECT_EQ(file_contents(out("z.bzna")), file_contents(out("x.bzna")));
  write_file(directory_ / "x.lst", "0\t-1\tphotos/ant/m0.mp4\n");  // a record with the label 0
  pack(directory_ / "x.lst", out("l.bzna"), {});
  EXPECT_EQ(file_contents(out("l.bzna")).find("bzna_target"), std::string::npos);
}

TEST_F(NestedImages, labels_that_the_other_format_cannot_store_are_refused) {
  bzna::write_bzna(out("x.bzna"), {bzna::MadeRecord{.label = 16777217}.bytes()}, true);
  EXPECT_THAT(testing::refusal_of<UnsupportedError>([&] { convert(out("x.bzna"), out("y.rec")); }),
              HasSubstr("record 0: the label cannot be stored in an image record"));
  write_file(directory_ / "x.lst", "0\t0.5\tphotos/ant/m0.mp4\n");
  EXPECT_THAT(
      testing::refusal_of<CorruptError>([&] { pack(directory_ / "x.lst", out("z.bzna"), {}); }),
      HasSubstr("expected one whole number, found 0.5. Pack the images into a .rec or "
                ".ffr file"));
}

TEST_F(NestedImages, of_parts_and_splits_are_those_of_one_job) {
  const std::vector<SplitSource> sources{{"train", photos()}, {"val", photos()}};
  pack(sources, out("x.bzna"), {});
  pack(sources, out("y.bzna"), {.nsplit = 3});
  merge({out("y.part000.bzna"), out("y.part001.bzna"), out("y.part002.bzna")}, out("z.bzna"));
  EXPECT_EQ(file_contents(out("z.bzna")), file_contents(out("x.bzna")));
  EXPECT_EQ(file_contents(out("z.bzna.frx")), file_contents(out("x.bzna.frx")));
  recover(out("x.bzna"), out("r.bzna"), {}, {});
  EXPECT_EQ(file_contents(out("r.bzna")), file_contents(out("x.bzna")));

  std::vector<uint64_t> train(5), validation(5);
  std::iota(train.begin(), train.end(), 0);
  std::iota(validation.begin(), validation.end(), 5);
  EXPECT_THAT(opened("x.bzna")->splits(),
              ElementsAre(RecordSplit{"train", train}, RecordSplit{"validation", validation}));
  const auto part = open_container(out("x.bzna"), {.split = "val"});
  EXPECT_EQ(part->size(), 5u);
  EXPECT_EQ(part->place(0).record, 5u);
}

TEST_F(NestedImages, an_existing_file_is_kept_if_it_is_the_same_with_its_splits) {
  const std::vector<SplitSource> sources{{"train", photos()}, {"test", photos()}};
  pack(sources, out("x.bzna"), {});
  const auto before = outputs();
  EXPECT_TRUE(pack(sources, out("x.bzna"), {.resume = true}).files.at(0).was_there);
  EXPECT_EQ(outputs(), before);
  const std::vector<SplitSource> others{{"train", photos()}, {"validation", photos()}};
  EXPECT_THAT(testing::refusal_of<IoError>([&] { pack(others, out("x.bzna"), {.resume = true}); }),
              HasSubstr("other splits"));
  EXPECT_EQ(outputs(), before);
}

TEST_F(NestedImages, recovery_keeps_the_splits_of_what_is_left) {
  const std::vector<SplitSource> sources{{"train", photos()}, {"test", photos()}};
  pack(sources, out("x.bzna"), {});
  const Extent lost = opened("x.bzna")->record_extent(1);
  std::string bytes = file_contents(out("x.bzna"));
  bytes[lost.offset + lost.length / 2] ^= 1;
  write_file(out("x.bzna"), bytes);
  uint64_t losses = 0;
  recover(out("x.bzna"), out("r.bzna"), {}, [&](const Damage&) { ++losses; });
  EXPECT_EQ(losses, 1u);
  EXPECT_THAT(opened("r.bzna")->splits(), ElementsAre(RecordSplit{"train", {0, 1, 2, 3}},
                                                      RecordSplit{"test", {4, 5, 6, 7, 8}}));
}

TEST_F(NestedImages, splits_in_any_order_are_the_same_again) {
  const std::vector<SplitSource> sources{
      {"test", photos()}, {"val", photos()}, {"train", photos()}};
  pack(sources, out("x.bzna"), {});
  EXPECT_TRUE(pack(sources, out("x.bzna"), {.resume = true}).files.at(0).was_there);
  pack(sources, out("y.bzna"), {.nsplit = 2});
  merge({out("y.part000.bzna"), out("y.part001.bzna")}, out("z.bzna"));
  EXPECT_EQ(file_contents(out("z.bzna")), file_contents(out("x.bzna")));
}

TEST_F(NestedImages, an_existing_file_with_other_ids_is_not_kept) {
  write_file(directory_ / "x.lst", "0\t5\tphotos/ant/m0.mp4\n");
  pack(directory_ / "x.lst", out("x.bzna"), {});
  write_file(directory_ / "x.lst", "7\t5\tphotos/ant/m0.mp4\n");
  EXPECT_THAT(testing::refusal_of<IoError>(
                  [&] { pack(directory_ / "x.lst", out("x.bzna"), {.resume = true}); }),
              HasSubstr("record 0, which differs"));
}

TEST_F(NestedImages, without_thumbnails_are_converted_too) {
  pack(photos(), out("x.bzna"), {.images = StoredImages{.stills = {.thumb = false}}});
  EXPECT_EQ(convert(out("x.bzna"), out("y.rec")).records, 5u);
}

TEST_F(NestedImages, are_recovered_from_a_file_whose_beginning_is_damaged) {
  pack(photos(), out("x.bzna"), {});
  std::string bytes = file_contents(out("x.bzna"));
  bytes[5] ^= 1;  // in the type of the first box
  write_file(out("x.bzna"), bytes);
  EXPECT_EQ(recover(out("x.bzna"), out("r.bzna"), {}, {}).file.records, 5u);
  EXPECT_THAT(testing::refusal_of<InvalidArgumentError>(
                  [&] { recover(out("x.bzna"), out("r.rec"), {}, {}); }),
              HasSubstr("cannot be copied to this format: expected a name that ends in .bzna"));
}

TEST_F(NestedImages, whose_boxes_are_written_anew_keep_their_sample_entries) {
  std::string file = bzna::MadeRecord{.label = 5}.bytes();  // the folder's label is 0
  for (size_t at = file.find("hvc1"); at != file.npos; at = file.find("hvc1")) {
    file.replace(at, 4, "hev1");
  }
  write_file(photo("ant/m0.mp4"), file);
  pack(photos(), out("x.bzna"), {});
  const Extent record = opened("x.bzna")->record_extent(0);
  const std::string made = file_contents(out("x.bzna")).substr(record.offset, record.length);
  EXPECT_THAT(made, HasSubstr("hev1"));
  EXPECT_THAT(made, ::testing::Not(HasSubstr("hvc1")));
}

TEST_F(NestedImages, keep_their_names_in_a_recovered_file_of_another_format) {
  pack(photos(), out("x.bzna"), {});
  convert(out("x.bzna"), out("y.rec"));
  const auto open = [&](const std::string& name) {
    return std::dynamic_pointer_cast<const RecordFile>(open_container(out(name)));
  };
  const Extent lost = open("y.rec")->record_extent(1);
  std::string bytes = file_contents(out("y.rec"));
  bytes[lost.offset + lost.length / 2] ^= 1;
  write_file(out("y.rec"), bytes);
  EXPECT_EQ(recover(out("y.rec"), out("r.rec")).lost_records, 1u);
  const auto recovered = open("r.rec");
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(recovered->sidecar().name(i), "m" + std::to_string(i == 0 ? 0 : i + 1) + ".mp4");
  }
}

TEST_F(NestedImages, that_are_damaged_are_lost_alone_without_a_sidecar) {
  pack(photos(), out("x.bzna"), {});
  std::filesystem::remove(out("x.bzna.frx"));
  std::string bytes = file_contents(out("x.bzna"));
  const Extent damaged = opened("x.bzna")->record_extent(1);
  bytes[bytes.find("moov", damaged.offset)] ^= 1;
  write_file(out("x.bzna"), bytes);
  std::vector<Damage> losses;
  const auto lost = [&](const Damage& damage) { losses.push_back(damage); };
  EXPECT_EQ(recover(out("x.bzna"), out("r.bzna"), {}, lost).file.records, 4u);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].record, 1u);
  EXPECT_THAT(losses[0].reason, HasSubstr("the record cannot be stored in a `.bzna` file"));
  EXPECT_EQ(opened("r.bzna")->sidecar().key(1), 2u);
}

TEST_F(NestedImages, whose_labels_differ_from_the_tables_are_recovered_but_not_merged) {
  pack(photos(), out("x.bzna"), {});
  std::string bytes = file_contents(out("x.bzna"));
  const Extent last = opened("x.bzna")->record_extent(4);
  bytes[last.offset + last.length] ^= 2;  // the labels follow the records
  write_file(out("x.bzna"), bytes);
  EXPECT_THAT(testing::refusal_of<CorruptError>([&] { merge({out("x.bzna")}, out("m.bzna")); }),
              HasSubstr("record 0: the record's own label differs from its label in the file's "
                        "tables: expected 0, found 2"));
  std::vector<std::string> warnings;
  const JobOptions job{.warn = [&](const std::string& text) { warnings.push_back(text); }};
  EXPECT_EQ(recover(out("x.bzna"), out("r.bzna"), job).file.records, 5u);
  EXPECT_THAT(warnings, ::testing::Contains(HasSubstr("differ from those in the records: 1.")));

  const size_t target = bytes.rfind("bzna_target");
  bytes[target] = 'x';  // the tables have no labels now, as in a file whose track of labels ends
  write_file(out("x.bzna"), bytes);
  EXPECT_EQ(merge({out("x.bzna")}, out("m.bzna")).records, 5u);
}

TEST_F(NestedImages, are_not_copied_past_an_unusable_sidecar) {
  pack(photos(), out("x.bzna"), {});
  write_file(out("x.bzna.frx"), "damaged");
  EXPECT_THAT(testing::refusal_of<CorruptError>([&] { convert(out("x.bzna"), out("y.rec")); }),
              HasSubstr("the sidecar cannot be used"));
}

TEST_F(NestedImages, a_report_replaces_no_other_file) {
  write_file(out("q.csv"), "path,label\n");
  EXPECT_THAT(testing::refusal_of<IoError>(
                  [&] { pack(photos(), out("x.bzna"), {.quality_report = out("q.md")}); }),
              HasSubstr("q.csv: a file of the quality report would replace another file"));
  EXPECT_THAT(names_in(out()), ElementsAre("q.csv"));
}

TEST_F(NestedImages, options_of_other_formats_are_refused) {
  const auto refusal = [&](const std::string& output, const StoredImages& images) {
    return testing::refusal_of<InvalidArgumentError>(
        [&] { pack(photos(), out(output), {.images = images}); });
  };
  EXPECT_THAT(refusal("x.bzna", {.quality = 90}),
              HasSubstr("`quality` does not apply to .bzna files: expected `crf`"));
  EXPECT_THAT(refusal("x.rec", {.stills = {.hevc = {.crf = 20}}}),
              HasSubstr("`crf` does not apply to .rec files: expected an output whose name ends "
                        "in .bzna, found 20"));
  EXPECT_THAT(refusal("x.bzna", {.stills = {.hevc = {.preset = "fastest"}}}), HasSubstr("preset"));
  EXPECT_THAT(refusal("x.bzna", {.stills = {.hevc = {.chroma = 422}}}), HasSubstr("chroma"));
  EXPECT_THAT(testing::refusal_of<UnsupportedError>(
                  [&] { pack(photos(), out("x.bzna"), {.images = ImageSteps{}}); }),
              HasSubstr("im2rec and np2rec cannot write this format: expected a name that ends in "
                        ".rec or .ffr, found .bzna"));
  const auto report_refusal = [&](const std::string& output, const std::string& report) {
    return testing::refusal_of<InvalidArgumentError>(
        [&] { pack(photos(), out(output), {.quality_report = out(report)}); });
  };
  EXPECT_THAT(report_refusal("x.rec", "q.md"),
              HasSubstr("`quality_report` does not apply to .rec files: expected an output whose "
                        "name ends in .bzna"));
  EXPECT_THAT(report_refusal("x.bzna", "q.txt"),
              HasSubstr("`quality_report` has the wrong extension: expected a name that ends in "
                        ".md"));
  const std::vector<SplitSource> sources{{"train", photos()}};
  EXPECT_THAT(
      testing::refusal_of<InvalidArgumentError>([&] { pack(sources, out("x.rec"), {}); }),
      HasSubstr("files of this format cannot store splits: expected one source, or an output "
                "whose name ends in .bzna, found a source for the split 'train'"));
  EXPECT_THAT(names_in(out()), IsEmpty());
}

TEST_F(NestedImages, an_mp4_file_of_another_kind_is_not_an_image) {
  write_file(photo("ant/m1.mp4"), file_contents(photo("ant/m1.mp4")).substr(0, 60));
  std::string film = bzna::MadeRecord{.thumb = ""}.bytes();
  for (size_t at = film.find("bzna_"); at != film.npos; at = film.find("bzna_")) film[at] = 'x';
  write_file(photo("ant/m2.mp4"), film);
  const PackResult result = pack(photos(), out("x.rec"), {.max_errors = {.count = 2}});
  ASSERT_EQ(result.failures.size(), 2u);
  EXPECT_THAT(result.failures[0].reason, HasSubstr("box"));
  EXPECT_THAT(result.failures[1].reason, HasSubstr("the MP4 file is not an image"));
}

// --- Images that are encoded ---

class EncodedStills : public testing::PluginTest {
 protected:
  static std::string out(const TemporaryDirectory& directory, const std::string& name) {
    return directory / name;
  }

  // The pixels of record i, as RGB.
  static std::string decoded(const Container& file, uint64_t i, Size* size) {
    Sample sample;
    std::vector<std::byte> framed;
    read_sample(file, i, framed, sample);
    const ImageInfo info = probe(sample.fields[0]);
    *size = info.stored;
    std::string pixels(static_cast<size_t>(info.stored.height * info.stored.width * 3), '\0');
    decode_whole(*make_decoder(), sample.fields[0], info,
                 {reinterpret_cast<uint8_t*>(pixels.data()), info.stored.height, info.stored.width,
                  3, info.stored.width * 3});
    return pixels;
  }

  static double psnr(const std::string& a, const std::string& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      const double difference = static_cast<uint8_t>(a[i]) - static_cast<uint8_t>(b[i]);
      sum += difference * difference;
    }
    return 10 * std::log10(255 * 255 * static_cast<double>(a.size()) / std::max(sum, 1e-9));
  }
};

const StoredImages kFine{
    .stills = {.hevc = {.crf = 4, .preset = "ultrafast", .chroma = 444}, .thumb = false}};

TEST_F(EncodedStills, images_of_every_kind_are_encoded_upright) {
  const TemporaryDirectory directory;
  std::vector<testing::GoldenImage> images;
  for (const testing::GoldenImage& image : testing::golden_images()) {
    const bool is_chosen = image.name.starts_with("cmyk") || image.name.starts_with("exif6") ||
                           image.name.find("16") != std::string::npos ||
                           image.name.starts_with("gr");
    if (is_chosen && !image.name.ends_with(".tif")) images.push_back(image);
  }
  ASSERT_GT(images.size(), 8u);
  std::string list;
  for (const testing::GoldenImage& image : images) {
    const std::string name = image.name + ".JPEG";  // whatever the format
    write_file(directory / name, image.encoded);
    list += "0\t0\t" + name + "\n";
  }
  write_file(directory / "x.lst", list);
  pack(directory / "x.lst", directory / "x.bzna", {.images = kFine, .threads = 2});
  const auto file = open_container(directory / "x.bzna", {.track = "bzna_input"});
  for (uint64_t i = 0; i < images.size(); ++i) {
    Size size;
    const std::string pixels = decoded(*file, i, &size);
    const std::string& expected = images[i].orientation == 1 ? images[i].rgb : images[i].upright;
    ASSERT_EQ(pixels.size(), expected.size()) << images[i].name;
    EXPECT_GT(psnr(pixels, expected), 38) << images[i].name;
  }
}

TEST_F(EncodedStills, extreme_sizes_have_frames_and_thumbnails) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "photos/a");
  write_file(directory / "photos/a/0.jpg", as_text(make_jpeg(1, 1, 1)));
  write_file(directory / "photos/a/1.jpg", as_text(make_jpeg(1, 5000, 2)));
  write_file(directory / "photos/a/2.jpg", as_text(make_jpeg(40, 520, 3)));
  const PackOptions options{
      .images = StoredImages{.stills = {.hevc = {.crf = 4, .preset = "ultrafast"}}}, .threads = 1};
  pack(directory / "photos", directory / "x.bzna", options);
  const auto thumbs = open_container(directory / "x.bzna");
  const auto inputs = open_container(directory / "x.bzna", {.track = "bzna_input"});
  for (const auto& [i, input, thumb] : {std::tuple(0, Size{1, 1}, Size{1, 1}),
                                        {1, Size{1, 5000}, Size{1, 512}},
                                        {2, Size{40, 520}, Size{39, 512}}}) {
    Size size;
    decoded(*inputs, static_cast<uint64_t>(i), &size);
    EXPECT_EQ(size, input);
    decoded(*thumbs, static_cast<uint64_t>(i), &size);
    EXPECT_EQ(size, thumb);
  }
}

TEST_F(EncodedStills, are_the_same_for_any_number_of_threads_and_after_a_conversion) {
  const TemporaryDirectory directory;
  for (int i = 0; i < 4; ++i) {
    std::filesystem::create_directories(directory / "photos/a");
    write_file(directory / ("photos/a/" + std::to_string(i) + ".jpg"),
               as_text(make_jpeg(60 + i, 80, static_cast<uint64_t>(i))));
  }
  const StoredImages images{.stills = {.hevc = {.preset = "ultrafast"}}};
  pack(directory / "photos", directory / "x.bzna", {.images = images, .threads = 1});
  pack(directory / "photos", directory / "y.bzna", {.images = images, .threads = 3});
  EXPECT_EQ(file_contents(directory / "x.bzna"), file_contents(directory / "y.bzna"));
  EXPECT_EQ(file_contents(directory / "x.bzna.frx"), file_contents(directory / "y.bzna.frx"));

  pack(directory / "photos", directory / "x.rec", {});
  convert(directory / "x.rec", directory / "z.bzna", {}, {.stills = images.stills, .threads = 2});
  const auto x = open_container(directory / "x.bzna"), z = open_container(directory / "z.bzna");
  for (uint64_t i = 0; i < 4; ++i) {
    Size size;
    EXPECT_EQ(decoded(*x, i, &size), decoded(*z, i, &size));
  }
}

TEST_F(EncodedStills, without_thumbnails_get_them_and_are_kept) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory / "photos/a");
  write_file(directory / "photos/a/0.jpg", as_text(make_jpeg(40, 520, 1)));
  write_file(directory / "photos/a/1.jpg", as_text(make_jpeg(60, 80, 2)));
  pack(directory / "photos", directory / "x.bzna", {.images = kFine});
  convert(directory / "x.bzna", directory / "x.rec");
  convert(directory / "x.rec", directory / "same.bzna", {}, {.stills = {.thumb = false}});
  EXPECT_EQ(file_contents(directory / "same.bzna"), file_contents(directory / "x.bzna"));
  convert(directory / "x.rec", directory / "y.bzna", {}, {.stills = {.hevc = kFine.stills.hevc}});
  const auto old = open_container(directory / "x.bzna", {.track = "bzna_input"});
  const auto inputs = open_container(directory / "y.bzna", {.track = "bzna_input"});
  const auto thumbs = open_container(directory / "y.bzna");
  for (const auto& [i, size] : {std::pair<uint64_t, Size>(0, {39, 512}), {1, {60, 80}}}) {
    Sample a, b;
    std::vector<std::byte> old_bytes, new_bytes;
    read_sample(*old, i, old_bytes, a);
    read_sample(*inputs, i, new_bytes, b);
    EXPECT_EQ(as_text(a.fields[0].bytes), as_text(b.fields[0].bytes));
    Size found;
    decoded(*thumbs, i, &found);
    EXPECT_EQ(found, size);
    EXPECT_EQ(inputs->extent(i).offset == thumbs->extent(i).offset, i == 1);  // the same data
  }
}

// The numbers of each image in a report, by its path: width, height, source_bytes, bytes, psnr and
// ssim.
std::map<std::string, std::vector<double>> measured_in(const std::string& csv) {
  std::map<std::string, std::vector<double>> images;
  const std::string text = file_contents(csv);
  CsvRows rows(text, ',', csv);
  std::vector<std::string> fields;
  rows.next(fields);
  while (rows.next(fields)) {
    for (size_t i = 1; i < fields.size(); ++i) images[fields[0]].push_back(std::stod(fields[i]));
  }
  return images;
}

class ReportedStills : public EncodedStills {
 protected:
  ReportedStills() {
    std::filesystem::create_directories(photos_);
    for (int i = 0; i < 4; ++i) put(i);
  }
  std::string photo(int i) const { return photos_ + "/" + std::to_string(i) + ".jpg"; }
  void put(int i) const {
    write_file(photo(i), as_text(make_jpeg(60 + i, 80, static_cast<uint64_t>(i))));
  }
  // The report's name has no extension here.
  PackOptions options(const std::string& report, int threads = 2) const {
    return {.images = StoredImages{.stills = {.hevc = {.crf = 30, .preset = "ultrafast"}}},
            .quality_report = directory_ / (report + ".md"),
            .threads = threads};
  }
  std::string text(const std::string& report) const {
    return file_contents(directory_ / (report + ".md"));
  }

  TemporaryDirectory directory_;
  const std::string source_ = directory_ / "photos";
  const std::string photos_ = source_ + "/a";
};

TEST_F(ReportedStills, are_compared_with_the_pixels_that_were_encoded) {
  PackOptions plain = options("q");
  plain.quality_report.clear();
  pack(source_, directory_ / "x.bzna", plain);
  pack(source_, directory_ / "y.bzna", options("q"));
  EXPECT_EQ(file_contents(directory_ / "x.bzna"), file_contents(directory_ / "y.bzna"));
  const auto images = measured_in(directory_ / "q.csv");
  ASSERT_EQ(images.size(), 4u);
  const auto file = open_container(directory_ / "y.bzna", {.track = "bzna_input"});
  for (int i = 0; i < 4; ++i) {
    Size size;
    const std::string made = decoded(*file, static_cast<uint64_t>(i), &size);
    const std::string encoded = file_contents(photo(i));
    const ImageInfo info = probe(EncodedImage(as_bytes(encoded)));
    std::string original(made.size(), '\0');
    decode_whole(
        *make_decoder(), EncodedImage(as_bytes(encoded)), info,
        {reinterpret_cast<uint8_t*>(original.data()), size.height, size.width, 3, size.width * 3});
    const std::vector<double>& numbers = images.at(photo(i));
    EXPECT_EQ(numbers[0], 80);
    EXPECT_EQ(numbers[1], 60 + i);
    EXPECT_EQ(numbers[2], static_cast<double>(encoded.size()));
    EXPECT_EQ(numbers[3], static_cast<double>(file->extent(static_cast<uint64_t>(i)).length));
    EXPECT_NEAR(numbers[4], psnr(original, made), 1e-4);
    EXPECT_GT(numbers[5], 0.3);
    EXPECT_LT(numbers[5], 1);
  }
}

TEST_F(ReportedStills, are_the_same_in_every_report_for_any_number_of_threads) {
  pack(source_, directory_ / "x.bzna", options("q", 1));
  pack(source_, directory_ / "y.bzna", options("r", 4));
  for (const char* extension : {".csv", ".svg"}) {
    EXPECT_EQ(file_contents(directory_ / "q" + extension),
              file_contents(directory_ / "r" + extension));
  }
}

TEST_F(ReportedStills, of_all_parts_are_in_one_report) {
  PackOptions parts = options("q");
  parts.nsplit = 2;
  pack(source_, directory_ / "x.bzna", parts);
  EXPECT_THAT(text("q"), HasSubstr("- images measured: 4 of 4\n"));
  parts = options("r");
  parts.split = {{"train", 0.5}, {"val", 0.5}};
  pack(source_, directory_ / "y.bzna", parts);
  EXPECT_EQ(measured_in(directory_ / "r.csv"), measured_in(directory_ / "q.csv"));
}

TEST_F(ReportedStills, of_an_earlier_run_and_unreadable_images_are_counted) {
  write_file(photo(2), "this is not an image");
  PackOptions job = options("q", 1);
  job.max_errors = {.count = 1};
  job.resume = true;
  job.journal_interval_ms = 0;
  job.job.progress = [](const PackProgress& now) { return now.done < now.total; };
  EXPECT_THROW(pack(source_, directory_ / "x.bzna", job), StateError);  // after the last image
  EXPECT_FALSE(std::filesystem::exists(directory_ / "q.md"));
  put(2);
  job.job.progress = {};
  pack(source_, directory_ / "x.bzna", job);
  EXPECT_THAT(text("q"), HasSubstr("- images measured: 2 of 4\n"
                                   "- images not measured, packed in an earlier run: 2\n"));
  write_file(photo(1), "this is not an image");
  job.job.overwrite = true;
  job.resume = false;
  pack(source_, directory_ / "x.bzna", job);
  EXPECT_THAT(text("q"), HasSubstr("- images measured: 3 of 4\n"
                                   "- images not measured, unreadable: 1\n"));
}

TEST_F(ReportedStills, that_are_compared_with_an_existing_file_are_measured) {
  pack(source_, directory_ / "x.bzna", options("q"));
  PackOptions again = options("r");
  again.resume = true;
  EXPECT_TRUE(pack(source_, directory_ / "x.bzna", again).files.at(0).was_there);
  EXPECT_EQ(text("r").replace(text("r").find("r.csv"), 1, "q").substr(0, 300),
            text("q").substr(0, 300));
}

}  // namespace
}  // namespace fuelrail::pack
