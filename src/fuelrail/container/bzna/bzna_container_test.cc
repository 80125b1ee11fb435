// `.bzna` files as containers, written by fuelrail or built box by box.
#include "fuelrail/container/bzna/bzna_container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "fuelrail/base/endian.h"
#include "fuelrail/base/error.h"
#include "fuelrail/container/build_sidecar.h"
#include "fuelrail/container/bzna/outer_file.h"
#include "fuelrail/mp4/nested_file.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/testing/bzna_file.h"
#include "fuelrail/testing/container_conformance.h"
#include "fuelrail/testing/mp4_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::bzna {
namespace {

using namespace fuelrail::mp4;  // the boxes of a file

using fuelrail::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string le_label(int64_t value) {
  std::string bytes(sizeof value, '\0');
  store_le(reinterpret_cast<std::byte*>(bytes.data()), value);
  return bytes;
}

// --- Conformance, with and without a sidecar ---

template <bool kWithSidecar>
struct Thumbnails {
  static constexpr bool kDetectsTruncation = true;
  std::shared_ptr<const Container> make() { return file.open(); }
  std::shared_ptr<const Container> make_copy() { return copy.open(); }
  std::vector<ExpectedSample> expected() {
    return {{.fields = {"thumb", le_label(3), "cat.jpg"}, .id = 0},
            {.fields = {"another", le_label(-1), ""}, .id = 1},
            {.fields = {"third", le_label(-7), "dog.jpg"}, .id = 2},
            {.fields = {"the last one", le_label(1), "a"}, .id = 3}};
  }
  BznaFile file{four_records(), kWithSidecar};
  BznaFile copy{four_records(), kWithSidecar};
};
using WithStills = Thumbnails<true>;
using WithoutSidecar = Thumbnails<false>;

}  // namespace
}  // namespace fuelrail::bzna

namespace fuelrail {
INSTANTIATE_TYPED_TEST_SUITE_P(BznaWithStills, ContainerConformance, WithViews<bzna::WithStills>);
INSTANTIATE_TYPED_TEST_SUITE_P(BznaWithoutSidecar, ContainerConformance,
                               WithViews<bzna::WithoutSidecar>);
}  // namespace fuelrail

