// The boxes, tracks, sample tables and video entries of MP4 files, valid and damaged.
#include "fuelrail/mp4/movie.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fuelrail/storage/local/local_file_system.h"
#include "fuelrail/testing/mp4_file.h"
#include "fuelrail/testing/refusal.h"
#include "fuelrail/testing/temporary_directory.h"

namespace fuelrail::mp4 {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string file_with(const std::string& moov_body,
                      const std::string& data = std::string(64, 'd')) {
  return mp4_box("ftyp", "isom") + mp4_box("mdat", data) + mp4_box("moov", moov_body);
}
std::string track_of(const std::string& tables) {
  return trak(tkhd(0, 0), hdlr("meta", std::string("bzna_input\0", 11)), tables);
}

struct File {
  explicit File(std::string contents) : bytes(std::move(contents)), mp4(as_bytes(bytes), "x", 0) {}
  std::string bytes;
  Mp4Bytes mp4;
};

std::vector<std::string> types(File& file) {
  std::vector<std::string> found;
  BoxWalk walk(file.mp4);
  for (Mp4Box box; walk.next(box);) found.push_back(box.type.text());
  return found;
}

std::vector<std::pair<uint64_t, uint64_t>> places(const std::string& tables,
                                                  const std::string& data = std::string(64, 'd')) {
  File file(file_with(track_of(tables), data));
  const auto tracks = read_tracks(file.mp4);
  const SampleTable samples = read_samples(file.mp4, tracks.at(0));
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (uint64_t i = 0; i < samples.size(); ++i) {
    found.emplace_back(samples[i].offset, samples[i].bytes);
  }
  return found;
}

std::string tables_refused(const std::string& tables) {
  return refusal_of<CorruptError>([&] { places(tables); });
}

TEST(Boxes, are_found_in_order_whatever_the_form_of_their_length) {
  File file(mp4_box("ftyp", "a") + long_mp4_box("mdat", "bc") + mp4_box("free", "") + be32(0) +
            "moovxyz");
  EXPECT_THAT(types(file), ElementsAre("ftyp", "mdat", "free", "moov"));
}

TEST(Boxes, the_body_of_a_uuid_box_begins_after_its_long_type) {
  File file(mp4_box("uuid", std::string(16, 'u') + "body"));
  BoxWalk walk(file.mp4);
  Mp4Box box;
  ASSERT_TRUE(walk.next(box));
  EXPECT_EQ(as_text(file.mp4.body(box, 0, box.body_bytes())), "body");
}

TEST(Boxes, an_invalid_length_is_an_error_with_the_path_and_the_offset) {
  const auto error = [](const std::string& contents) {
    File file(contents);
    return refusal_of<CorruptError>([&] { types(file); });
  };
  EXPECT_THAT(error(mp4_box("ftyp", "") + be32(7) + "free"),
              StartsWith("x: offset 8: the box free has an invalid length: expected 8 to 8 bytes, "
                         "the rest of the file, found 7"));
  EXPECT_THAT(error(be32(9) + "free"),
              HasSubstr("expected 8 to 8 bytes, the rest of the file, found 9"));
  EXPECT_THAT(error(be32(1) + "free" + be32(0)), HasSubstr("expected at least 16 bytes, found 12"));
  EXPECT_THAT(error(be32(1) + "free" + be64(15)), HasSubstr("expected 16 to 16 bytes"));
  EXPECT_THAT(error(be32(1) + "free" + be64(UINT64_MAX)), HasSubstr("found 18446744073709551615"));
  EXPECT_THAT(error(mp4_box("ftyp", "") + "abc"), HasSubstr("expected at least 8 bytes, found 3"));
  EXPECT_THAT(error(be32(8) + "uuid"),
              HasSubstr("the box uuid has an invalid length: expected at least 24 bytes, found 8"));
  EXPECT_THAT(error(be32(7) + std::string("a\0b\xff", 4)), HasSubstr("the box a\\x00b\\xff"));
}

TEST(Boxes, an_invalid_child_is_named_with_its_parents) {
  File file(mp4_box("moov", mp4_box("trak", be32(100) + "tkhd")));
  EXPECT_THAT(refusal_of<CorruptError>([&] { read_tracks(file.mp4); }),
              StartsWith("x: offset 16: the box moov/trak/tkhd has an invalid length"));
}

TEST(Boxes, too_many_are_an_error) {
  std::string many;
  for (uint64_t i = 0; i <= kMaxSiblings; ++i) many += be32(8) + "free";
  File file(many);
  EXPECT_THAT(refusal_of<CorruptError>([&] { types(file); }), HasSubstr("too many"));
}

TEST(Boxes, nested_ones_that_nobody_asks_for_are_not_entered) {
  std::string nested;
  for (int depth = 0; depth < 10'000; ++depth)
    nested = be32(static_cast<uint32_t>(nested.size() + 8)) + "trak" + nested;
  File file(mp4_box("free", nested));
  EXPECT_THAT(read_tracks(file.mp4), IsEmpty());
}

TEST(Tracks, have_name_handler_and_size) {
  File file(file_with(trak(tkhd(500, 333), hdlr("vide", "bzna_thumb"), "") +
                      trak(tkhd(600, 535, 1), hdlr("meta", std::string("bzna_fname\0", 11)), "")));
  const auto tracks = read_tracks(file.mp4);
  ASSERT_EQ(tracks.size(), 2u);
  EXPECT_EQ(tracks[0].name, "bzna_thumb");
  EXPECT_EQ(tracks[0].handler, BoxType("vide"));
  EXPECT_EQ(tracks[0].visible, (Size{.height = 333, .width = 500}));
  EXPECT_EQ(tracks[1].name, "bzna_fname");
  EXPECT_EQ(tracks[1].visible, (Size{.height = 535, .width = 600}));
  EXPECT_EQ(find_track(tracks, "bzna_fname"), &tracks[1]);
  EXPECT_EQ(find_track(tracks, "bzna_input"), nullptr);
}

TEST(Tracks, without_a_required_box_are_an_error_that_names_it) {
  File file(file_with(mp4_box("trak", tkhd(0, 0) + mp4_box("mdia", hdlr("meta", "n")))));
  EXPECT_THAT(refusal_of<CorruptError>([&] { read_tracks(file.mp4); }),
              HasSubstr("the box moov/trak/mdia lacks a required box: expected a box minf"));
}

TEST(SampleTable, reads_every_form_of_sizes_and_offsets) {
  const auto expected = ElementsAre(std::pair(12, 5), std::pair(20, 0), std::pair(30, 7));
  EXPECT_THAT(places(stsz({5, 0, 7}) + stsc() + stco({12, 20, 30})), expected);
  EXPECT_THAT(places(co64({12, 20, 30}) + stsc() + stsz({5, 0, 7})), expected);
  EXPECT_THAT(places(stsz_of_equal(4, 2) + stsc() + stco({12, 40})),
              ElementsAre(std::pair(12, 4), std::pair(40, 4)));
  EXPECT_THAT(places(stsz({}) + stsc({}) + stco({})), IsEmpty());
}

TEST(SampleTable, samples_of_one_chunk_follow_each_other) {
  const std::string runs = stsc({{1, 2}, {2, 1}, {4, 3}});
  const std::string chunks = stco({10, 20, 30, 40});
  EXPECT_THAT(places(stsz({1, 2, 3, 4, 5, 6, 7}) + runs + chunks),
              ElementsAre(std::pair(10, 1), std::pair(11, 2), std::pair(20, 3), std::pair(30, 4),
                          std::pair(40, 5), std::pair(45, 6), std::pair(51, 7)));
  EXPECT_THAT(places(stsz_of_equal(2, 7) + runs + chunks),
              ElementsAre(std::pair(10, 2), std::pair(12, 2), std::pair(20, 2), std::pair(30, 2),
                          std::pair(40, 2), std::pair(42, 2), std::pair(44, 2)));
}

TEST(SampleTable, a_table_that_contradicts_its_count_is_an_error) {
  const std::string good_sizes = stsz({1});
  EXPECT_THAT(tables_refused(full_mp4_box("stsz", be32(0) + be32(UINT32_MAX)) + stsc() + stco({1})),
              HasSubstr("the box moov/trak/mdia/minf/stbl/stsz does not have the length that its "
                        "number of entries requires: expected 17179869180 bytes for 4294967295 "
                        "entries, found 0"));
  EXPECT_THAT(tables_refused(good_sizes + stsc() + full_mp4_box("stco", be32(2) + be32(1))),
              HasSubstr("stco does not have the length"));
  EXPECT_THAT(tables_refused(good_sizes + stsc() + full_mp4_box("stco", be32(1) + be64(1))),
              HasSubstr("stco does not have the length"));
  EXPECT_THAT(tables_refused(good_sizes + full_mp4_box("stsc", be32(1) + be32(1)) + stco({1})),
              HasSubstr("stsc does not have the length"));
  EXPECT_THAT(tables_refused(full_mp4_box("stsz", be32(0)) + stsc() + stco({1})),
              HasSubstr("stsz is too short"));
}

TEST(SampleTable, runs_that_contradict_the_other_tables_are_an_error) {
  const std::string tables = stsz({1, 1, 1}) + stco({1, 2, 3});
  EXPECT_THAT(tables_refused(tables + stsc({{1, 2}})),
              HasSubstr("stsc contradicts the number of samples: expected 3 samples, as in stsz, "
                        "found 6 samples in 3 chunks"));
  EXPECT_THAT(tables_refused(tables + stsc({})), HasSubstr("found 0 samples in 3 chunks"));
  EXPECT_THAT(tables_refused(tables + stsc({{2, 1}})),
              HasSubstr("stsc has an invalid entry: expected a first chunk from 1 to 1"));
  EXPECT_THAT(tables_refused(tables + stsc({{1, 0}})), HasSubstr("stsc has an invalid entry"));
  EXPECT_THAT(tables_refused(tables + stsc({{1, 1}, {1, 1}})),
              HasSubstr("stsc has an invalid entry"));
  EXPECT_THAT(tables_refused(tables + stsc({{1, 1}, {4, 1}})),
              HasSubstr("found chunk 4 and 1 samples"));
  EXPECT_THAT(tables_refused(stsz_of_equal(1, UINT32_MAX) + stco({1}) + stsc({{1, UINT32_MAX}})),
              HasSubstr("longer in total than the file"));
}

TEST(SampleTable, a_sample_outside_the_file_is_an_error) {
  EXPECT_THAT(tables_refused(stsz({1}) + stsc() + stco({100'000})),
              HasSubstr("stbl has a sample outside the file"));
  EXPECT_THAT(tables_refused(stsz({1}) + stsc() + co64({UINT64_MAX})),
              HasSubstr("outside the file"));
  EXPECT_THAT(tables_refused(stsz({UINT32_MAX, 1}) + stsc({{1, 2}}) + co64({UINT64_MAX})),
              HasSubstr("longer in total than the file"));
}

TEST(SampleTable, of_sizes_of_less_than_32_bits_is_unsupported) {
  File file(file_with(track_of(full_mp4_box("stz2", be32(8) + be32(0)) + stsc() + stco({}))));
  const auto tracks = read_tracks(file.mp4);
  EXPECT_THAT(refusal_of<UnsupportedError>([&] { read_samples(file.mp4, tracks.at(0)); }),
              HasSubstr("stz2"));
}

TEST(SampleTable, is_read_in_pieces_from_a_source) {
  TemporaryDirectory directory;
  const size_t samples = 600'000;
  const std::string contents = file_with(track_of(stsz(std::vector<uint32_t>(samples, 3)) + stsc() +
                                                  co64(std::vector<uint64_t>(samples, 17))));
  write_file(directory / "x.bzna", contents);
  const auto source = local_file_system().open(directory / "x.bzna");
  Mp4Bytes file(*source);
  const auto tracks = read_tracks(file);
  const SampleTable table = read_samples(file, tracks.at(0));
  ASSERT_EQ(table.size(), samples);
  EXPECT_EQ(table[samples - 1].offset, 17u);
  EXPECT_EQ(table[samples - 1].bytes, 3u);
}

TEST(VideoEntry, has_type_coded_size_and_parameters) {
  for (const std::string type : {"hvc1", "hev1", "avc1"}) {
    const std::string parameters = type == "avc1" ? "avcC" : "hvcC";
    File file(file_with(track_of(
        stsd(video_entry(type, 512, 1024, mp4_box("fiel", "xy") + mp4_box(parameters, "sets"))))));
    const auto tracks = read_tracks(file.mp4);
    const VideoEntry entry = read_video_entry(file.mp4, tracks.at(0));
    EXPECT_EQ(entry.type.text(), type);
    EXPECT_EQ(entry.coded, (Size{.height = 1024, .width = 512}));
    EXPECT_EQ(as_text(file.mp4.at(entry.parameters, entry.parameters_bytes)), "sets");
  }
}

TEST(VideoEntry, that_is_missing_or_too_short_is_an_error) {
  const auto error = [](const std::string& descriptions) {
    File file(file_with(track_of(descriptions)));
    const auto tracks = read_tracks(file.mp4);
    return refusal_of<CorruptError>([&] { read_video_entry(file.mp4, tracks.at(0)); });
  };
  EXPECT_THAT(error(""), HasSubstr("stbl lacks a required box: expected a box stsd"));
  EXPECT_THAT(error(full_mp4_box("stsd", be32(0))), HasSubstr("stsd has no entry"));
  EXPECT_THAT(error(stsd(mp4_box("hvc1", std::string(20, '\0')))),
              HasSubstr("stsd/hvc1 is too short: expected a body of at least 28 bytes, found 20"));
  EXPECT_THAT(error(stsd(mp4_box("hvc1", std::string(60, '\0')))), HasSubstr("hvc1 is too short"));
}

}  // namespace
}  // namespace fuelrail::mp4
