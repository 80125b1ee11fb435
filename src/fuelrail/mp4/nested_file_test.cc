// Records of `.bzna` files, as Benzina's writer and its documentation lay them out, and damaged
// ones.
#include "fuelrail/mp4/nested_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fuelrail/testing/mp4_file.h"
#include "fuelrail/testing/refusal.h"

namespace fuelrail::mp4 {
namespace {

using fuelrail::testing::refusal_of;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// The parts of a record, in the order of its data; an empty part has no track.
struct Parts {
  std::string input = "input bitstream";
  std::string thumb = "thumb";
  std::string label = std::string("\x2a\0\0\0\0\0\0\0", 8);
  std::string name = std::string("cat.jpg\0", 8);
};

// The boxes of a track with one sample at `offset`.
std::string tables(const std::string& description, uint64_t offset, const std::string& sample,
                   bool compact) {
  const auto bytes = static_cast<uint32_t>(sample.size());
  return description + (compact ? stsz_of_equal(bytes, 1) : stsz({bytes})) + stsc() +
         stco({static_cast<uint32_t>(offset)});
}

// With `as_written`: the order of tracks, brands and the form of sizes of Benzina's own writer;
// else those that its documentation describes.
std::string record(const Parts& parts, bool as_written = true) {
  const std::string head =
      mp4_box("ftyp", as_written ? "isom" + be32(0) + "isom" : "isom" + be32(0) + "bznaisom");
  const std::string data = parts.input + parts.thumb + parts.label + parts.name;
  uint64_t at = head.size() + 8;
  const auto place = [&](const std::string& part) { return std::exchange(at, at + part.size()); };
  const uint64_t input = place(parts.input), thumb = place(parts.thumb);
  const uint64_t label = place(parts.label), name = place(parts.name);
  const auto video = [&](const char* named, uint16_t width, uint16_t height, uint16_t frame_width,
                         uint16_t frame_height, uint64_t offset, const std::string& sample) {
    if (sample.empty()) return std::string();
    const std::string entry = video_entry("hvc1", frame_width, frame_height,
                                          mp4_box("hvcC", named) + mp4_box("clap", ""));
    return trak(tkhd(width, height), hdlr("vide", named),
                tables(stsd(entry), offset, sample, as_written));
  };
  const auto data_track = [&](const char* named, uint64_t offset, const std::string& sample) {
    if (sample.empty()) return std::string();
    return trak(tkhd(0, 0), hdlr("meta", std::string(named) + '\0'),
                tables(stsd(mp4_box("mett", std::string(8, '\0'))), offset, sample, false));
  };
  const std::string tracks[] = {video("bzna_input", 600, 535, 1024, 1024, input, parts.input),
                                data_track("bzna_fname", name, parts.name),
                                data_track("bzna_target", label, parts.label),
                                video("bzna_thumb", 512, 456, 512, 512, thumb, parts.thumb)};
  const std::string moov =
      full_mp4_box("mvhd", std::string(96, '\0')) +
      (as_written ? tracks[0] + tracks[1] + tracks[2] + tracks[3]
                  : tracks[0] + tracks[3] + tracks[2] + tracks[1] + mp4_box("udta", "unknown"));
  return head + mp4_box("mdat", data) + mp4_box("moov", moov);
}

std::string refused(const std::string& bytes) {
  return refusal_of<CorruptError>([&] { read_nested_file(as_bytes(bytes), "x.bzna", 1000); });
}

TEST(NestedFile, has_both_stills_the_label_and_the_name) {
  for (const bool as_written : {true, false}) {
    const std::string bytes = record({}, as_written);
    const NestedFile file = read_nested_file(as_bytes(bytes), "x.bzna", 0);
    ASSERT_TRUE(file.input && file.thumb);
    EXPECT_EQ(bytes.substr(file.input->offset, file.input->bytes), "input bitstream");
    EXPECT_EQ(file.input->visible, (Size{.height = 535, .width = 600}));
    EXPECT_EQ(file.input->entry.type, BoxType("hvc1"));
    EXPECT_EQ(file.input->entry.coded, (Size{.height = 1024, .width = 1024}));
    EXPECT_EQ(bytes.substr(file.input->entry.parameters, file.input->entry.parameters_bytes),
              "bzna_input");
    EXPECT_EQ(bytes.substr(file.thumb->offset, file.thumb->bytes), "thumb");
    EXPECT_EQ(file.thumb->visible, (Size{.height = 456, .width = 512}));
    EXPECT_EQ(bytes.substr(file.thumb->entry.parameters, file.thumb->entry.parameters_bytes),
              "bzna_thumb");
    EXPECT_EQ(file.label, 42);
    EXPECT_EQ(file.name, "cat.jpg");
  }
}

TEST(NestedFile, may_lack_tracks) {
  const std::string bytes = record({.thumb = "", .label = "", .name = ""});
  const NestedFile file = read_nested_file(as_bytes(bytes), "x.bzna", 0);
  EXPECT_TRUE(file.input);
  EXPECT_FALSE(file.thumb);
  EXPECT_FALSE(file.label);
  EXPECT_EQ(file.name, "");
  const std::string other = mp4_box("ftyp", "isom") + mp4_box("moov", "");
  EXPECT_FALSE(read_nested_file(as_bytes(other), "x.bzna", 0).input);
}

TEST(NestedFile, a_label_of_the_wrong_length_is_an_error) {
  EXPECT_THAT(refused(record({.label = "seven b"})),
              HasSubstr("stbl has a label of the wrong length: expected 8 bytes, found 7"));
}

TEST(NestedFile, a_name_that_is_too_long_is_an_error) {
  EXPECT_THAT(refused(record({.name = std::string(65'537, 'x')})),
              HasSubstr("stbl has a name that is too long: expected at most 65536 bytes, found "
                        "65537"));
}

TEST(NestedFile, a_number_of_samples_that_the_table_does_not_have_is_an_error) {
  std::string bytes = record({}, false);
  const size_t sizes = bytes.find("stsz") + 8;
  ASSERT_EQ(bytes.substr(sizes, 8), be32(0) + be32(1));
  bytes.replace(sizes, 8, be32(1) + be32(2));  // two samples of one byte
  EXPECT_THAT(refused(bytes), HasSubstr("stsz"));
}

TEST(NestedFile, a_track_with_several_samples_or_none_is_an_error) {
  const auto with_name = [](const std::string& samples) {
    return mp4_box("ftyp", "isom") +
           mp4_box("moov", trak(tkhd(0, 0), hdlr("meta", "bzna_fname"),
                                stsd(mp4_box("mett", std::string(8, '\0'))) + samples));
  };
  EXPECT_THAT(refused(with_name(stsz({1, 1}) + stsc({{1, 2}}) + stco({0}))),
              HasSubstr("stbl does not have exactly one sample: expected 1 sample in each track of "
                        "a record, found 2"));
  EXPECT_THAT(refused(with_name(stsz({}) + stsc({}) + stco({}))), HasSubstr("found 0"));
}

// Whatever byte is changed, the record is parsed into parts inside it, or one error has a place.
TEST(NestedFile, no_change_of_a_byte_and_no_truncation_leads_outside_of_the_record) {
  const std::string whole = record({});
  const auto check = [&](const std::string& bytes) {
    try {
      const NestedFile file = read_nested_file(as_bytes(bytes), "x.bzna", 1000);
      for (const auto& still : {file.input, file.thumb}) {
        if (!still) continue;
        ASSERT_LE(still->offset + still->bytes, bytes.size());
        ASSERT_LE(still->entry.parameters + still->entry.parameters_bytes, bytes.size());
      }
    } catch (const CorruptError& error) {
      ASSERT_THAT(error.what(), StartsWith("x.bzna: offset "));
    } catch (const UnsupportedError& error) {
      ASSERT_THAT(error.what(), StartsWith("x.bzna: offset "));
    }
  };
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char change : {'\x01', '\x80', '\xff'}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ change);
      check(bytes);
    }
    check(whole.substr(0, at));
  }
}

}  // namespace
}  // namespace fuelrail::mp4