namespace fuelrail::bzna {
namespace {

// --- The schema and the image ---

TEST(Bzna, samples_have_image_label_and_name) {
  BznaFile file(four_records());
  const Schema& schema = file.open()->schema();
  ASSERT_THAT(schema.fields, SizeIs(3));
  EXPECT_EQ(describe(schema.fields[0]), "image");
  EXPECT_EQ(describe(schema.fields[1]), "tensor int64 []");
  EXPECT_EQ(describe(schema.fields[2]), "bytes");
  EXPECT_EQ(schema.fields[2].name, "name");
}

TEST(Bzna, the_image_has_its_codec_and_visible_size_with_and_without_the_sidecar) {
  for (const bool with_sidecar : {true, false}) {
    BznaFile file(four_records(), with_sidecar);
    const auto container = file.open("bzna_input");
    const Read first(*container, 0), third(*container, 2);
    EXPECT_EQ(first.field(0), "input bitstream");
    EXPECT_EQ(first.image().visible, (Size{.height = 535, .width = 600}));
    ASSERT_NE(first.image().codec, nullptr);
    EXPECT_EQ(first.image().codec->format, &kHevcFormat);
    EXPECT_EQ(first.image().codec->coded, (Size{.height = 1024, .width = 1024}));
    EXPECT_EQ(as_text(first.image().codec->parameters), MadeRecord().parameters);
    EXPECT_EQ(first.image().codec, third.image().codec);  // equal codecs are one object
    EXPECT_NE(first.image().codec, Read(*file.open(), 0).image().codec);
    EXPECT_THAT(file.warnings, IsEmpty());
  }
}

TEST(Bzna, with_the_sidecar_only_the_chosen_bitstream_is_read) {
  BznaFile file(four_records());
  const auto thumbs = file.open();
  EXPECT_EQ(thumbs->extent(1).length, std::string("another").size());
  EXPECT_EQ(file.open("bzna_input")->extent(1).length, std::string("second").size());
  EXPECT_EQ(thumbs->record_extent(1).length, four_records()[1].size());
  EXPECT_TRUE(thumbs->verifies_checksums());
}

TEST(Bzna, the_fingerprint_is_that_of_the_records_lengths_with_and_without_the_sidecar) {
  BznaFile with(four_records()), without(four_records(), false);
  uint64_t bytes = 0;
  for (const std::string& record : four_records()) bytes += record.size();
  EXPECT_EQ(with.open()->fingerprint().bytes, bytes);
  EXPECT_EQ(with.open()->fingerprint(), without.open()->fingerprint());
}

TEST(Bzna, without_a_thumbnail_the_error_names_the_tracks_there_are) {
  for (const bool with_sidecar : {true, false}) {
    BznaFile file({MadeRecord{.thumb = {}}.bytes()}, with_sidecar);
    const auto container = file.open("bzna_thumb");
    const std::string refused = refusal_of<DecodeError>([&] { Read(*container, 0); });
    EXPECT_THAT(refused, HasSubstr("x.bzna: record 0, offset 40: the record has no track "
                                   "'bzna_thumb': found the image tracks bzna_input. Choose "
                                   "another track with `track`"));
    EXPECT_EQ(Read(*file.open("bzna_input"), 0).field(0), "input bitstream");
  }
}

TEST(Bzna, an_image_without_bytes_or_parameters_is_a_bad_record) {
  BznaFile file({MadeRecord{.input = ""}.bytes(), MadeRecord{.parameters = ""}.bytes()}, false);
  const auto container = file.open("bzna_input");
  EXPECT_THAT(refusal_of<DecodeError>([&] { Read(*container, 0); }),
              HasSubstr("record 0, offset 40: the record's image has no bytes"));
  EXPECT_THAT(refusal_of<DecodeError>([&] { Read(*container, 1); }),
              HasSubstr("the record does not have the parameters of the image's decoder: expected "
                        "a box hvcC or avcC"));
}

TEST(Bzna, an_image_in_another_format_is_a_bad_record_that_names_it) {
  for (const std::string format : {"av01", "vp09"}) {
    BznaFile file(four_records(), false);
    std::string bytes = file_contents(file.path);
    bytes.replace(bytes.find("hvc1"), 4, format);  // of the first record's image
    write_file(file.path, bytes);
    const auto container = file.open("bzna_input");
    EXPECT_THAT(refusal_of<UnsupportedError>([&] { Read(*container, 0); }),
                HasSubstr("x.bzna: record 0, offset 40: the image's format is not supported: "
                          "expected H.265 (hvc1, hev1) or H.264 (avc1), found a sample entry '" +
                          format + "'"));
    EXPECT_EQ(Read(*container, 1).field(0), "second");
  }
}

TEST(Bzna, too_many_different_codecs_are_bad_records) {
  constexpr int kMost = 8192;
  std::string record = MadeRecord{.input = "x", .thumb = {}}.bytes();
  BznaFile file({record}, false);
  const auto container = file.open("bzna_input");
  Sample sample;
  const auto parse = [&](int number) {
    record.replace(record.find("hvcC") + 4, 4, be32(static_cast<uint32_t>(number)));
    container->parse(0, as_bytes(record), sample);
  };
  for (int number = 0; number < kMost; ++number) parse(number);
  EXPECT_THAT(refusal_of<DecodeError>([&] { parse(kMost); }),
              HasSubstr("the file's records have too many different codecs: expected at most "
                        "8192"));
  parse(7);
  EXPECT_EQ(as_text(sample.fields[0].bytes), "x");
}

TEST(Bzna, an_image_larger_than_its_picture_is_a_bad_record) {
  std::vector<std::byte> record;
  write_nested_file({.input = {.bitstream = as_bytes("x"),
                               .parameters = as_bytes("y"),
                               .coded = {.height = 512, .width = 512},
                               .visible = {.height = 513, .width = 1}}},
                    record);
  for (const bool with_sidecar : {true, false}) {
    BznaFile file({std::string(as_text(record))}, with_sidecar);
    const auto container = file.open("bzna_input");
    EXPECT_THAT(refusal_of<DecodeError>([&] { Read(*container, 0); }),
                HasSubstr("larger than the coded picture: expected at most 512 x 512 (height x "
                          "width), found 513 x 1"));
  }
}

// --- Damage ---

TEST(Bzna, a_changed_bitstream_is_found_by_its_checksum) {
  BznaFile file(four_records());
  std::string bytes = file_contents(file.path);
  const uint64_t at = file.open()->extent(2).offset;
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_file(file.path, bytes);
  const auto container = file.open();
  EXPECT_THAT(refusal_of<CorruptError>([&] { Read(*container, 2); }), HasSubstr("record 2"));
  EXPECT_EQ(Read(*container, 3).field(0), "the last one");
}

// Opens a file in memory, where thousands of files take no time.
std::shared_ptr<const RecordFile> open_in_memory(const std::string& bytes) {
  const std::string uri = "memory://x.bzna";
  const auto sink = memory_file_system().create(uri);
  sink->write(as_bytes(bytes));
  sink->commit();
  return open_bzna(uri);
}

TEST(Bzna, a_file_cut_anywhere_is_an_error) {
  BznaFile file(four_records(), false);
  const std::string bytes = file_contents(file.path);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(open_in_memory(bytes.substr(0, size)), Error) << size;
  }
}

TEST(Bzna, a_flipped_byte_outside_the_records_never_crashes) {
  BznaFile file(four_records(), false);
  const std::string bytes = file_contents(file.path);
  const auto last = file.open()->record_extent(3);
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (at >= 40 && at < last.offset + last.length) continue;
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x81);
    try {
      const auto container = open_in_memory(changed);
      for (uint64_t i = 0; i < container->size(); ++i) Read(*container, i);
    } catch (const Error&) {
    }
  }
}

TEST(Bzna, the_default_track_is_the_thumbnail_or_else_the_image) {
  for (const bool with_sidecar : {true, false}) {
    BznaFile file({MadeRecord{}.bytes(), MadeRecord{.thumb = ""}.bytes()}, with_sidecar);
    const auto container = file.open();
    EXPECT_EQ(Read(*container, 0).field(0), "thumb");
    EXPECT_EQ(Read(*container, 1).field(0), "input bitstream");
  }
}

TEST(Bzna, a_label_that_is_not_the_records_own_is_found_by_a_check) {
  BznaFile file(four_records());
  std::string bytes = file_contents(file.path);
  const auto whole = file.open();
  const Extent last = whole->record_extent(whole->size() - 1);
  bytes[last.offset + last.length] ^= 1;  // the labels follow the records
  write_file(file.path, bytes);
  const auto container = file.open();
  EXPECT_EQ(Read(*container, 0).field(1), le_label(2));
  EXPECT_THAT(refusal_of<CorruptError>(
                  [&] { container->check_record(0, as_bytes(four_records()[0]), false); }),
              HasSubstr("record 0: the record's own label differs from its label in the file's "
                        "tables: expected 3, found 2"));
}

TEST(Bzna, a_changed_record_names_its_own_place) {
  BznaFile file(four_records());
  const auto container = file.open();
  const Extent extent = container->record_extent(2);
  std::string record = file_contents(file.path).substr(extent.offset, extent.length);
  record.back() = static_cast<char>(record.back() ^ 1);
  Sample sample;
  EXPECT_THAT(refusal_of<CorruptError>([&] { container->parse(2, as_bytes(record), sample); }),
              HasSubstr("x.bzna: record 2, offset " + std::to_string(extent.offset)));
}

// --- The sidecar ---

TEST(Bzna, opening_writes_no_sidecar) {
  BznaFile file(four_records(), false);
  EXPECT_EQ(file.open()->sidecar_location().place, SidecarPlace::kMemory);
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

TEST(Bzna, index_builds_the_sidecar_that_the_writer_wrote) {
  BznaFile written(four_records()), file(four_records(), false);
  build_sidecar(file.path);
  EXPECT_EQ(file_contents(file.sidecar), file_contents(written.sidecar));
}

TEST(Bzna, index_refuses_a_record_that_has_changed) {
  BznaFile file(four_records());
  std::string bytes = file_contents(file.path);
  const uint64_t at = file.open()->extent(1).offset;
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_file(file.path, bytes);
  const std::string before = file_contents(file.sidecar);
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { build_sidecar(file.path); }),
      HasSubstr("record 1: the record's checksum differs from its checksum in the sidecar"));
  EXPECT_EQ(file_contents(file.sidecar), before);
}

TEST(Bzna, index_names_a_record_that_is_damaged) {
  BznaFile file(four_records(), false);
  std::string bytes = file_contents(file.path);
  const Extent third = file.open()->record_extent(2);
  bytes.replace(bytes.find("stsz", third.offset) + 15, 1, "\x09");  // another number of samples
  write_file(file.path, bytes);
  EXPECT_THAT(refusal_of<CorruptError>([&] { build_sidecar(file.path); }),
              HasSubstr("x.bzna: record 2, offset "));
  EXPECT_FALSE(std::filesystem::exists(file.sidecar));
}

TEST(Bzna, a_sidecar_of_another_file_is_ignored) {
  BznaFile file(four_records()), other({MadeRecord().bytes()});
  std::filesystem::copy_file(other.sidecar, file.sidecar,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(Read(*file.open(), 0).field(0), "thumb");
  ASSERT_THAT(file.warnings, SizeIs(1));
}

// --- Files of other programs ---

// A file as Benzina's own writer lays it out, or as `change` changes it.
struct Outer {
  std::vector<std::string> records = four_records();
  std::vector<int64_t> labels{4, 5};
  std::string input_name = "bzna_input";
  std::string more_tracks{};

  std::vector<uint64_t> offsets() const {
    std::vector<uint64_t> offsets{40};
    for (const std::string& record : records) offsets.push_back(offsets.back() + record.size());
    return offsets;
  }
  static std::string track(const std::string& name, const std::vector<uint32_t>& sizes,
                           const std::vector<uint64_t>& offsets) {
    return trak(tkhd(0, 0), hdlr("meta", name + std::string(1, '\0')),
                stsd(mp4_box("mett", std::string(10, '\0'))) + stsz(sizes) +
                    (sizes.empty() ? stsc({}) : stsc()) + co64(offsets));
  }
  std::string bytes() const {
    std::string data;
    std::vector<uint32_t> sizes;
    for (const std::string& record : records) {
      data += record;
      sizes.push_back(static_cast<uint32_t>(record.size()));
    }
    std::vector<uint64_t> starts = offsets();
    std::vector<uint64_t> label_starts;
    for (size_t i = 0; i < labels.size(); ++i) label_starts.push_back(starts.back() + 8 * i);
    starts.pop_back();
    for (const int64_t label : labels) data += le_label(label);
    return mp4_box("ftyp", "isom" + be32(0) + "bznaisom") + long_mp4_box("mdat", data) +
           mp4_box("moov",
                   track(input_name, sizes, starts) +
                       track("bzna_target", std::vector<uint32_t>(labels.size(), 8), label_starts) +
                       more_tracks);
  }
};

struct OuterFile {
  explicit OuterFile(const std::string& bytes) { write_file(path, bytes); }
  std::shared_ptr<const Container> open(const OpenOptions& options = {}) {
    return open_container(path, options);
  }
  TemporaryDirectory directory;
  std::string path = directory / "y.bzna";
};

TEST(Bzna, a_short_target_track_leaves_the_other_records_without_label) {
  OuterFile file(Outer().bytes());
  const auto container = file.open();
  EXPECT_EQ(Read(*container, 1).field(1), le_label(5));  // not that of the record itself
  EXPECT_EQ(Read(*container, 2).field(1), le_label(-1));
  EXPECT_EQ(Read(*container, 2).field(2), "dog.jpg");
}

TEST(Bzna, a_label_of_the_wrong_length_is_an_error) {
  Outer outer{.labels = {}};
  outer.more_tracks = Outer::track("bzna_target_", {}, {});
  std::string bytes = outer.bytes();
  OuterFile intact(bytes);
  EXPECT_EQ(intact.open()->size(), 4u);
  outer.input_name = "bzna_target";  // the records as labels
  outer.more_tracks = Outer::track("bzna_input", {10}, {40});
  OuterFile file(outer.bytes());
  EXPECT_THAT(refusal_of<CorruptError>([&] { file.open(); }),
              HasSubstr("has a label of the wrong length: expected 8 bytes"));
}

TEST(Bzna, other_mp4_files_are_named) {
  OuterFile film(Outer{.input_name = "VideoHandler"}.bytes());
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { film.open(); }),
              HasSubstr("y.bzna: the file is not a `.bzna` file: expected an MP4 file with a track "
                        "'bzna_input', found an MP4 file with the tracks 'VideoHandler' (mett), "
                        "'bzna_target' (mett)"));
  OuterFile bare(mp4_box("ftyp", "isom" + be32(0)) +
                 mp4_box("moov", trak(tkhd(0, 0), hdlr("soun", "SoundHandler"), "")));
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { bare.open(); }),
              HasSubstr("found an MP4 file with the track 'SoundHandler' (no format)"));
  OuterFile heic(mp4_box("ftyp", "heic" + be32(0) + "mif1") + mp4_box("meta", "x"));
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { heic.open(); }),
              HasSubstr("found a HEIF image (brand 'heic')"));
  OuterFile text("This is no MP4 file.");
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { text.open(); }),
              HasSubstr("found a file that is not an MP4 file"));
  OuterFile record(MadeRecord().bytes());
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { record.open(); }),
              HasSubstr("found a single record of a `.bzna` file"));
  OuterFile empty("");
  EXPECT_THROW(empty.open(), UnsupportedError);
}

TEST(Bzna, tables_that_contradict_the_file_are_refused_at_open) {
  const std::string entry = stsd(mp4_box("mett", std::string(10, '\0')));
  const auto refused = [&](const std::string& tables) {
    OuterFile file(mp4_box("ftyp", "isom" + be32(0) + "bznaisom") + mp4_box("mdat", "12345678") +
                   mp4_box("moov", trak(tkhd(0, 0), hdlr("meta", "bzna_input"), entry + tables)));
    return refusal_of<CorruptError>([&] { file.open(); });
  };
  EXPECT_THAT(refused(full_mp4_box("stsz", be32(0) + be32(UINT32_MAX)) + stsc() + stco({32})),
              HasSubstr("y.bzna: offset"));
  EXPECT_THAT(refused(stsz_of_equal(1, UINT32_MAX) + stsc({{1, UINT32_MAX}}) + stco({32})),
              HasSubstr("has samples that are longer in total than the file"));
  EXPECT_THAT(refused(stsz({8}) + stsc({{1, UINT32_MAX}}) + stco({32})),
              HasSubstr("stsc contradicts the number of samples"));
  EXPECT_THAT(refused(stsz({8}) + stsc() + stco({4000})), HasSubstr("a sample outside the file"));
  EXPECT_THAT(refused(stsz({8}) + stsc() + stco({32, 32})), HasSubstr("contradicts the number"));
}

TEST(Bzna, a_file_without_its_end_is_truncated) {
  const std::string bytes = Outer().bytes();
  OuterFile inside(bytes.substr(0, 200));
  EXPECT_THAT(refusal_of<TruncatedError>([&] { inside.open(); }),
              HasSubstr("offset 24: the file ends inside the box mdat: expected "));
  OuterFile between(bytes.substr(0, bytes.rfind("moov") - 4));
  EXPECT_THAT(refusal_of<TruncatedError>([&] { between.open(); }),
              HasSubstr("the file has no table of its records: expected a box moov with tracks at "
                        "the end of the file"));
}

// --- Splits and options ---

std::vector<uint64_t> ids(const Container& container) {
  std::vector<uint64_t> ids;
  for (uint64_t i = 0; i < container.size(); ++i) ids.push_back(Read(container, i).sample.id);
  return ids;
}

TEST(Bzna, a_split_is_the_records_of_its_track) {
  Outer outer;
  const std::vector<uint64_t> at = outer.offsets();
  const auto size = [&](size_t i) { return static_cast<uint32_t>(outer.records[i].size()); };
  outer.more_tracks = Outer::track("bzna_input_train", {size(3), size(0)}, {at[3], at[0]}) +
                      Outer::track("bzna_input_validation", {size(1)}, {at[1]});
  OuterFile file(outer.bytes());
  EXPECT_THAT(ids(*file.open({.split = "train"})), ElementsAre(3, 0));
  EXPECT_THAT(ids(*file.open({.split = "val"})), ElementsAre(1));
  EXPECT_THAT(ids(*file.open({.split = "validation"})), ElementsAre(1));
  EXPECT_THAT(ids(*file.open()), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(refusal_of<InvalidArgumentError>([&] { file.open({.split = "test"}); }),
              HasSubstr("y.bzna: the file has no split 'test': expected a track 'bzna_input_test', "
                        "or more than 150000 records (ImageNet), found the splits train, "
                        "validation. Open the whole file, without `split`"));
}

TEST(Bzna, a_split_with_a_sample_that_is_no_record_is_corrupt) {
  Outer outer;
  outer.more_tracks = Outer::track("bzna_input_train", {5}, {41});
  OuterFile file(outer.bytes());
  EXPECT_THAT(
      refusal_of<CorruptError>([&] { file.open({.split = "train"}); }),
      HasSubstr(
          "stbl of the track 'bzna_input_train' has a sample that is not a record: "
          "expected a sample of the track 'bzna_input', found 5 bytes at offset 41 (sample 0)"));
}

TEST(Bzna, a_split_finds_a_record_after_an_empty_one) {
  Outer outer{.records = {"", MadeRecord().bytes()}};
  const auto size = static_cast<uint32_t>(outer.records[1].size());
  outer.more_tracks = Outer::track("bzna_input_train", {size}, {40});
  OuterFile file(outer.bytes());
  EXPECT_THAT(ids(*file.open({.split = "train"})), ElementsAre(1));
}

// The parts of a file with this many records, which are all the same bytes.
std::vector<uint64_t> split_sizes(uint64_t records) {
  const std::string tables = stsd(mp4_box("mett", std::string(10, '\0'))) +
                             stsz_of_equal(8, static_cast<uint32_t>(records)) +
                             stsc({{1, static_cast<uint32_t>(records)}}) + co64({0});
  TemporaryDirectory directory;
  const std::string path = directory / "imagenet.bzna";
  write_file(path, mp4_box("ftyp", "isom" + be32(0) + "bznaisom") +
                       mp4_box("mdat", std::string(8 * records, '\0')) +
                       mp4_box("moov", trak(tkhd(0, 0), hdlr("meta", "bzna_input"), tables)));
  std::vector<uint64_t> sizes;
  for (const char* split : {"train", "val", "test"}) {
    sizes.push_back(open_container(path, {.split = split})->size());
  }
  return sizes;
}

TEST(Bzna, a_file_as_large_as_imagenet_has_its_splits) {
  EXPECT_THAT(split_sizes(150'001), ElementsAre(1, 50'000, 100'000));
  EXPECT_THAT(split_sizes(1'431'086), ElementsAre(1'281'094, 49'999, 99'993));
}

TEST(Bzna, track_and_split_are_options_of_this_format_only) {
  BznaFile file(four_records());
  EXPECT_THAT(
      refusal_of<InvalidArgumentError>([&] { open_container(file.path, {.track = "image"}); }),
      HasSubstr("unknown track: expected bzna_thumb or bzna_input, found 'image'"));
  EXPECT_THAT(
      refusal_of<InvalidArgumentError>([&] { open_container(file.path, {.split = "dev"}); }),
      HasSubstr("unknown split: expected train, validation, val or test, found 'dev'"));
  TemporaryDirectory folder;
  EXPECT_THAT(
      refusal_of<InvalidArgumentError>([&] { open_container(folder.path(), {.split = "train"}); }),
      HasSubstr("`split` can be given only for .bzna files: found the split 'train'. Omit "
                "`split`"));
}

}  // namespace
}  // namespace fuelrail::bzna
